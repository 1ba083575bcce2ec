package worker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

func (w *Worker) openListeners(u *undoList) error {
	tcp, err := w.cfg.listen()
	if err != nil {
		return err
	}
	w.tcp = patient{w.cfg.Fault.Listener(tcp)}
	u.add(func() { w.warn("close port", tcp.Close()) })
	local, err := listenLocal(w.cfg.dir(api.SocketFile))
	if err != nil {
		return err
	}
	w.local = local
	u.add(func() { w.warn("close socket", local.Close()) })
	return nil
}

// patient is a listener that is tried again after errors of a host that is
// short of memory. Those of one that is short of descriptors are so already.
type patient struct{ net.Listener }

// Accept is part of net.Listener.
func (p patient) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOBUFS) { // accept(2)
		err = passing{err}
	}
	return c, err
}

// passing is an error after which net/http accepts again, a moment later.
type passing struct{ error }

// Temporary is what it asks.
func (passing) Temporary() bool { return true }

// Timeout is part of net.Error.
func (passing) Timeout() bool { return false }

// Unwrap returns the error.
func (p passing) Unwrap() error { return p.error }

// maxSocketPath is what fits into sockaddr_un (unix(7)), bytes.
const maxSocketPath = 107

// listenLocal binds the unix socket that the command line talks to. A socket
// that a killed predecessor left is replaced; one that answers is not.
func listenLocal(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: the kernel takes socket paths of at most %d bytes; choose a shorter worker_dir", path, maxSocketPath)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close() // it proved what it was for
		return nil, fmt.Errorf("listen on %s: another worker runs in this directory; stop it with \"ol worker down\"", path)
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on unix socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close() // the first error is the one to tell
		return nil, fmt.Errorf("protect unix socket: %w", err)
	}
	return l, nil
}

// localHandler serves what the TCP port serves, and the process id.
func (w *Worker) localHandler() http.Handler {
	mux, inner := http.NewServeMux(), w.handler()
	mux.HandleFunc(api.PathPID, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(rw, strconv.Itoa(os.Getpid())+"\n") // the reader may be gone
	})
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.PathPID {
			mux.ServeHTTP(rw, r)
			return
		}
		inner.ServeHTTP(rw, r)
	})
}
