package sock

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	maxLine = 16 << 10 // longer lines are cut in pieces, bytes
	tailLen = 4 << 10  // what is kept for error messages, bytes
)

// output carries what a sandbox prints to its sink. The pipe is the only
// buffer: a sink that is slow slows the lambda, and nothing piles up here.
type output struct {
	reader *os.File
	done   chan struct{} // closed at the end of the pipe

	mu   sync.Mutex
	sink io.Writer
	tail []byte
}

// newOutput makes a pipe and starts reading it. The caller closes the second
// result once the child has it. wg covers the goroutine, which ends when the
// last writer closes the pipe, or with close.
func newOutput(wg *sync.WaitGroup) (*output, *os.File, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("make output pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, fmt.Errorf("make output pipe: %w", err)
	}
	o := &output{reader: os.NewFile(uintptr(fds[0]), "output"), done: make(chan struct{})}
	wg.Go(o.run)
	return o, os.NewFile(uintptr(fds[1]), "output"), nil
}

func (o *output) run() {
	defer close(o.done)
	defer o.reader.Close()
	buf := make([]byte, 0, 1024)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := o.reader.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end := bytes.LastIndexByte(buf, '\n') + 1; end > 0 {
			o.emit(buf[:end])
			buf = append(buf[:0], buf[end:]...)
		} else if len(buf) >= maxLine {
			o.emit(append(buf, '\n'))
			buf = buf[:0]
		}
		if err != nil {
			if len(buf) > 0 {
				o.emit(append(buf, '\n'))
			}
			return
		}
	}
}

// emit passes whole lines on.
func (o *output) emit(lines []byte) {
	o.mu.Lock()
	o.tail = append(o.tail, lines...)
	if over := len(o.tail) - tailLen; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	sink := o.sink
	o.mu.Unlock()
	if sink != nil {
		_, _ = sink.Write(lines) // a log that fails must not stop the lambda
	}
}

// attach sets where lines go from now on.
func (o *output) attach(sink io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sink, o.tail = sink, nil
}

// last returns the end of what was printed.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.tail)
}

// close stops reading, whoever still holds the pipe's other end.
func (o *output) close() { _ = o.reader.Close() }
