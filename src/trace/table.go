package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

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

// checkName refuses what cannot be the name of a function: nothing, and what has
// line breaks, for CSV changes those (RFC 4180 has CRLF in fields; encoding/csv
// reads it as LF), so that the name would be another one when written and read.
func (t *table) checkName(record []string, i int) error {
	if record[i] == "" || strings.ContainsAny(record[i], "\r\n") {
		return t.wrong(i, "the function's name", record[i])
	}
	return nil
}

// mostPerMinute bounds a count: more is no rate of one function, and the sum
// over all minutes must stay a number.
const mostPerMinute = 1e9

// count parses how many invocations a minute had.
func (t *table) count(record []string, i int) (int, error) {
	n, err := strconv.Atoi(record[i])
	switch {
	case err != nil || n < 0:
		return 0, t.wrong(i, "a count of at least 0", record[i])
	case n > mostPerMinute:
		return 0, t.wrong(i, fmt.Sprintf("a count of at most %g", float64(mostPerMinute)), record[i])
	}
	return n, nil
}

// number parses a number of 0 to most. Times and memory need a bound, for they
// are turned into integers.
func (t *table) number(record []string, i int, most float64) (float64, error) {
	v, err := strconv.ParseFloat(record[i], 64)
	switch {
	case err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v):
		return 0, t.wrong(i, "a number of at least 0", record[i])
	case v > most:
		return 0, t.wrong(i, fmt.Sprintf("a number of at most %g", most), record[i])
	}
	return v, nil
}
