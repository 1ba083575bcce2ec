package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/pause"
)

// tenant is somebody who calls a lambda of theirs without a pause.
type tenant struct {
	target bench.Target
	tasks  int           // calls at a time
	sip    time.Duration // pause between two reads of an answer; 0 reads as fast as it comes
}

// sipBytes is what a slow reader takes at a time.
const sipBytes = 4 << 10

// tally counts what a tenant got: answers by status, and calls that failed
// otherwise, as 0, but those that were cut at the end.
type tally struct {
	mu       sync.Mutex
	statuses map[int]int
}

func (y *tally) note(status, times int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.statuses == nil {
		y.statuses = map[int]int{}
	}
	y.statuses[status] += times
}

// add joins what the same tenant got at another time.
func (y *tally) add(other *tally) {
	for status, n := range other.statuses {
		y.note(status, n)
	}
}

func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(y.statuses)) {
		parts = append(parts, fmt.Sprintf("%d times %d", y.statuses[status], status))
	}
	return strings.Join(parts, ", ")
}

// run goes on until ctx ends, and returns when every call is over.
func (v tenant) run(ctx context.Context) *tally {
	y := &tally{}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: v.tasks, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for range v.tasks {
		wg.Go(func() {
			for ctx.Err() == nil {
				v.call(ctx, client, y)
			}
		})
	}
	wg.Wait()
	return y
}

// call notes the status as soon as it is there: some answers have no end.
func (v tenant) call(ctx context.Context, client *http.Client, y *tally) {
	req, err := http.NewRequestWithContext(ctx, v.target.Method, v.target.URL, strings.NewReader(v.target.Body))
	if err != nil {
		y.note(0, 1)
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			y.note(0, 1)
			pause.For(ctx, 10*time.Millisecond)
		}
		return
	}
	defer resp.Body.Close()
	y.note(resp.StatusCode, 1)
	if v.sip == 0 {
		_, _ = io.Copy(io.Discard, resp.Body) // that it ends early is part of many abuses
		return
	}
	for pause.For(ctx, v.sip) {
		if _, err := io.CopyN(io.Discard, resp.Body, sipBytes); err != nil {
			return
		}
	}
}
