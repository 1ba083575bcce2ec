package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
)

// patience is the longest that a client waits for an answer. One that takes
// longer is lost.
const patience = 2 * time.Minute

// startClients starts the load; stop ends it and waits until every request has
// its answer.
func (r *runner) startClients(ctx context.Context) (stop func()) {
	over, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for i := range r.cfg.Clients {
		c := &client{r: r, random: rand.New(rand.NewPCG(r.cfg.Seed+uint64(r.life.number), uint64(i)))}
		wg.Go(func() {
			for next := time.Now(); over.Err() == nil; {
				c.one(ctx)
				next = r.pace(over, next)
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

// pace waits until a client may send again: at the rate if there is one. A
// client that is late does not make up for it.
func (r *runner) pace(ctx context.Context, last time.Time) time.Time {
	if r.cfg.Rate <= 0 {
		return last
	}
	each := time.Duration(float64(r.cfg.Clients) / r.cfg.Rate * float64(time.Second))
	next := last.Add(each)
	if now := time.Now(); next.Before(now) {
		return now
	}
	pause.For(ctx, time.Until(next))
	return next
}

// client sends one request after the other.
type client struct {
	r      *runner
	random *rand.Rand
}

const idLength = 36

func newID() string { return uuid.NewString() }

// sent is one request.
type sent struct {
	kind   *kind
	lambda string
	id     string
	begun  time.Time
	floor  int // version that the answer must have at least
}

// choose draws a kind by weight.
func (c *client) choose() *kind {
	all := c.r.life.kinds
	total := 0
	for i := range all {
		total += all[i].weight
	}
	n := c.random.IntN(total)
	for i := range all {
		if n -= all[i].weight; n < 0 {
			return &all[i]
		}
	}
	return &all[0]
}

// one sends one request and sees to what becomes of it.
func (c *client) one(ctx context.Context) {
	k := c.choose()
	s := sent{kind: k, lambda: k.lambda, id: newID(), begun: time.Now(), floor: c.r.life.seen()}
	if s.lambda == "" {
		s.lambda = c.r.lambda(c.random.IntN(c.r.cfg.Lambdas))
	}
	a, err := c.exchange(ctx, s)
	if ctx.Err() != nil {
		return
	}
	c.r.settleOne(s, a, err)
	if err != nil {
		// A worker that is being started is not to be stormed.
		pause.For(ctx, 200*time.Millisecond)
	}
}

var errLeft = errors.New("the client left")

// exchange sends a request. An answer that was cut off is returned with the
// error.
func (c *client) exchange(ctx context.Context, s sent) (*answer, error) {
	limit, why := patience, error(context.DeadlineExceeded)
	if s.kind.leave > 0 {
		limit, why = time.Duration(c.random.Int64N(int64(s.kind.leave))), errLeft
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, why)
	defer cancel()
	req, err := s.request(ctx, c.r.node.URL())
	if err != nil {
		return nil, err
	}
	resp, err := c.r.client.Do(req)
	if err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if s.kind.slow {
		body = &slowReader{ctx, resp.Body}
	}
	h := resp.Header
	a := &answer{status: resp.StatusCode, kind: h.Get("Content-Type"), id: h.Get(api.HeaderRequestID)}
	if a.body, err = io.ReadAll(body); err != nil {
		return a, errors.Join(err, context.Cause(ctx))
	}
	return a, nil
}

func (s *sent) request(ctx context.Context, url string) (*http.Request, error) {
	event := maps.Clone(s.kind.event)
	if event == nil {
		event = map[string]any{}
	}
	event["id"] = s.id
	text, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	method := s.kind.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, url+api.PathRun+s.lambda, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.GetBody = nil // nothing is sent twice behind our back
	req.Header.Set(api.HeaderRequestID, s.id)
	return req, nil
}

// slowReader takes 64 KB at a time, with a rest in between.
type slowReader struct {
	ctx  context.Context
	from io.Reader
}

// Read is part of io.Reader.
func (s *slowReader) Read(p []byte) (int, error) {
	pause.For(s.ctx, 10*time.Millisecond)
	return s.from.Read(p[:min(len(p), 64<<10)])
}
