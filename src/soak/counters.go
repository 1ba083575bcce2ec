package soak

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/open-lambda/open-lambda/src/api"
)

// counters are the worker's metrics at one moment.
type counters map[string]*dto.MetricFamily

func (r *runner) counters(ctx context.Context) (counters, error) {
	text, err := r.ask(ctx, http.MethodGet, api.PathMetrics)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("understand %s: %w", api.PathMetrics, err)
	}
	return all, nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// invocations are those answered, by lambda and status.
func (c counters) invocations() map[string]map[int]int {
	all := map[string]map[int]int{}
	for _, m := range c["ol_invocations_total"].GetMetric() {
		name := label(m, "function")
		code, err := strconv.Atoi(label(m, "code"))
		if err != nil {
			continue // it then lacks, which is found
		}
		if all[name] == nil {
			all[name] = map[int]int{}
		}
		all[name][code] += int(m.GetCounter().GetValue())
	}
	return all
}

// sum adds up a counter, or a gauge, over its labels.
func (c counters) sum(name string) (n float64) {
	for _, m := range c[name].GetMetric() {
		n += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return n
}

// countersMatch compares what was counted with what clients got.
func (r *runner) countersMatch(ctx context.Context) error {
	got, err := r.counters(ctx)
	if err != nil {
		return err
	}
	if n := got.sum("ol_in_flight"); n != 0 {
		return fmt.Errorf("%v requests are in flight", n)
	}
	counted := got.invocations()
	r.life.mu.Lock()
	defer r.life.mu.Unlock()
	for name, sent := range r.life.sent {
		if name == deserted {
			// Who leaves may be gone before the worker has read the request.
			if n := total(counted[name]); n > sent {
				return fmt.Errorf("%s: %d counted, %d sent", name, n, sent)
			}
			continue
		}
		if !maps.Equal(counted[name], r.life.codes[name]) {
			return fmt.Errorf("%s: counted %v, answered %v", name, counted[name], r.life.codes[name])
		}
	}
	return nil
}

func total(codes map[int]int) (n int) {
	for _, count := range codes {
		n += count
	}
	return n
}

// samples counts what a histogram has seen.
func (c counters) samples(name string) (n int) {
	for _, m := range c[name].GetMetric() {
		n += int(m.GetHistogram().GetSampleCount())
	}
	return n
}
