package dispatch

import (
	"context"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// grant is the engine's answer to one arrival: a sandbox, or an error.
type grant struct {
	box     *box
	start   policies.Kind
	blocked bool
	wait    time.Duration
	err     error
}

// call is one request that the engine knows. Its channel holds one grant, so
// that the engine's side never blocks.
type call struct {
	id     policies.RequestID
	fn     *Func
	grant  chan grant
	cancel context.CancelCauseFunc // ends its context
}

// callTable hands out dense request ids and uses them again. Guarded by
// Dispatcher.mu. Its size is the largest number of calls at one time.
type callTable struct {
	all  []*call // by RequestID; those in free are not in use
	free []*call
	live int
}

func (t *callTable) add(fn *Func) *call {
	t.live++
	if n := len(t.free); n > 0 {
		c := t.free[n-1]
		t.free = t.free[:n-1]
		c.fn = fn
		return c
	}
	c := &call{id: policies.RequestID(len(t.all)), fn: fn, grant: make(chan grant, 1)}
	t.all = append(t.all, c)
	return c
}

func (t *callTable) drop(c *call) {
	t.live--
	c.fn, c.cancel = nil, nil
	t.free = append(t.free, c)
}

// at finds a call in use.
func (t *callTable) at(id policies.RequestID) *call {
	if int(id) >= len(t.all) || t.all[id].fn == nil {
		return nil
	}
	return t.all[id]
}
