package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/rights"
	"github.com/open-lambda/open-lambda/sock/runc"
)

// starters bounds how many containers are started at a time: more than cores,
// for a start waits for the kernel half of its time.
func starters() int { return 2 * runtime.NumCPU() }

// server carries out requests.
type server struct {
	conn    *rights.Conn
	sending sync.Mutex // held over one message
	wg      sync.WaitGroup
	starts  chan func()
	base    *base // nil until opened; only the receiving goroutine writes it

	mu    sync.Mutex
	boxes map[string]*box
	known map[string]bool // containers from before their start until after their end
}

// Serve works for the process at the other end of the socket until it closes
// it, then removes every container.
func Serve(socket *os.File) error {
	if err := checkNamespace(); err != nil {
		return err
	}
	conn, err := rights.Take(socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := &server{conn: conn, starts: make(chan func()), boxes: map[string]*box{}, known: map[string]bool{}}
	var threads sync.WaitGroup
	for range starters() {
		threads.Go(s.startOnOwnThread)
	}
	err = s.receive()
	s.removeAll()
	s.wg.Wait()
	close(s.starts)
	threads.Wait()
	return err
}

// startOnOwnThread starts containers. The thread is never given back, because
// no other goroutine may end it while a container lives.
func (s *server) startOnOwnThread() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for start := range s.starts {
		start()
	}
}

// receive takes requests until the peer closes.
func (s *server) receive() error {
	for {
		var r runc.Request
		fds, err := s.conn.Receive(context.Background(), &r, runc.MaxFiles)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		files := make([]*os.File, len(fds))
		for i, fd := range fds {
			files[i] = os.NewFile(uintptr(fd), "received")
		}
		s.accept(r, files)
	}
}

// accept carries a request out, without waiting for it unless it is the first.
func (s *server) accept(r runc.Request, files []*os.File) {
	work := func() {
		defer closeFiles(files)
		a, err := s.do(r, files)
		if err != nil {
			a.Error = err.Error()
		}
		a.Seq = r.Seq
		s.send(a)
	}
	switch {
	case r.Op == runc.OpOpen:
		work()
	case r.Op == runc.OpStart:
		s.wg.Go(func() {
			done := make(chan struct{})
			s.starts <- func() { defer close(done); work() }
			<-done
		})
	default:
		s.wg.Go(work)
	}
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// send says something; a peer that does not listen any more is about to close.
func (s *server) send(a runc.Answer) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = s.conn.Send(a)
}

func (s *server) do(r runc.Request, files []*os.File) (a runc.Answer, err error) {
	switch {
	case r.Op == runc.OpOpen && r.Open != nil && s.base == nil:
		s.base, err = openBase(*r.Open)
		return a, err
	case s.base == nil:
		return a, errors.New("the base root is not there")
	case r.Op == runc.OpStart && r.Start != nil:
		a.PID, err = s.start(r, files)
		return a, err
	}
	b := s.find(r.ID)
	if b == nil {
		return a, nil // it never was, or is gone
	}
	return a, s.act(b, r)
}

func (s *server) act(b *box, r runc.Request) error {
	switch r.Op {
	case runc.OpLimit:
		if r.Limits == nil {
			return errors.New("there are no limits")
		}
		return b.limit(*r.Limits)
	case runc.OpPause:
		return b.pause()
	case runc.OpResume:
		return b.resume()
	case runc.OpKill:
		return b.kill()
	case runc.OpDelete:
		s.forget(r.ID)
		defer s.ended(r.ID)
		return b.remove()
	}
	return fmt.Errorf("there is no operation %q", r.Op)
}

// start makes a container and tells when its process ends.
func (s *server) start(r runc.Request, files []*os.File) (pid int, err error) {
	if s.find(r.ID) != nil {
		return 0, fmt.Errorf("there is a container %s", r.ID)
	}
	s.begins(r.ID)
	b, err := s.base.start(r.ID, *r.Start, files)
	if err != nil {
		s.ended(r.ID)
		return 0, err
	}
	s.mu.Lock()
	s.boxes[r.ID] = b
	s.mu.Unlock()
	s.wg.Go(func() {
		exit := b.wait()
		s.send(runc.Answer{Event: runc.EventExited, ID: r.ID, Exit: &exit})
	})
	return b.pid, nil
}

func (s *server) begins(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[id] = true
}

// ended says that a container is over, and reaps what libcontainer left of it
// and of those before: a start that is killed halfway leaves children of whom
// only their killed parent knew the number.
func (s *server) ended(id string) {
	s.mu.Lock()
	delete(s.known, id)
	s.mu.Unlock()
	err := sock.ReapDead(s.base.open.Folder, func(group string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return group != "" && !s.known[group]
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "reap what is left of containers:", err)
	}
}

func (s *server) find(id string) *box {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.boxes[id]
}

func (s *server) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.boxes, id)
}

// removeAll ends what is left, also what is being started just now.
func (s *server) removeAll() {
	for {
		s.mu.Lock()
		all := make(map[string]*box, len(s.boxes))
		for id, b := range s.boxes {
			all[id] = b
		}
		s.mu.Unlock()
		var wg sync.WaitGroup
		for id, b := range all {
			wg.Go(func() {
				s.forget(id)
				if err := b.remove(); err != nil {
					fmt.Fprintf(os.Stderr, "remove container %s: %v\n", id, err)
				}
			})
		}
		wg.Wait()
		if len(all) == 0 {
			return
		}
	}
}
