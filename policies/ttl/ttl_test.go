package ttl_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/ttl"
)

// world has two functions; sandbox i belongs to function i % 2.
type world struct {
	now   policies.Time
	node  policies.Node
	funcs [2]policies.Func
	boxes []policies.Sandbox
}

func (w *world) Now() policies.Time                              { return w.now }
func (w *world) Node() *policies.Node                            { return &w.node }
func (w *world) Func(id policies.FuncID) *policies.Func          { return &w.funcs[id] }
func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

// add makes an idle sandbox, times in seconds.
func (w *world) add(e policies.Evictor, started, used int) {
	id := policies.SandboxID(len(w.boxes))
	w.boxes = append(w.boxes, policies.Sandbox{
		ID: id, Fn: policies.FuncID(id % 2), Born: uint64(id) + 1, State: policies.Idle,
		StartedAt: sec(started), LastUse: sec(used),
	})
	e.Insert(w, id)
}

func sec(s int) policies.Time { return policies.Time(1).Add(time.Duration(s) * time.Second) }

func newTTL(t *testing.T, from ttl.From) *ttl.TTL {
	t.Helper()
	e, err := ttl.New(10*time.Second, from)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExpire(t *testing.T) {
	tests := []struct {
		name          string
		from          ttl.From
		started, used int // of the one sandbox
		now           int
		expires       bool
		next          int
	}{
		{"idle before", ttl.Idle, 0, 5, 14, false, 15},
		{"idle at", ttl.Idle, 0, 5, 15, true, 0},
		{"idle after", ttl.Idle, 0, 5, 99, true, 0},
		{"lifespan before", ttl.Lifespan, 0, 5, 9, false, 10},
		{"lifespan at", ttl.Lifespan, 0, 5, 10, true, 0},
		{"lifespan of one that was busy when it ended", ttl.Lifespan, 0, 30, 30, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, w := newTTL(t, tt.from), &world{now: sec(tt.now)}
			w.add(e, tt.started, tt.used)
			id, form, next := e.Expire(w)
			switch {
			case tt.expires && (id != 0 || form != policies.FormGone):
				t.Errorf("Expire = %d in form %d, want 0 gone", id, form)
			case !tt.expires && (id != policies.NoSandbox || next != sec(tt.next)):
				t.Errorf("Expire = %d, next %d, want none, next %d", id, next, sec(tt.next))
			}
		})
	}
}

func TestExpireNeverOfNothing(t *testing.T) {
	e, w := newTTL(t, ttl.Idle), &world{now: sec(50)}
	w.add(e, 0, 0)
	e.Remove(w, 0)
	if id, _, next := e.Expire(w); id != policies.NoSandbox || next != policies.Never {
		t.Errorf("Expire = %d, next %d, want nothing, never", id, next)
	}
}

func TestExpireObeysKeepUntil(t *testing.T) {
	e, w := newTTL(t, ttl.Idle), &world{now: sec(12)}
	w.funcs[0].KeepUntil = sec(20)
	w.add(e, 0, 0) // f0: kept
	w.add(e, 0, 1) // f1: not
	if id, _, _ := e.Expire(w); id != 1 {
		t.Fatalf("Expire = %d, want 1", id)
	}
	e.Remove(w, 1)
	if id, _, next := e.Expire(w); id != policies.NoSandbox || next != sec(20) {
		t.Fatalf("Expire = %d, next %d, want none, next %d", id, next, sec(20))
	}
	if id, ok := e.Next(w, policies.Start{}); !ok || id != 0 {
		t.Errorf("Next = %d, %v, want 0: pressure is not bound by the wish", id, ok)
	}
	w.now = sec(20)
	if id, _, _ := e.Expire(w); id != 0 {
		t.Errorf("Expire = %d, want 0", id)
	}
}

func TestPressureOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		from ttl.From
		want []policies.SandboxID
	}{
		{"idle is LRU", ttl.Idle, []policies.SandboxID{2, 0, 3, 1}},
		{"lifespan is the oldest creation", ttl.Lifespan, []policies.SandboxID{0, 1, 2, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, w := newTTL(t, tt.from), &world{now: sec(9)}
			w.add(e, 0, 5)
			w.add(e, 1, 8)
			w.add(e, 2, 4)
			w.add(e, 3, 5) // as long unused as 0, but younger
			for _, want := range tt.want {
				id, ok := e.Next(w, policies.Start{})
				if !ok || id != want {
					t.Fatalf("Next = %d, %v, want %d", id, ok, want)
				}
				e.Remove(w, id)
			}
			if _, ok := e.Next(w, policies.Start{}); ok {
				t.Error("a victim where nothing is idle")
			}
		})
	}
}

func TestNewRefusesNoTime(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		if _, err := ttl.New(d, ttl.Idle); err == nil {
			t.Errorf("New(%v) made one", d)
		}
	}
}
