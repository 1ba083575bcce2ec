package main

import "fmt"

// progress counts finished runs on a terminal; elsewhere it is silent.
type progress struct {
	s           streams
	done, total int
}

func newProgress(s streams, total int) *progress {
	p := &progress{s: s, total: total}
	p.show()
	return p
}

func (p *progress) add() {
	p.done++
	p.show()
}

func (p *progress) show() {
	if p.s.tty {
		fmt.Fprintf(p.s.err, "\rsimulated %d of %d runs", p.done, p.total)
	}
}

func (p *progress) end() {
	if p.s.tty {
		fmt.Fprint(p.s.err, "\r\033[K")
	}
}
