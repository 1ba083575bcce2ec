package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Function is one row of a per-minute trace.
type Function struct {
	ID        string
	MemMB     float64
	Exec      Percentiles
	AvgExec   time.Duration // mean execution time as the data states it
	PerMinute []int         // invocations in each minute
}

// Requests is the number of invocations in all minutes.
func (f Function) Requests() int {
	sum := 0
	for _, n := range f.PerMinute {
		sum += n
	}
	return sum
}

// RowError says where a trace is broken. It is found by errors.As.
type RowError struct {
	File         string
	Line, Column int    // from 1; Column counts bytes
	Want, Got    string // what was expected there, and what stands there
}

// Error has the form file:line:column: expected ..., got ....
func (e *RowError) Error() string {
	return fmt.Sprintf("%s:%d:%d: expected %s, got %q", e.File, e.Line, e.Column, e.Want, e.Got)
}

// Read reads a per-minute trace in CSV, gzip-compressed or not. The header is
// id, mem_mb, d_p0, d_p1, d_p25, d_p50, d_p75, d_p99, d_p100, d_avg, then m1,
// m2, ...; times are in milliseconds. The name is used in errors only, which
// are *RowError where a row is at fault.
func Read(name string, r io.Reader) ([]Function, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	rows := csv.NewReader(plain)
	rows.ReuseRecord = true
	t := table{name: name, csv: rows}
	if err := t.header(); err != nil {
		return nil, err
	}
	var all []Function
	for {
		f, err := t.row()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
}

// fixedColumns come before the minutes.
func fixedColumns() []string {
	return []string{"id", "mem_mb", "d_p0", "d_p1", "d_p25", "d_p50", "d_p75", "d_p99", "d_p100", "d_avg"}
}

// table is a trace being read.
type table struct {
	name    string
	csv     *csv.Reader
	minutes int
}

func (t *table) header() error {
	record, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return &RowError{t.name, 1, 1, "a header that begins with id,mem_mb,d_p0", ""}
	}
	if err != nil {
		return t.syntax(err)
	}
	fixed := fixedColumns()
	for i, want := range fixed {
		if i >= len(record) {
			return &RowError{t.name, 1, 1, "a column " + want, strings.Join(record, ",")}
		}
		if record[i] != want {
			return t.wrong(i, "a column "+want, record[i])
		}
	}
	for i, got := range record[len(fixed):] {
		if want := "m" + strconv.Itoa(i+1); got != want {
			return t.wrong(len(fixed)+i, "a column "+want, got)
		}
	}
	t.minutes = len(record) - len(fixed)
	if t.minutes == 0 {
		return &RowError{t.name, 1, 1, "at least one column m1", strings.Join(record, ",")}
	}
	return nil
}

func (t *table) row() (Function, error) {
	record, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return Function{}, io.EOF
	}
	if err != nil {
		return Function{}, t.syntax(err)
	}
	if err := t.checkName(record, 0); err != nil {
		return Function{}, err
	}
	f := Function{ID: strings.Clone(record[0]), PerMinute: make([]int, t.minutes)}
	numbers := make([]float64, len(fixedColumns()))
	for i := 1; i < len(numbers); i++ {
		most := maxMillis
		if i == 1 {
			most = maxMB
		}
		if numbers[i], err = t.number(record, i, most); err != nil {
			return Function{}, err
		}
	}
	f.MemMB = numbers[1]
	f.AvgExec = fromMillis(numbers[9])
	for i := range f.Exec {
		f.Exec[i] = fromMillis(numbers[2+i])
		if i > 0 && f.Exec[i] < f.Exec[i-1] {
			return Function{}, t.wrong(2+i, "at least the percentile before it", record[2+i])
		}
	}
	for i := range f.PerMinute {
		if f.PerMinute[i], err = t.count(record, len(numbers)+i); err != nil {
			return Function{}, err
		}
	}
	return f, nil
}

// wrong locates field i of the row that was read last.
func (t *table) wrong(i int, want, got string) error {
	line, column := t.csv.FieldPos(i)
	return &RowError{t.name, line, column, want, strings.Clone(got)}
}

// syntax turns an error of the CSV reader into ours.
func (t *table) syntax(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("read %s: %w", t.name, err)
	}
	want := "well-formed CSV"
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		want = fmt.Sprintf("%d columns as in the header", t.csv.FieldsPerRecord)
	}
	return &RowError{t.name, parse.Line, max(parse.Column, 1), want, parse.Err.Error()}
}
