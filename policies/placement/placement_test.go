package placement

import (
	"errors"
	"testing"

	"github.com/open-lambda/open-lambda/policies"
)

// fake is a cluster of nodes that are down if their load is negative.
type fake struct {
	load []int
	warm []int // available sandboxes of every function
}

func (f fake) Nodes() int               { return len(f.load) }
func (f fake) Up(n int) bool            { return f.load[n] >= 0 }
func (f fake) InFlight(n int) int       { return f.load[n] }
func (f fake) View(n int) policies.View { return view{f.warm[n]} }

type view struct{ available int }

func (view) Now() policies.Time   { return 1 }
func (view) Node() *policies.Node { return &policies.Node{} }
func (v view) Func(id policies.FuncID) *policies.Func {
	return &policies.Func{ID: id, Available: v.available}
}
func (view) Sandbox(policies.SandboxID) *policies.Sandbox { return &policies.Sandbox{} }

func placer(t *testing.T, name string) policies.Placer {
	t.Helper()
	p, err := New(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNobodyChoosesANodeThatIsDown(t *testing.T) {
	for _, name := range Names() {
		p := placer(t, name)
		c := fake{load: []int{-1, 3, -1, 4}, warm: []int{1, 0, 1, 0}}
		for i := range 100 {
			if n := p.Place(c, policies.FuncID(i)); n != 1 && n != 3 {
				t.Errorf("%s chose node %d", name, n)
			}
		}
		if n := p.Place(fake{load: []int{-1, -1}, warm: []int{0, 0}}, 0); n != -1 {
			t.Errorf("%s chose node %d of none", name, n)
		}
	}
}

func TestRoundRobin(t *testing.T) {
	p := placer(t, "round-robin")
	c := fake{load: []int{0, -1, 0}, warm: make([]int, 3)}
	for i, want := range []int{0, 2, 0, 2} {
		if n := p.Place(c, 0); n != want {
			t.Errorf("request %d went to node %d, want %d", i, n, want)
		}
	}
}

func TestRandomIsEven(t *testing.T) {
	p := placer(t, "random")
	var count [4]int
	for range 4000 {
		count[p.Place(fake{load: make([]int, 4), warm: make([]int, 4)}, 0)]++
	}
	for n, k := range count { // 4 standard deviations are 110
		if k < 890 || k > 1110 {
			t.Errorf("node %d got %d of 4000", n, k)
		}
	}
}

func TestLeastLoaded(t *testing.T) {
	if n := placer(t, "least-loaded").Place(fake{load: []int{3, 1, 1}, warm: make([]int, 3)}, 0); n != 1 {
		t.Errorf("chose node %d, want the first of the least loaded", n)
	}
}

func TestHashIsStickyAndBounded(t *testing.T) {
	p := placer(t, "hash")
	c := fake{load: []int{0, 0, 0, 0}, warm: make([]int, 4)}
	home := p.Place(c, 7)
	for range 10 {
		if n := p.Place(c, 7); n != home {
			t.Fatalf("function 7 went to node %d, its home is %d", n, home)
		}
	}
	// 13 requests on 4 nodes with this one: at most 1.25 * 13 / 4 = 4.06 on one.
	c.load = []int{3, 3, 3, 3}
	if n := p.Place(c, 7); n != home {
		t.Errorf("left its home at the bound")
	}
	c.load[home] = 4
	if n := p.Place(c, 7); n == home {
		t.Errorf("stayed at its home above the bound")
	}
}

func TestHashMovesOnlyTheFunctionsOfALostNode(t *testing.T) {
	p := placer(t, "hash")
	all, lost := fake{load: make([]int, 5), warm: make([]int, 5)}, fake{load: []int{0, 0, -1, 0, 0}, warm: make([]int, 5)}
	moved := 0
	for fn := range policies.FuncID(1000) {
		before, after := p.Place(all, fn), p.Place(lost, fn)
		if before != after {
			moved++
			if before != 2 {
				t.Errorf("function %d moved from %d to %d", fn, before, after)
			}
		}
	}
	if moved < 130 || moved > 270 {
		t.Errorf("%d of 1000 functions lived on one of 5 nodes", moved)
	}
}

func TestWarmFirst(t *testing.T) {
	p := placer(t, "warm-first")
	if n := p.Place(fake{load: []int{0, 5, 4}, warm: []int{0, 1, 2}}, 0); n != 2 {
		t.Errorf("chose node %d, want the least loaded warm one", n)
	}
	hash := placer(t, "hash")
	cold := fake{load: make([]int, 3), warm: make([]int, 3)}
	if a, b := p.Place(cold, 9), hash.Place(cold, 9); a != b {
		t.Errorf("without a warm node it chose %d, the hash says %d", a, b)
	}
}

func TestUnknownName(t *testing.T) {
	var unknown *UnknownError
	if _, err := New("rnd", 0); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

// indexed is a fake with an Index, which must give the same choices.
type indexed struct{ fake }

func (x indexed) Totals() (up, inFlight int)  { return totals(x.fake) }
func (x indexed) Least() int                  { return leastOfAll(x.fake) }
func (x indexed) Warm(fn policies.FuncID) int { return warmest(x.fake, fn) }

func TestIndexChangesNothing(t *testing.T) {
	for _, name := range Names() {
		plain, fast := placer(t, name), placer(t, name)
		c := fake{load: []int{3, -1, 2, 2, 9, -1, 0, 4}, warm: []int{0, 1, 0, 0, 2, 0, 0, 0}}
		for i := range policies.FuncID(200) {
			c.load[3], c.warm[4] = int(i%7), int(i%2)
			if a, b := plain.Place(c, i), fast.Place(indexed{c}, i); a != b {
				t.Fatalf("%s: function %d goes to %d, with an index to %d", name, i, a, b)
			}
		}
	}
}
