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
		if err == nil || s.Status != 0 || ctx.Err() != nil || len(r.bases) == 1 {
			return err
		}
		r.turn(turn)
		if !unsent(err) || tried >= len(r.bases) {
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

// unsent tells whether nothing of a request can have arrived.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func (r *run) call(ctx context.Context, s *Sample, base string) error {
	name := r.workload.Lambdas[s.Request.Lambda].Name
	var connected atomic.Int64 // ns; the transport may still connect when the request has ended
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(int64(time.Since(r.begin.Add(s.Request.At))))
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+api.PathRun+name, strings.NewReader(r.Body.event(s.Request.Exec)))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	req.Header["Content-Type"] = []string{"application/json"}
	resp, err := r.Client.Do(req)
	s.Connected = time.Duration(connected.Load())
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	s.read(resp)
	if s.Status != http.StatusOK {
		return fmt.Errorf("call %s: status %d: %s", name, s.Status, firstLine(string(text)))
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
