package repro

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Run measures points, several at a time, those of one workload together.
// What is in the cells already is not measured again, and every result is kept
// there as soon as there is one. progress, if not nil, is told how many of all
// points are done; it is not called by two points at once.
func Run(ctx context.Context, points []Point, cells *Cells, parallel int, progress func(done, total int)) (map[Point]*Measured, error) {
	if err := makeCells(cells.Dir); err != nil {
		return nil, err
	}
	points = slices.Clone(points)
	slices.SortFunc(points, comparePoints)
	points = slices.Compact(points)
	r := &runner{cells: cells, results: map[Point]*Measured{}, open: newStore(points), total: len(points), progress: progress}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, parallel))
	for _, p := range points {
		g.Go(func() error { return r.one(ctx, p) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return r.results, nil
}

// comparePoints brings together what shares a workload.
func comparePoints(a, b Point) int {
	return cmp.Or(
		cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Minutes, b.Minutes),
		cmp.Compare(a.IAT, b.IAT), cmp.Compare(a.Exec, b.Exec), cmp.Compare(a.Slots, b.Slots),
		cmp.Compare(a.PoolMB, b.PoolMB), cmp.Compare(a.Policy, b.Policy),
	)
}

type runner struct {
	cells *Cells
	open  *store
	total int

	mu       sync.Mutex // of what follows
	results  map[Point]*Measured
	progress func(done, total int)
}

func (r *runner) one(ctx context.Context, p Point) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer r.open.done(p)
	m := r.cells.load(p)
	if m == nil {
		var err error
		if m, err = r.measure(ctx, p); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[p] = m
	if r.progress != nil {
		r.progress(len(r.results), r.total)
	}
	return nil
}

// measure simulates a point and keeps what came of it.
func (r *runner) measure(ctx context.Context, p Point) (m *Measured, err error) {
	cost, err := spent(func() error {
		w, err := r.open.workload(p)
		if err == nil {
			m, err = simulate(ctx, p, w.w, w.functions)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m.Cost = cost
	return m, r.cells.save(m)
}

// base names what a point is made from: points that differ in the rest share
// its invocations.
type base struct {
	workload string
	minutes  int
	seed     uint64
}

func baseOf(p Point) base { return base{p.Workload, p.Minutes, p.Seed} }

// store holds invocations in memory while a point needs them.
type store struct {
	mu   sync.Mutex // of what follows
	left map[base]int
	open map[base]*opened
}

type opened struct {
	once      sync.Once
	w         trace.Workload
	functions []trace.Profile
	err       error
}

func newStore(points []Point) *store {
	s := &store{left: map[base]int{}, open: map[base]*opened{}}
	for _, p := range points {
		s.left[baseOf(p)]++
	}
	return s
}

func (s *store) workload(p Point) (*opened, error) {
	b := baseOf(p)
	s.mu.Lock()
	o := s.open[b]
	if o == nil {
		o = &opened{}
		s.open[b] = o
	}
	s.mu.Unlock()
	o.once.Do(func() { o.read(b) })
	return o, o.err
}

// done forgets a workload that no point needs any more.
func (s *store) done(p Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := baseOf(p)
	if s.left[b]--; s.left[b] == 0 {
		delete(s.open, b)
	}
}

func (o *opened) read(b base) {
	w, err := FindWorkload(b.workload)
	if err == nil {
		o.w, err = w.Open(b.minutes, b.seed)
	}
	var all []trace.Invocation
	if err == nil {
		o.functions, all, err = trace.Collect(o.w)
	}
	if err != nil {
		o.err = fmt.Errorf("open workload %s: %w", b.workload, err)
		return
	}
	note := o.w.Note
	o.w = trace.FromSlice(o.w.Name, o.w.Span, o.functions, all)
	o.w.Note = note
}
