package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// requestColumns is the header of WriteRequests.
func requestColumns() []string {
	return []string{
		"t_ms", "function", "asked_ms", "late_ms", "connected_ms", "start", "worker", "queue_ms", "init_ms", "exec_ms", "latency_ms",
		"overhead_ms", "slowdown", "status", "error",
	}
}

// WriteRequests writes a row of CSV for each request, times in ms.
func WriteRequests(out io.Writer, w Workload, samples []Sample) error {
	rows := csv.NewWriter(out)
	if err := rows.Write(requestColumns()); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	for i := range samples {
		s := &samples[i]
		why := ""
		if s.Err != nil {
			why = s.Err.Error()
		}
		err := rows.Write([]string{
			ms(s.Request.At), w.Lambdas[s.Request.Lambda].Name, ms(s.Request.Exec), ms(s.Late), ms(s.Connected), s.Start, s.Worker, ms(s.Queue), ms(s.Init),
			ms(s.Exec), ms(s.Latency), ms(s.Overhead()), strconv.FormatFloat(s.Slowdown(), 'g', 6, 64), strconv.Itoa(s.Status), why,
		})
		if err != nil {
			return fmt.Errorf("write requests: %w", err)
		}
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	return nil
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}

// WriteFunctions writes a row of CSV for each function.
func WriteFunctions(out io.Writer, all []FunctionSummary) error {
	rows := [][]string{{"function", "mem_mb", "requests", "cold", "delayed", "warm", "errors", "slowdown_p50", "slowdown_p99", "latency_p50_ms", "latency_p99_ms"}}
	for _, f := range all {
		rows = append(rows, []string{
			f.Name, strconv.FormatInt(f.MemMB, 10), strconv.Itoa(f.Requests), strconv.Itoa(f.Cold), strconv.Itoa(f.Delayed), strconv.Itoa(f.Warm),
			strconv.Itoa(f.Errors), strconv.FormatFloat(f.P50, 'g', 6, 64), strconv.FormatFloat(f.P99, 'g', 6, 64), ms(f.Latency.P50), ms(f.Latency.P99),
		})
	}
	if err := csv.NewWriter(out).WriteAll(rows); err != nil {
		return fmt.Errorf("write functions: %w", err)
	}
	return nil
}

// Range and resolution of the histogram: 1 us to an hour, three digits.
const (
	leastMicros  = 1
	mostMicros   = int64(time.Hour / time.Microsecond)
	digits       = 3
	ticksPerHalf = 5
)

// WriteHistogram writes the percentiles of the latencies of good answers in the
// text form of HdrHistogram, which its plotters read; values are ms.
func WriteHistogram(out io.Writer, samples []Sample) error {
	h := hdrhistogram.New(leastMicros, mostMicros, digits)
	for i := range samples {
		if samples[i].Err != nil {
			continue
		}
		micros := min(max(samples[i].Latency.Microseconds(), leastMicros), mostMicros)
		if err := h.RecordValue(micros); err != nil {
			return fmt.Errorf("write histogram: %w", err)
		}
	}
	if _, err := h.PercentilesPrint(out, ticksPerHalf, 1000); err != nil {
		return fmt.Errorf("write histogram: %w", err)
	}
	return nil
}
