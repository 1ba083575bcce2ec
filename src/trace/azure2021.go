package trace

import (
	"cmp"
	"io"
	"math"
	"slices"
	"time"
)

// DefaultMB is the memory given to functions of a trace that has none: the
// request-weighted mean of the 2019 sample.
const DefaultMB = 106

// Azure2021 reads the invocations of the Azure Functions 2021 trace: app,
// func, end_timestamp, duration, both in seconds. Rows are in any order and
// are all read. The first arrival becomes moment 0. The trace says nothing of
// memory: every function gets mb, and the default model's cold start for it.
func Azure2021(name string, r io.Reader, mb float64) (Source, error) {
	t, header, err := open(name, r)
	if err != nil {
		return Source{}, err
	}
	at, err := t.find(header, "app", "func", "end_timestamp", "duration")
	if err != nil {
		return Source{}, err
	}
	ids := map[string]int{}
	var functions []Profile
	var all []Invocation
	err = t.each(func(record []string) error {
		end, err := t.number(record, at[2], mostSeconds)
		if err != nil {
			return err
		}
		exec, err := t.number(record, at[3], mostSeconds)
		if err != nil {
			return err
		}
		for _, i := range at[:2] {
			if err := t.checkName(record, i); err != nil {
				return err
			}
		}
		key := record[at[0]] + "/" + record[at[1]]
		id, known := ids[key]
		if !known {
			id = len(functions)
			ids[key] = id
			functions = append(functions, DefaultModel().Profile(key, mb))
		}
		all = append(all, Invocation{At: fromSeconds(end - exec), Function: id, Exec: fromSeconds(exec)})
		return nil
	})
	if err != nil {
		return Source{}, err
	}
	slices.SortStableFunc(all, func(a, b Invocation) int { return cmp.Compare(a.At, b.At) })
	for i := len(all) - 1; i >= 0; i-- {
		all[i].At -= all[0].At
	}
	return Source{Name: name, Calls: func() (Stream, error) {
		return &slice{functions: functions, all: all}, nil
	}}, nil
}

// mostSeconds is more than any trace has, and far less than a Duration holds.
const mostSeconds = 1e9

func fromSeconds(v float64) time.Duration { return time.Duration(math.Round(v * float64(time.Second))) }
