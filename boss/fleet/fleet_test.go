package fleet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

func newFleet(t testing.TB, placer string) *Fleet {
	t.Helper()
	p, err := placement.New(placer, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(Config{Placer: p})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func hello(i int) api.Hello {
	return api.Hello{Name: fmt.Sprintf("w%d", i), Instance: "one", URL: fmt.Sprintf("http://w%d", i)}
}

func join(t testing.TB, f *Fleet, n int) []*Session {
	t.Helper()
	all := make([]*Session, n)
	for i := range all {
		s, err := f.Join(hello(i))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = s
	}
	return all
}

// check compares everything that is kept up to date with what it stands for.
func (f *Fleet) check(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	up, total := 0, 0
	for _, n := range f.nodes {
		own := 0
		for fn, c := range n.cells {
			own += c.own
			if want := max(c.slots-c.own-c.others, 0); c.view.Available != want || (c.warm >= 0) != (want > 0) {
				t.Errorf("%s on %s: available %d, warm %d; want %d", fn.name, n.name, c.view.Available, c.warm, want)
			}
			if c.warm >= 0 && fn.warm[c.warm] != c {
				t.Errorf("%s on %s is not where it says", fn.name, n.name)
			}
		}
		if own != n.own {
			t.Errorf("%s has %d in flight, its functions %d", n.name, n.own, own)
		}
		if n.state != n.now() || (n.state == stateUp) != (n.heap >= 0) || f.table[n.place] != n {
			t.Errorf("%s: state %v, should be %v, heap %d", n.name, n.state, n.now(), n.heap)
		}
		if n.state == stateUp {
			up++
			total += n.inFlight()
			if n.key != n.inFlight() || f.load.nodes[n.heap] != n || n.key < f.load.nodes[0].key {
				t.Errorf("%s is misplaced in the heap", n.name)
			}
		}
	}
	if up != len(f.load.nodes) || total != f.total {
		t.Errorf("%d up with %d in flight, counted %d with %d", up, total, len(f.load.nodes), f.total)
	}
}

// Whatever happens in whatever order, the counters hold, and at the end nothing
// is left.
func TestRandomEvents(t *testing.T) {
	for _, placer := range placement.Names() {
		t.Run(placer, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			f := newFleet(t, placer)
			sessions := make([]*Session, 8)
			var leases []*Lease
			for range 3000 {
				i := r.IntN(len(sessions))
				switch r.IntN(6) {
				case 0:
					s, err := f.Join(hello(i))
					if err != nil {
						t.Fatal(err)
					}
					sessions[i] = s
				case 1:
					if sessions[i] != nil && r.IntN(4) == 0 {
						sessions[i].Leave(errors.New("gone"))
					}
				case 2:
					if sessions[i] != nil {
						sessions[i].Report(api.Report{Load: api.Load{InFlight: r.IntN(5), Draining: r.IntN(10) == 0, Functions: map[string]api.FunctionLoad{
							fmt.Sprintf("f%d", r.IntN(4)): {Sandboxes: r.IntN(3), Slots: r.IntN(3), InFlight: r.IntN(3)},
						}}})
					}
				case 3, 4:
					if l, err := f.Acquire(fmt.Sprintf("f%d", r.IntN(4))); err == nil {
						leases = append(leases, l)
					}
				case 5:
					if len(leases) > 0 {
						l := leases[len(leases)-1]
						leases = leases[:len(leases)-1]
						end(l, r.IntN(3))
					}
				}
				f.check(t)
			}
			for _, l := range leases {
				l.Done()
				l.Done()
			}
			for _, s := range sessions {
				if s != nil {
					s.Leave(errors.New("end"))
				}
			}
			f.check(t)
			if len(f.funcs) != 0 || len(f.byID) != 0 || f.total != 0 {
				t.Errorf("left: %d functions, %d ids, %d in flight", len(f.funcs), len(f.byID), f.total)
			}
		})
	}
}

func end(l *Lease, how int) {
	switch how {
	case 0:
		l.Done()
	case 1:
		l.Avoid()
		if next, err := l.Next(); err == nil {
			next.Done()
		}
	case 2:
		l.Suspect(errors.New("refused"))
	}
}

func TestNextAvoidsWhatWasTried(t *testing.T) {
	for _, placer := range placement.Names() {
		f := newFleet(t, placer)
		join(t, f, 5)
		l, err := f.Acquire("f")
		seen := map[string]bool{}
		for err == nil {
			if seen[l.Worker] {
				t.Errorf("%s tried %s twice", placer, l.Worker)
			}
			seen[l.Worker] = true
			l.Avoid()
			l, err = l.Next()
		}
		if len(seen) != 5 || !errors.Is(err, ErrNoWorker) {
			t.Errorf("%s tried %v, then %v", placer, seen, err)
		}
	}
}

func TestConflict(t *testing.T) {
	f := newFleet(t, "hash")
	s := join(t, f, 1)[0]
	other := hello(0)
	other.Instance = "two"
	var conflict *ConflictError
	if _, err := f.Join(other); !errors.As(err, &conflict) {
		t.Errorf("got %v", err)
	}
	again, err := f.Join(hello(0)) // the same worker, whose connection broke unseen
	if err != nil {
		t.Fatal(err)
	}
	if s.Report(api.Report{}) {
		t.Error("the old session is heard")
	}
	s.Leave(errors.New("late"))
	if f.Up() != 1 {
		t.Error("the old session's end took the worker away")
	}
	again.Leave(errors.New("gone"))
	if _, err := f.Join(other); err != nil {
		t.Errorf("the name is free: %v", err)
	}
}

func TestBossesAgreeOnPlaces(t *testing.T) {
	a, b := newFleet(t, "hash"), newFleet(t, "hash")
	join(t, a, 20)
	for i := 19; i >= 0; i-- {
		if _, err := b.Join(hello(i)); err != nil {
			t.Fatal(err)
		}
	}
	same := 0
	for i := range 200 {
		name := fmt.Sprintf("f%d", i)
		x, errA := a.Acquire(name)
		y, errB := b.Acquire(name)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if x.Worker == y.Worker {
			same++
		}
		x.Done()
		y.Done()
	}
	// Names that collide in the table are the exception.
	if same < 160 {
		t.Errorf("two bosses agree on %d of 200 functions", same)
	}
}

func TestLostAreForgotten(t *testing.T) {
	now := time.Unix(1000, 0)
	f := newFleet(t, "hash")
	f.cfg.Now = func() time.Time { return now }
	join(t, f, 1)[0].Leave(errors.New("gone"))
	if n := f.Nodes(); len(n) != 1 || n[0].State != "lost" {
		t.Errorf("got %v", n)
	}
	now = now.Add(f.cfg.Keep + 2*time.Second)
	if n := f.Nodes(); len(n) != 0 {
		t.Errorf("got %v", n)
	}
}

func TestConcurrent(t *testing.T) {
	f := newFleet(t, "warm-first")
	sessions := join(t, f, 10)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 300 {
				if l, err := f.Acquire(fmt.Sprintf("f%d", n%7)); err == nil {
					end(l, n%3*(i%2))
				}
				sessions[i].Report(api.Report{Load: api.Load{Functions: map[string]api.FunctionLoad{"f1": {Sandboxes: 1, Slots: 1}}}})
				f.Nodes()
			}
		})
	}
	wg.Wait()
	f.check(t)
}

