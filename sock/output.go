package sock

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

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
	pace   pace
	stop   chan struct{} // closed with close
	once   sync.Once
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
	o := &output{reader: os.NewFile(uintptr(fds[0]), "output"), pace: newPace(time.Now()), stop: make(chan struct{}), done: make(chan struct{})}
	wg.Go(o.run)
	return o, os.NewFile(uintptr(fds[1]), "output"), nil
}

func (o *output) run() {
	defer close(o.done)
	defer o.reader.Close()
	o.copy(o.reader)
}

// copy passes on what it reads, at its pace, until the end.
func (o *output) copy(from io.Reader) {
	buf := make([]byte, 0, 1024)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
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
		if !o.wait(o.pace.after(time.Now(), n)) {
			return
		}
	}
}

// wait tells whether nobody stopped it.
func (o *output) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-o.stop:
		return false
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
func (o *output) close() {
	o.once.Do(func() { close(o.stop) })
	_ = o.reader.Close()
}
