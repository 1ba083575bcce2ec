package fault

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Point is a step that the host may refuse.
type Point string

// Where a worker can be made to fail.
const (
	Accept  Point = "accept"  // a connection is accepted
	Upload  Point = "upload"  // an upload is written to the disk
	Store   Point = "store"   // an archive is written to the registry
	Extract Point = "extract" // code is extracted for sandboxes
	Log     Point = "log"     // a line is written to the log of a lambda
)

// Injector says with which error a step ends; nil lets it go on. It is called
// by several goroutines. A nil Injector never fails anything.
type Injector func(Point) error

// At is the error that a step shall end with, nil for none.
func (i Injector) At(p Point) error {
	if i == nil {
		return nil
	}
	return i(p)
}

// Writer returns w, or a writer to it that fails.
func (i Injector) Writer(p Point, w io.Writer) io.Writer {
	if i == nil {
		return w
	}
	return &writer{i, p, w}
}

type writer struct {
	inject Injector
	at     Point
	to     io.Writer
}

// Write is part of io.Writer.
func (w *writer) Write(b []byte) (int, error) {
	if err := w.inject(w.at); err != nil {
		return 0, err
	}
	return w.to.Write(b)
}

// Listener returns l, or a listener that fails to accept.
func (i Injector) Listener(l net.Listener) net.Listener {
	if i == nil {
		return l
	}
	return &listener{l, i}
}

type listener struct {
	net.Listener
	inject Injector
}

// Accept is part of net.Listener. What it cannot accept waits in the kernel.
func (l *listener) Accept() (net.Conn, error) {
	if err := l.inject(Accept); err != nil {
		var errno syscall.Errno
		if errors.As(err, &errno) { // as package net has it: callers look no deeper
			err = os.NewSyscallError("accept4", errno)
		}
		return nil, &net.OpError{Op: "accept", Net: l.Addr().Network(), Addr: l.Addr(), Err: err}
	}
	return l.Listener.Accept()
}
