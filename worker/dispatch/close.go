package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Drain refuses new requests with ErrClosing and waits for those in progress.
// When ctx ends, they are cut and answered with ErrClosing.
func (d *Dispatcher) Drain(ctx context.Context) {
	d.mu.Lock()
	if !d.closing {
		d.closing = true
		if d.calls.live == 0 {
			close(d.drained)
		}
	}
	d.mu.Unlock()
	select {
	case <-d.drained:
	case <-ctx.Done():
		d.cut()
	}
}

// cut ends every call that is in progress.
func (d *Dispatcher) cut() {
	d.mu.Lock()
	for _, c := range d.calls.all {
		if c.fn != nil {
			cancel := c.cancel
			d.after = append(d.after, func() { cancel(ErrClosing) })
		}
	}
	d.leave()
}

// Close drains until ctx ends, destroys every sandbox and closes the
// provider. It returns once nothing of the dispatcher runs any more. Calling
// it again is no error.
func (d *Dispatcher) Close(ctx context.Context) error {
	d.Drain(ctx)
	<-d.drained
	d.doomAll()
	d.cancel()
	d.wg.Wait()
	// The wait for the mechanism has its own bound: ctx may have ended.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := d.cfg.Provider.Close(end); err != nil {
		return fmt.Errorf("close provider: %w", err)
	}
	return nil
}

func (d *Dispatcher) doomAll() {
	d.mu.Lock()
	d.closed = true
	for id := range d.boxes {
		d.destroy(policies.SandboxID(id), engine.ReasonNone, false)
	}
	for _, f := range d.funcs {
		d.replace(f, nil)
	}
	d.leave()
}
