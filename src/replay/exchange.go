package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// exchange sends a request and reads the answer. When nobody takes it at one boss, it is
// sent to the next, which its latency shows. Without an answer to what was sent nobody
// knows whether it ran: it has failed, and only those after it go to the next boss.
func (r *run) exchange(ctx context.Context, s *Sample) error {
	for tried := 1; ; tried++ {
		turn := r.turns.Load()
		err := r.call(ctx, s, r.bases[turn%int64(len(r.bases))])
		if err == nil || s.Status != 0 || ctx.Err() != nil || errors.Is(err, ErrFiles) || len(r.bases) == 1 {
			return err
		}
		r.turn(turn)
		if !errors.Is(err, ErrUnreachable) || tried >= len(r.bases) {
			return err
		}
	}
}

// turn goes on to the next boss, unless another request has done so already. It tells of
// it until it has been to every boss without an answer.
func (r *run) turn(from int64) {
	if !r.turns.CompareAndSwap(from, from+1) {
		return
	}
	if n := int64(len(r.bases)); r.round.Add(1) < n && r.Turned != nil {
		r.Turned(r.bases[(from+1)%n])
	}
}

// Why a request did not get anywhere.
var (
	// ErrUnreachable: nobody took the connection, so nothing of the request arrived.
	ErrUnreachable = errors.New("nobody takes the connection")
	// ErrFiles: this process or machine cannot open more connections, whoever
	// would take them.
	ErrFiles = errors.New("the replayer has too many files and connections open")
)

// passage is how far a request came.
type passage struct {
	asked, got atomic.Bool  // a connection
	connected  atomic.Int64 // when it got it, ns after the intended moment
}

// trace notes the passage of a request that is intended at a moment. The
// transport may call when the request has ended already.
func (p *passage) trace(ctx context.Context, intended time.Time) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { p.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) {
			p.connected.Store(int64(time.Since(intended)))
			p.got.Store(true)
		},
	})
}

// connections is how many the client opens at a time; 0 is no limit.
func (r *run) connections() int {
	if t, ok := r.Client.Transport.(*http.Transport); ok {
		return t.MaxConnsPerHost
	}
	return 0
}

// failure says of a failed request whose failure it is. Of a limited number of
// connections it may have waited for one that others had.
func (p *passage) failure(ctx context.Context, err error, connections int) error {
	var op *net.OpError
	waited := p.asked.Load() && !p.got.Load()
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: %w", ErrFiles, err)
	case ctx.Err() != nil: // it was given up
	case errors.As(err, &op) && op.Op == "dial", waited && connections == 0:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case waited:
		return fmt.Errorf("wait for one of %d connections: %w", connections, err)
	}
	return fmt.Errorf("send request: %w", err)
}

func (r *run) call(ctx context.Context, s *Sample, base string) error {
	name := r.workload.Lambdas[s.Request.Lambda].Name
	var p passage
	req, err := http.NewRequestWithContext(p.trace(ctx, r.begin.Add(s.Request.At)), http.MethodPost, base+api.PathRun+name, strings.NewReader(r.Body.event(s.Request.Exec)))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	req.Header["Content-Type"] = []string{"application/json"}
	resp, err := r.Client.Do(req)
	s.Connected = time.Duration(p.connected.Load())
	if err != nil {
		return p.failure(ctx, err, r.connections())
	}
	defer resp.Body.Close()
	s.read(resp) // what breaks off after its head was answered all the same
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if s.Status != http.StatusOK {
		return fmt.Errorf("call %s: status %d: %s", name, s.Status, firstLine(string(text)))
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
