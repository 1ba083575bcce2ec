package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Target is a request that is sent again and again.
type Target struct {
	Method string
	URL    string
	Body   string
}

// Outcome is what a load got.
type Outcome struct {
	Latencies []time.Duration // of the good answers
	Failures  int
	FirstFail error
	Elapsed   time.Duration
}

// Rate is the number of good answers per second.
func (o Outcome) Rate() float64 {
	if o.Elapsed <= 0 {
		return 0
	}
	return float64(len(o.Latencies)) / o.Elapsed.Seconds()
}

// client returns one that keeps connections for n requests at once.
func client(n int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns: n, MaxIdleConnsPerHost: n, DisableCompression: true, IdleConnTimeout: time.Minute,
	}}
}

// send makes one request and reads the whole answer.
func send(ctx context.Context, c *http.Client, t Target) (time.Duration, error) {
	begin := time.Now()
	req, err := http.NewRequestWithContext(ctx, t.Method, t.URL, strings.NewReader(t.Body))
	if err != nil {
		return 0, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode/100 != 2 {
		return 0, fmt.Errorf("call %s: %s: %.200s", t.URL, resp.Status, text)
	}
	return time.Since(begin), nil
}

// Closed sends requests over connections, each as soon as its last one is
// answered, for a time; what a warm-up took is left out.
func Closed(ctx context.Context, t Target, connections int, warmup, length time.Duration) Outcome {
	c := client(connections)
	defer c.CloseIdleConnections()
	closedLoop(ctx, c, t, connections, warmup)
	return closedLoop(ctx, c, t, connections, length)
}

func closedLoop(ctx context.Context, c *http.Client, t Target, connections int, length time.Duration) Outcome {
	parts := make([]Outcome, connections)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for time.Since(begin) < length && ctx.Err() == nil {
				parts[i].add(send(ctx, c, t))
			}
		})
	}
	wg.Wait()
	return join(parts, time.Since(begin))
}

// Burst sends one request to every target at the same time.
func Burst(ctx context.Context, targets []Target) Outcome {
	c := client(len(targets))
	defer c.CloseIdleConnections()
	parts := make([]Outcome, len(targets))
	begin := time.Now()
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() { parts[i].add(send(ctx, c, t)) })
	}
	wg.Wait()
	return join(parts, time.Since(begin))
}

// Spread sends one request to every target, so many at a time.
func Spread(ctx context.Context, targets []Target, atOnce int) Outcome {
	c := client(atOnce)
	defer c.CloseIdleConnections()
	next := make(chan Target)
	parts := make([]Outcome, atOnce)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for t := range next {
				parts[i].add(send(ctx, c, t))
			}
		})
	}
	for _, t := range targets {
		next <- t
	}
	close(next)
	wg.Wait()
	return join(parts, time.Since(begin))
}

func (o *Outcome) add(latency time.Duration, err error) {
	if err == nil {
		o.Latencies = append(o.Latencies, latency)
		return
	}
	o.Failures++
	if o.FirstFail == nil {
		o.FirstFail = err
	}
}

func join(parts []Outcome, elapsed time.Duration) Outcome {
	all := Outcome{Elapsed: elapsed}
	for _, p := range parts {
		all.Latencies = append(all.Latencies, p.Latencies...)
		all.Failures += p.Failures
		if all.FirstFail == nil {
			all.FirstFail = p.FirstFail
		}
	}
	return all
}

// Add joins what another round of the same load got.
func (o *Outcome) Add(other Outcome) {
	both := join([]Outcome{*o, other}, o.Elapsed+other.Elapsed)
	*o = both
}
