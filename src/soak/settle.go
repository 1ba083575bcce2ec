package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
)

// settleLimit is how long the worker may take until what is over has been
// counted, logged and removed, on a machine that does other things as well.
const settleLimit = time.Minute

// eventually repeats a check until it holds. What still does not hold at the
// end is a fault.
func (r *runner) eventually(ctx context.Context, what string, check func(context.Context) error) {
	deadline := time.Now().Add(settleLimit)
	for {
		err := check(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Now().After(deadline) {
			r.report.fault("life %d, %s: %v", r.life.number+1, what, err)
			return
		}
		pause.For(ctx, 100*time.Millisecond)
	}
}

// judge holds the worker's books against the clients' when all is answered.
func (r *runner) judge(ctx context.Context) {
	r.eventually(ctx, "newest code", r.newestAnswers)
	r.eventually(ctx, "counters", r.countersMatch)
	r.judgeLogs(ctx, true)
}

// newestAnswers wants the version that was installed last.
func (r *runner) newestAnswers(ctx context.Context) error {
	k := kind{name: "replaced code", event: map[string]any{"do": "echo"}, judge: good}
	c := client{r: r, random: r.random}
	s := sent{kind: &k, lambda: versioned, id: newID(), begun: time.Now()}
	a, err := c.exchange(ctx, s)
	r.settleOne(s, a, err)
	if got := r.life.seen(); got != r.life.version {
		return fmt.Errorf("version %d answers, %d is installed", got, r.life.version)
	}
	return nil
}

// judgeLogs counts what lambdas say that they have run. With whole, everything
// that was answered well must be there.
func (r *runner) judgeLogs(ctx context.Context, whole bool) {
	var found logged
	r.eventually(ctx, "logs", func(context.Context) (err error) {
		found, err = r.logsMatch(whole)
		return err
	})
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	r.report.CutBegun += found.begun
	r.report.LinesLost += found.lost
}

// clear removes every lambda, and waits until no sandbox is left.
func (r *runner) clear(ctx context.Context) error {
	for name := range r.settings() {
		if _, err := r.ask(ctx, http.MethodDelete, api.PathRegistry+name); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	r.eventually(ctx, "sandboxes of lambdas that are removed", r.emptied)
	return nil
}

func (r *runner) emptied(ctx context.Context) error {
	text, err := r.ask(ctx, http.MethodGet, api.PathDebug)
	if err != nil {
		return err
	}
	var d api.Debug
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("understand %s: %w", api.PathDebug, err)
	}
	if len(d.Sandboxes) > 0 || d.UsedMB != 0 {
		return fmt.Errorf("%d sandboxes with %d MB", len(d.Sandboxes), d.UsedMB)
	}
	return nil
}

// ask sends a request that is none of the load's, and reads its answer.
func (r *runner) ask(ctx context.Context, method, path string) (_ []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, r.node.URL()+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, text)
	}
	return text, err
}
