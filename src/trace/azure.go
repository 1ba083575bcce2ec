package trace

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
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

// open prepares a table with the named columns, which may stand anywhere.
func open(name string, r io.Reader) (*table, []string, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	t := &table{name: name, csv: csv.NewReader(plain)}
	header, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, &RowError{name, 1, 1, "a header", ""}
	}
	if err != nil {
		return nil, nil, t.syntax(err)
	}
	t.csv.ReuseRecord = true
	return t, slices.Clone(header), nil
}

func (t *table) find(header []string, names ...string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, &RowError{t.name, 1, 1, "a column " + name, clip(strings.Join(header, ","))}
		}
	}
	return at, nil
}

// each calls f with every row until the end.
func (t *table) each(f func(record []string) error) error {
	for {
		record, err := t.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return t.syntax(err)
		}
		if err := f(record); err != nil {
			return err
		}
	}
}

func (t *table) number(record []string, i int) (float64, error) {
	v, err := strconv.ParseFloat(record[i], 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, t.wrong(i, "a number of at least 0", record[i])
	}
	return v, nil
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
		f := Function{ID: strings.Clone(record[2]), PerMinute: make([]int, minutes)}
		for i := range f.PerMinute {
			column := triggerColumn + 1 + i
			n, err := strconv.Atoi(record[column])
			if err != nil || n < 0 {
				return t.wrong(column, "a count of at least 0", record[column])
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
		average, err := t.number(record, at[1])
		if err != nil {
			return err
		}
		d := duration{average: fromMillis(average)}
		for i := range d.exec {
			v, err := t.number(record, at[2+i])
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
		mb, err := t.number(record, at[1])
		all[strings.Clone(record[at[0]])] = mb
		return err
	})
	return all, err
}

// loadSet finds the three files in a directory by their names.
func loadSet(dir string) (Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Source{}, fmt.Errorf("load trace: %w", err)
	}
	find := func(part string) (string, error) {
		for _, e := range entries {
			if strings.Contains(e.Name(), part) && strings.Contains(e.Name(), ".csv") {
				return filepath.Join(dir, e.Name()), nil
			}
		}
		return "", fmt.Errorf("load trace: directory %s has no CSV file with %q in its name", dir, part)
	}
	var paths [3]string
	for i, part := range []string{"invocations", "durations", "memory"} {
		if paths[i], err = find(part); err != nil {
			return Source{}, err
		}
	}
	return loadThree(paths)
}

// loadBeside finds the other two files of a set next to the invocations.
func loadBeside(path string) (Source, error) {
	dir, base := filepath.Split(path)
	if !strings.Contains(base, "invocations") {
		return Source{}, fmt.Errorf("load trace: %s holds invocations per minute and has no %q in its name: give the directory that holds durations and memory too", path, "invocations")
	}
	named := func(part string) string { return filepath.Join(dir, strings.Replace(base, "invocations", part, 1)) }
	return loadThree([3]string{path, named("durations"), named("memory")})
}

func loadThree(paths [3]string) (Source, error) {
	var files [3]*os.File
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return Source{}, fmt.Errorf("open trace: %w", err)
		}
		defer f.Close() //nolint:errcheck // read only
		files[i] = f
	}
	s, err := Azure2019(Set{paths[0], paths[1], paths[2], files[0], files[1], files[2]})
	s.Name = filepath.Base(paths[0])
	return s, err
}

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
		end, err := t.number(record, at[2])
		if err != nil {
			return err
		}
		exec, err := t.number(record, at[3])
		if err != nil {
			return err
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

func fromSeconds(v float64) time.Duration { return time.Duration(math.Round(v * float64(time.Second))) }
