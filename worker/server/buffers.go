package server

import "sync"

// bufferPool recycles the buffers that answers are copied through.
type bufferPool struct{ pool sync.Pool }

// bufferSize is the size of one buffer: a pipe's or socket's worth.
const bufferSize = 32 << 10

func (p *bufferPool) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, bufferSize)
	return &b
}

func (p *bufferPool) put(b *[]byte) { p.pool.Put(b) }