// The cost of a choice must not grow with the number of workers; see the
// figures of "go test -bench Acquire".
func BenchmarkAcquire(b *testing.B) {
	for _, placer := range placement.Names() {
		for _, n := range []int{3, 5000} {
			b.Run(fmt.Sprintf("%s/%d", placer, n), func(b *testing.B) {
				f := newFleet(b, placer)
				for i, s := range join(b, f, n) {
					s.Report(api.Report{Load: api.Load{Functions: map[string]api.FunctionLoad{"f0": {Sandboxes: i % 2, Slots: i % 2}}}})
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					l, err := f.Acquire("f0")
					if err != nil {
						b.Fatal(err)
					}
					l.Done()
				}
			})
		}
	}
}

// How workers are set up is passed on.
func TestNodesSayHowTheyAreSetUp(t *testing.T) {
	f := newFleet(t, "hash")
	h := hello(0)
	h.Setup = &api.Setup{Machine: "x", Cores: 3}
	for _, h := range []api.Hello{h, hello(1)} {
		if _, err := f.Join(h); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range f.Nodes() {
		if (n.Setup != nil) != (n.Name == "w0") || n.Setup != nil && n.Setup.Cores != 3 {
			t.Errorf("%s: %+v", n.Name, n.Setup)
		}
	}
}
