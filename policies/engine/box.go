package engine

import "github.com/open-lambda/open-lambda/policies"

// box is a sandbox and its links.
type box struct {
	policies.Sandbox
	seq      uint64 // of the start that made it
	attempts int    // starts that failed before, for this wish
	bound    policies.RequestID
	queue    requestList // requests bound to this sandbox
	draining bool        // serves nobody new; destroyed when idle
	reason   Reason      // why it drains
	charged  bool        // its memory is charged
	served   bool        // a request ended in it

	prev, prevBusy policies.SandboxID
	listed         bool // in the available or the starting list
	evictable      bool // the evictor was told of it
	reshaping      bool // the driver was asked to, and has not answered
}

// newBox takes a free id, or a new one.
func (e *Engine) newBox() *box {
	var b *box
	if n := len(e.freeBox); n > 0 {
		b = e.boxes[e.freeBox[n-1]]
		e.freeBox = e.freeBox[:n-1]
	} else {
		b = &box{}
		b.ID = policies.SandboxID(len(e.boxes))
		e.boxes = append(e.boxes, b)
	}
	e.born++
	*b = box{Sandbox: policies.Sandbox{
		ID: b.ID, Born: e.born,
		Next: policies.NoSandbox, NextBusy: policies.NoSandbox,
	}, bound: policies.NoRequest, queue: noRequests(), prev: policies.NoSandbox, prevBusy: policies.NoSandbox}
	return b
}

// dropBox releases what the box is still charged, and its id.
func (e *Engine) dropBox(b *box) {
	f := e.funcs[b.Fn]
	if b.State == policies.Dying {
		e.node.DyingMB -= b.MB
	}
	if b.charged {
		e.node.FreeMB += b.MB
		f.HeldMB -= b.MB
		b.charged = false
	}
	b.State = policies.Gone
	e.freeBox = append(e.freeBox, b.ID)
}

// box returns a sandbox that is not gone, nil otherwise.
func (e *Engine) box(id policies.SandboxID) *box {
	if id < 0 || int(id) >= len(e.boxes) || e.boxes[id].State == policies.Gone {
		return nil
	}
	return e.boxes[id]
}

// list puts a box at the front of its function's available or starting list.
func (e *Engine) list(head *policies.SandboxID, b *box) {
	b.prev, b.Next = policies.NoSandbox, *head
	if *head != policies.NoSandbox {
		e.boxes[*head].prev = b.ID
	}
	*head = b.ID
	b.listed = true
}

func (e *Engine) unlist(head *policies.SandboxID, b *box) {
	if b.prev == policies.NoSandbox {
		*head = b.Next
	} else {
		e.boxes[b.prev].Next = b.Next
	}
	if b.Next != policies.NoSandbox {
		e.boxes[b.Next].prev = b.prev
	}
	b.prev, b.Next, b.listed = policies.NoSandbox, policies.NoSandbox, false
}

func (e *Engine) listBusy(f *function, b *box) {
	b.prevBusy, b.NextBusy = policies.NoSandbox, f.FirstBusy
	if f.FirstBusy != policies.NoSandbox {
		e.boxes[f.FirstBusy].prevBusy = b.ID
	}
	f.FirstBusy = b.ID
}

func (e *Engine) unlistBusy(f *function, b *box) {
	if b.prevBusy == policies.NoSandbox {
		f.FirstBusy = b.NextBusy
	} else {
		e.boxes[b.prevBusy].NextBusy = b.NextBusy
	}
	if b.NextBusy != policies.NoSandbox {
		e.boxes[b.NextBusy].prevBusy = b.prevBusy
	}
	b.prevBusy, b.NextBusy = policies.NoSandbox, policies.NoSandbox
}

// available moves a box with a free slot to the front of the list of those,
// the most recently used first, so that the surplus ages.
func (e *Engine) available(f *function, b *box) {
	if b.listed {
		e.unlist(&f.FirstAvailable, b)
	} else {
		f.Available++
	}
	e.list(&f.FirstAvailable, b)
}

func (e *Engine) unavailable(f *function, b *box) {
	if b.listed {
		e.unlist(&f.FirstAvailable, b)
		f.Available--
	}
}

// offer shows an idle box to the evictor.
func (e *Engine) offer(b *box) {
	if b.Pinned || b.evictable {
		return
	}
	b.evictable = true
	e.node.IdleMB += b.MB
	e.cfg.Evictor.Insert(&e.state, b.ID)
	e.expireIs = false
}

// retract takes it back.
func (e *Engine) retract(b *box) {
	if !b.evictable {
		return
	}
	b.evictable = false
	e.node.IdleMB -= b.MB
	e.cfg.Evictor.Remove(&e.state, b.ID)
}

// leave takes a live box out of every list and count of its function, and
// tells the policies. Its memory stays charged.
func (e *Engine) leave(b *box) {
	f := e.funcs[b.Fn]
	e.retract(b)
	switch b.State {
	case policies.Provisioning:
		if b.listed {
			e.unlist(&f.FirstStarting, b)
		}
		e.node.Starting--
		e.count(f, b, -1, &f.Provisioning)
		if b.bound != policies.NoRequest {
			f.boundBoxes--
		}
	case policies.Idle:
		e.unavailable(f, b)
		e.count(f, b, -1, &f.IdleCount)
	case policies.Busy:
		e.unavailable(f, b)
		e.unlistBusy(f, b)
		e.count(f, b, -1, &f.BusyCount)
	case policies.Gone, policies.Dying:
		return
	}
	e.unpin(f, b)
	b.State = policies.Dying
	e.node.DyingMB += b.MB
	e.observe(policies.Fact{Kind: policies.FactGone, Fn: b.Fn, Sandbox: b.ID, Seq: b.seq})
}

// count changes one of a function's counts and its |F|, for a full sandbox
// of the current revision that serves.
func (e *Engine) count(f *function, b *box, d int, of *int) {
	if b.draining || b.Form != policies.FormFull {
		return
	}
	*of += d
	f.Live += d
}

// drain takes a busy box out of service: it serves nobody new, and goes when
// its last request has ended.
func (e *Engine) drain(b *box, why Reason) {
	if b.draining {
		return
	}
	f := e.funcs[b.Fn]
	e.unavailable(f, b)
	e.count(f, b, -1, &f.BusyCount)
	e.unlistBusy(f, b)
	e.unpin(f, b)
	b.draining, b.reason = true, why
	e.observe(policies.Fact{Kind: policies.FactGone, Fn: b.Fn, Sandbox: b.ID, Seq: b.seq})
}

// destroy ends a box that is not busy.
func (e *Engine) destroy(b *box, why Reason) {
	if b.draining { // left the live set before
		b.State = policies.Dying
		e.node.DyingMB += b.MB
	} else {
		e.leave(b)
	}
	e.emit(Action{Kind: ActDestroy, Fn: b.Fn, Sandbox: b.ID, Reason: why, MB: b.MB, Revision: b.Revision})
}

// pin counts a box for the function's minimum, if that lacks one and pinned
// sandboxes hold at most half of the pool: the rest must stay usable.
func (e *Engine) pin(f *function, b *box) {
	if f.pinned >= f.Spec.Min || e.pinnedMB+b.MB > e.node.PoolMB/2 {
		return
	}
	b.Pinned = true
	f.pinned++
	e.pinnedMB += b.MB
}

func (e *Engine) unpin(f *function, b *box) {
	if b.Pinned {
		b.Pinned = false
		f.pinned--
		e.pinnedMB -= b.MB
	}
}
