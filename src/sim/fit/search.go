package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/open-lambda/open-lambda/src/trace"
)

const (
	// step is the size of the first simplex, as a share of each range.
	step = 0.2
	// pull weighs the square of the way from the start, in ranges: a tenth of a
	// range costs as much as 0.1 points of one target missed.
	pull = 1.0
	// outside weighs the square of the way out of a range.
	outside = 1000.0
	// enough ends the search: the root of it is in percentage points, less than
	// seeds differ by.
	enough = 0.02
)

// Reasons for which a search ends.
const (
	Reached  = "targets reached"
	Settled  = "settled: the simplex found nothing better"
	Bounded  = "limit of evaluations"
	TimeOver = "limit of time"
)

// Found is the outcome of a search.
type Found struct {
	Synthetic   trace.Synthetic
	Loss        float64 // mean square of the distances, points, of the minutes that were looked at
	Evaluations int
	Ended       string
}

// Limit tells whether time is over. It is asked before each evaluation.
type Limit func() bool

// Search looks for parameters. log keeps what was evaluated and may hold what
// an earlier run of the same plan evaluated. progress, if not nil, is told how
// many evaluations there were and the least loss.
func (p *Plan) Search(ctx context.Context, log *Log, over Limit, progress func(n int, best float64)) (Found, error) {
	if err := p.Check(); err != nil {
		return Found{}, err
	}
	free, err := p.free()
	if err != nil {
		return Found{}, err
	}
	s := &search{ctx: ctx, plan: p, free: free, log: log, over: over, progress: progress, best: Found{Synthetic: p.Start}, least: math.Inf(1)}
	if p.Evaluations == 0 {
		return s.best, nil
	}
	for _, q := range free {
		s.start = append(s.start, min(max(q.Share(q.Get(&p.Start)), 0), 1))
	}
	_, err = optimize.Minimize(
		optimize.Problem{Func: s.evaluate, Status: s.status}, slices.Clone(s.start),
		&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 20 * len(free)}, Concurrent: 1},
		&optimize.NelderMead{SimplexSize: step},
	)
	s.best.Evaluations = s.n
	switch {
	case s.err != nil:
		return s.best, s.err
	case s.ended != "":
		s.best.Ended = s.ended
	case err != nil:
		return s.best, fmt.Errorf("search parameters: %w", err)
	default:
		s.best.Ended = Settled
	}
	return s.best, nil
}

// search is one under way.
type search struct {
	ctx      context.Context //nolint:containedctx // of the one call of Search
	plan     *Plan
	free     []trace.Parameter
	start    []float64
	log      *Log
	over     Limit
	progress func(int, float64)

	n     int
	best  Found
	least float64 // best's loss with what is added to it
	ended string
	err   error
}

// at returns the workload of a point, which is brought into its ranges, and what is
// added to its loss.
func (s *search) at(x []float64) (trace.Synthetic, float64) {
	w, extra := s.plan.Start, 0.0
	for i, q := range s.free {
		in := min(max(x[i], 0), 1)
		extra += outside*(x[i]-in)*(x[i]-in) + pull*(in-s.start[i])*(in-s.start[i])
		q.Set(&w, q.At(in))
	}
	return w, extra
}

// evaluate is what is minimised. After an error, or the end of the search, it is
// infinite.
func (s *search) evaluate(x []float64) float64 {
	if s.stop() {
		return math.Inf(1)
	}
	w, extra := s.at(x)
	values, err := s.log.once(w, func() ([]float64, error) {
		m, err := s.plan.Measure(s.ctx, w, s.plan.Minutes, s.plan.Seeds)
		return means(m), err
	})
	if err != nil {
		s.err = err
		return math.Inf(1)
	}
	s.n++
	loss := s.plan.loss(values)
	if loss+extra < s.least {
		s.least = loss + extra
		s.best.Synthetic, s.best.Loss = w, loss
	}
	if s.progress != nil {
		s.progress(s.n, s.best.Loss)
	}
	return loss + extra
}

// stop tells whether the search is over, and why.
func (s *search) stop() bool {
	switch {
	case s.err != nil || s.ended != "":
		return true
	case s.ctx.Err() != nil:
		s.err = context.Cause(s.ctx)
	case s.n > 0 && s.best.Loss < enough:
		s.ended = Reached
	case s.n >= s.plan.Evaluations:
		s.ended = Bounded
	case s.over != nil && s.over():
		s.ended = TimeOver
	}
	return s.err != nil || s.ended != ""
}

func (s *search) status() (optimize.Status, error) {
	if s.stop() {
		return optimize.Failure, errors.New("the search has ended")
	}
	return optimize.NotTerminated, nil
}

func means(m Measured) []float64 {
	all := make([]float64, len(m.Values))
	for i, v := range m.Values {
		all[i] = v.Mean
	}
	return all
}
