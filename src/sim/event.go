package sim

import "github.com/open-lambda/open-lambda/policies"

// event is something that the mechanism will report.
type event struct {
	at      policies.Time
	seq     uint64 // order of planning: breaks ties
	node    int32
	sandbox policies.SandboxID
	req     policies.RequestID
	kind    eventKind
	gen     uint32 // of the sandbox: an event of a former one is void
}

type eventKind uint8

const (
	evReady eventKind = iota
	evFailHost
	evFailLambda
	evFinish
	evCrash // the sandbox dies while the request runs
	evGone
	evReshape
)

func (e *event) before(o *event) bool {
	return e.at < o.at || (e.at == o.at && e.seq < o.seq)
}

// eventHeap is a 4-ary heap: shallower than a binary one, and the four
// children lie side by side.
type eventHeap struct {
	a   []event
	seq uint64
}

func (h *eventHeap) push(e event) {
	h.seq++
	e.seq = h.seq
	h.a = append(h.a, e)
	i := len(h.a) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&h.a[p]) {
			break
		}
		h.a[i] = h.a[p]
		i = p
	}
	h.a[i] = e
}

func (h *eventHeap) pop() event {
	top, last := h.a[0], len(h.a)-1
	e := h.a[last]
	h.a = h.a[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		c := 4*i + 1
		if c >= last {
			break
		}
		m := c
		for k := c + 1; k < min(c+4, last); k++ {
			if h.a[k].before(&h.a[m]) {
				m = k
			}
		}
		if !h.a[m].before(&e) {
			break
		}
		h.a[i] = h.a[m]
		i = m
	}
	h.a[i] = e
	return top
}
