package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/replay/timeline"
)

// source is a worker whose events are followed.
type source struct {
	name, url string
	header    http.Header
}

// sandboxWatch reads what happens to sandboxes during a replay.
type sandboxWatch struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	more   chan struct{} // holds one token if ended, open or reading may have changed

	mu       sync.Mutex
	recorded []timeline.Recorded
	ended    map[string]int // requests that were seen to end, by function
	open     map[string]int // those that were seen to begin and not to end
	reading  int            // workers
	errs     []error
}

// follow begins to read the events of every worker of a target, and returns
// once they all stream.
func (t *replayTarget) follow(ctx context.Context) (*sandboxWatch, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &sandboxWatch{cancel: cancel, more: make(chan struct{}, 1), ended: map[string]int{}, open: map[string]int{}}
	client := t.client(0, 0)
	for _, s := range t.sources {
		body, err := openEvents(ctx, client, s)
		if err != nil {
			f.end(time.Time{})
			return nil, fail(codeFailed, "follow worker "+s.name, err, "its events are for this machine and whoever has the cluster's token: --token-file FILE")
		}
		f.mu.Lock()
		f.reading++
		f.mu.Unlock()
		f.wg.Go(func() { f.read(ctx, s.name, body) })
	}
	return f, nil
}

func openEvents(ctx context.Context, client *http.Client, s source) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+api.PathEvents, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range s.header {
		req.Header[k] = v
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("status %s", resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

// read takes a worker's events until it, or ctx, ends.
func (f *sandboxWatch) read(ctx context.Context, name string, body io.ReadCloser) {
	defer body.Close()
	r := timeline.Recorded{Worker: name}
	dec := json.NewDecoder(body)
	var err error
	for {
		var e api.Event
		if err = dec.Decode(&e); err != nil {
			break
		}
		r.Events = append(r.Events, e)
		f.count(&e)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorded = append(f.recorded, r)
	f.reading--
	f.changed()
	if ctx.Err() == nil { // the worker ended before the replay did
		f.errs = append(f.errs, fmt.Errorf("follow worker %s: it told no more: %w", name, err))
	}
}

// count keeps account of the requests that run.
func (f *sandboxWatch) count(e *api.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind {
	case api.EventRun:
		f.open[e.Function]++
	case api.EventDone:
		f.open[e.Function]--
		f.ended[e.Function]++
		f.changed()
	}
}

func (f *sandboxWatch) changed() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// drainLimit is how long the last events may take: they are under way when the last
// answer is there.
const drainLimit = 2 * time.Second

// drain waits until the end of every request that a worker has answered was seen, or
// for drainLimit.
func (f *sandboxWatch) drain(w replay.Workload, samples []replay.Sample) {
	answered := map[string]int{}
	for i := range samples {
		if samples[i].Start != "" { // a sandbox had it
			answered[w.Lambdas[samples[i].Request.Lambda].Name]++
		}
	}
	late := time.NewTimer(drainLimit)
	defer late.Stop()
	for !f.seen(answered) {
		select {
		case <-f.more:
		case <-late.C:
			return
		}
	}
}

// seen tells whether so many requests of each function have ended and none runs, or
// nobody reads any more.
func (f *sandboxWatch) seen(answered map[string]int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading == 0 {
		return true
	}
	for name, n := range answered {
		if f.ended[name] < n || f.open[name] > 0 {
			return false
		}
	}
	return true
}

// end stops reading and returns a track for each sandbox; times count from begin.
func (f *sandboxWatch) end(begin time.Time) []*timeline.Track {
	f.cancel()
	f.wg.Wait()
	return timeline.Tracks(f.recorded, begin)
}

// watchSandboxes begins to follow the workers if the user wants to see that.
func (r *replayRun) watchSandboxes(ctx context.Context) (err error) {
	if r.plan.perfetto == "" && r.plan.record == "" && !r.plan.timeline {
		return nil
	}
	r.sandboxes, err = r.target.follow(ctx)
	return err
}

// draw writes the tracks as the user wished.
func (r *replayRun) draw() error {
	if r.sandboxes == nil {
		return nil
	}
	for _, err := range r.sandboxes.errs {
		r.say("warning: %s", err)
	}
	if lost := timeline.Lost(r.sandboxes.recorded); lost > 0 {
		r.say("warning: the timeline has %s: the workers were read too slowly", plural(lost, "gap", "gaps"))
	}
	if len(r.tracks) == 0 {
		why := errors.Join(append([]error{errors.New("no worker has told of any")}, r.sandboxes.errs...)...)
		return fail(codeFailed, "draw what sandboxes did", why, "see whether the workers run: ol worker status, ol nodes list --boss URL")
	}
	if r.plan.timeline {
		if err := timeline.WriteText(r.streams.out, r.tracks, 0, timeline.End(r.tracks), r.columns()-titleColumns); err != nil {
			return err
		}
	}
	if err := r.keepEvents(); err != nil {
		return err
	}
	if r.plan.perfetto == "" {
		return nil
	}
	path := r.abs(r.plan.perfetto)
	if err := replaceFile(path, func(to io.Writer) error { return timeline.WriteChrome(to, r.tracks) }); err != nil {
		return fail(codeFailed, "write trace", err, "choose another file: --perfetto FILE")
	}
	r.say("%s written to %s; open it at https://ui.perfetto.dev or chrome://tracing", plural(len(r.tracks), "track", "tracks"), path)
	return nil
}

// keepEvents writes the events for ol replay draw.
func (r *replayRun) keepEvents() error {
	if r.plan.record == "" {
		return nil
	}
	e := &r.result.Environment
	kernel, _, _ := strings.Cut(e.Machine.Kernel, "-") // without the name that its builder gave it
	kept := timeline.Recording{
		Trace: r.result.Trace, Policy: r.target.policy.Preset, Scale: r.plan.scale, Workers: timeline.Since(r.sandboxes.recorded, r.result.Began),
		Machine: fmt.Sprintf("%s, %d cores, Linux %s, cgroups %s", e.Machine.CPU, e.Machine.Cores, kernel, e.Cgroups), Load: e.During.LoadMean,
	}
	path := r.abs(r.plan.record)
	if err := replaceFile(path, kept.Write); err != nil {
		return fail(codeFailed, "write recording", err, "choose another file: --record FILE")
	}
	r.say("recorded in %s; draw it: ol replay draw %s -o sandboxes.svg", path, path)
	return nil
}

// titleColumns is about what a line of a timeline has beside the time.
const titleColumns = 24
