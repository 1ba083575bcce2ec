package engine

import (
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// teller counts what outcomes are told, and gives one to every request.
type teller struct {
	policies.Scaler
	z *fuzz
}

func (s *teller) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	verdict, inner := s.Scaler.Blocked(v, r)
	s.z.told = append(s.z.told, 0)
	return verdict, &fuzzOutcome{s.z, len(s.z.told) - 1, inner}
}

// Observe passes facts on to a scaler that listens.
func (s *teller) Observe(v policies.View, f policies.Fact) {
	if o, ok := s.Scaler.(policies.Observer); ok {
		o.Observe(v, f)
	}
}

type fuzzOutcome struct {
	z     *fuzz
	n     int
	inner policies.Outcome
}

func (o *fuzzOutcome) tell(f func(policies.Outcome)) {
	if o.z.told[o.n]++; o.z.told[o.n] > 1 {
		o.z.t.Fatalf("outcome %d told twice", o.n)
	}
	if o.inner != nil {
		f(o.inner)
	}
}

func (o *fuzzOutcome) Delayed(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Delayed(now, d) })
}

func (o *fuzzOutcome) Cold(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Cold(now, d) })
}

func (o *fuzzOutcome) Abandoned(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Abandoned(now, d) })
}

// fuzzWish is a prewarmer that wants some of everything now and then.
type fuzzWish struct{ bits int }

func (w *fuzzWish) Plan(v policies.View) ([]policies.Want, policies.Time) {
	var wants []policies.Want
	for i := range v.Node().Funcs {
		wants = append(wants, policies.Want{
			Fn: policies.FuncID(i), N: w.bits >> i % 3, MayEvict: w.bits&1 != 0, KeepUntil: v.Now().Add(time.Second),
		})
	}
	w.bits = w.bits*5 + 1
	return wants, v.Now().Add(700 * time.Millisecond)
}

// demoter takes part of a sandbox's memory away when it has been idle for a
// while, later the rest, and builds starts from what is left.
type demoter struct {
	policies.Evictor
	idle []policies.SandboxID
}

func (d *demoter) Insert(v policies.View, id policies.SandboxID) {
	d.idle = append(d.idle, id)
	d.Evictor.Insert(v, id)
}

func (d *demoter) Remove(v policies.View, id policies.SandboxID) {
	d.idle = slices.DeleteFunc(d.idle, func(o policies.SandboxID) bool { return o == id })
	d.Evictor.Remove(v, id)
}

func (d *demoter) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	next := policies.Never
	for _, id := range d.idle {
		b := v.Sandbox(id)
		form, at := policies.FormLayer+1, b.LastUse.Add(100*time.Millisecond)
		if b.Form != policies.FormFull {
			form, at = policies.FormGone, b.LastUse.Add(500*time.Millisecond)
		}
		if at <= v.Now() {
			return id, form, policies.Never
		}
		next = policies.Earliest(next, at)
	}
	return policies.NoSandbox, policies.FormGone, next
}

// Reuse names the first demoted sandbox.
func (d *demoter) Reuse(v policies.View, _ policies.FuncID) policies.SandboxID {
	for _, id := range d.idle {
		if v.Sandbox(id).Form != policies.FormFull {
			return id
		}
	}
	return policies.NoSandbox
}

// Observe passes facts on to an evictor that listens.
func (d *demoter) Observe(v policies.View, f policies.Fact) {
	if o, ok := d.Evictor.(policies.Observer); ok {
		o.Observe(v, f)
	}
}
