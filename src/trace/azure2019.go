package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Set are the three files of the Azure Functions 2019 trace, or of the samples
// that InVitro draws from it.
type Set struct {
	Invocations, Durations, Memory string    // names, for errors
	InvocationsR                   io.Reader // HashOwner,HashApp,HashFunction,Trigger, then a column per minute
	DurationsR                     io.Reader // HashFunction, Average, percentile_Average_0 ... _100 by name; ms
	MemoryR                        io.Reader // AverageAllocatedMb by name, with HashFunction (InVitro) or without (2019)
}

// Azure2019 joins the three files. Memory that is given by application is
// shared out evenly among its functions in the file of invocations. Functions
// without an execution time or a memory are left out and counted in
// Source.Skipped. Published average percentiles are not always monotonic: one
// that is below its predecessor counts as equal to it.
func Azure2019(set Set) (Source, error) {
	functions, apps, err := readCounts(set.Invocations, set.InvocationsR)
	if err != nil {
		return Source{}, err
	}
	durations, err := readDurations(set.Durations, set.DurationsR)
	if err != nil {
		return Source{}, err
	}
	memory, err := readMemory(set.Memory, set.MemoryR)
	if err != nil {
		return Source{}, err
	}
	perApp := map[string]float64{}
	for _, app := range apps {
		perApp[app]++
	}
	s := Source{Name: set.Invocations}
	for i, f := range functions {
		d, known := durations[f.ID]
		mb, ok := memory[f.ID]
		if !ok {
			mb, ok = memory[apps[i]]
			mb /= perApp[apps[i]]
		}
		if !known || !ok {
			s.Skipped++
			continue
		}
		f.Exec, f.AvgExec, f.MemMB = d.exec, d.average, mb
		s.Functions = append(s.Functions, f)
	}
	if len(s.Functions) == 0 {
		return Source{}, fmt.Errorf("read %s: no function has counts, durations and memory", set.Invocations)
	}
	return s, nil
}

const triggerColumn = 3

// readCounts returns functions with their counts, and their applications.
func readCounts(name string, r io.Reader) ([]Function, []string, error) {
	t, header, err := open(name, r)
	if err != nil {
		return nil, nil, err
	}
	if _, err := t.find(header, "HashApp", "HashFunction", "Trigger"); err != nil {
		return nil, nil, err
	}
	minutes := len(header) - triggerColumn - 1
	for i := range minutes {
		if _, err := strconv.Atoi(header[triggerColumn+1+i]); err != nil {
			return nil, nil, &RowError{name, 1, 1, "minute numbers after the column Trigger", header[triggerColumn+1+i]}
		}
	}
	if minutes < 1 {
		return nil, nil, &RowError{name, 1, 1, "at least one minute after the column Trigger", clip(strings.Join(header, ","))}
	}
	var all []Function
	var apps []string
	err = t.each(func(record []string) error {
		if err := t.checkName(record, 2); err != nil {
			return err
		}
		f := Function{ID: strings.Clone(record[2]), PerMinute: make([]int, minutes)}
		for i := range f.PerMinute {
			n, err := t.count(record, triggerColumn+1+i)
			if err != nil {
				return err
			}
			f.PerMinute[i] = n
		}
		all = append(all, f)
		apps = append(apps, strings.Clone(record[1]))
		return nil
	})
	return all, apps, err
}

type duration struct {
	exec    Percentiles
	average time.Duration
}

func readDurations(name string, r io.Reader) (map[string]duration, error) {
	t, header, err := open(name, r)
	if err != nil {
		return nil, err
	}
	at, err := t.find(header, "HashFunction", "Average", "percentile_Average_0", "percentile_Average_1", "percentile_Average_25",
		"percentile_Average_50", "percentile_Average_75", "percentile_Average_99", "percentile_Average_100")
	if err != nil {
		return nil, err
	}
	all := map[string]duration{}
	err = t.each(func(record []string) error {
		average, err := t.number(record, at[1], maxMillis)
		if err != nil {
			return err
		}
		d := duration{average: fromMillis(average)}
		for i := range d.exec {
			v, err := t.number(record, at[2+i], maxMillis)
			if err != nil {
				return err
			}
			d.exec[i] = fromMillis(v)
			if i > 0 {
				d.exec[i] = max(d.exec[i], d.exec[i-1])
			}
		}
		all[strings.Clone(record[at[0]])] = d
		return nil
	})
	return all, err
}

func fromMillis(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// readMemory returns MB by function, or by application.
func readMemory(name string, r io.Reader) (map[string]float64, error) {
	t, header, err := open(name, r)
	if err != nil {
		return nil, err
	}
	key := "HashFunction"
	if !slices.Contains(header, key) {
		key = "HashApp"
	}
	at, err := t.find(header, key, "AverageAllocatedMb")
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	err = t.each(func(record []string) error {
		mb, err := t.number(record, at[1], maxMB)
		all[strings.Clone(record[at[0]])] = mb
		return err
	})
	return all, err
}
