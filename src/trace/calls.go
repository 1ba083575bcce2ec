package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// callColumns is the header of the per-invocation form. It may be absent.
func callColumns() []string { return []string{"t_ms", "function", "exec_ms", "mem_mb", "cold_ms"} }

// Calls reads the per-invocation form, one row per invocation in order of
// time, compressed or not: arrival in ms since the beginning, function,
// execution time in ms, memory in MB, cold start in ms. It reads as it is
// asked, so that the trace may be larger than memory. Closing the stream
// closes r if r is an io.Closer.
func Calls(name string, r io.Reader) (Stream, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	rows := csv.NewReader(plain)
	rows.ReuseRecord = true
	rows.FieldsPerRecord = len(callColumns())
	return &calls{table: table{name: name, csv: rows}, from: r, ids: map[string]int{}}, nil
}

type calls struct {
	table
	from      io.Reader
	ids       map[string]int
	functions []Profile
	last      time.Duration
	rows      int
}

func (c *calls) Functions() []Profile { return c.functions }

func (c *calls) Close() error {
	if closer, ok := c.from.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

func (c *calls) Next(out *Invocation) (bool, error) {
	record, err := c.csv.Read()
	if err == nil && c.rows == 0 && record[0] == callColumns()[0] {
		if err := c.checkHeader(record); err != nil {
			return false, err
		}
		record, err = c.csv.Read()
	}
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, c.syntaxOf(err)
	}
	c.rows++
	return true, c.parse(record, out)
}

func (c *calls) syntaxOf(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) && errors.Is(parse.Err, csv.ErrFieldCount) {
		want := "the 5 columns " + strings.Join(callColumns(), ",")
		return &RowError{c.name, parse.Line, max(parse.Column, 1), want, parse.Err.Error()}
	}
	return c.syntax(err)
}

func (c *calls) checkHeader(record []string) error {
	for i, want := range callColumns() {
		if record[i] != want {
			return c.wrong(i, "a column "+want, record[i])
		}
	}
	return nil
}

func (c *calls) parse(record []string, out *Invocation) error {
	var err error
	if out.At, err = c.millis(record, 0); err != nil {
		return err
	}
	if out.At < c.last {
		return c.wrong(0, fmt.Sprintf("a time of at least %v ms, that of the row before", millis(c.last)), record[0])
	}
	c.last = out.At
	if out.Exec, err = c.millis(record, 2); err != nil {
		return err
	}
	out.Function, err = c.function(record)
	return err
}

// function returns the index of the row's function, whose memory and cold
// start must be those of its first row.
func (c *calls) function(record []string) (int, error) {
	mb, err := strconv.ParseFloat(record[3], 64)
	if err != nil || math.IsNaN(mb) || mb < 0 || mb > maxMB {
		return 0, c.wrong(3, "a memory of 0 to "+strconv.Itoa(maxMB)+" MB", record[3])
	}
	cold, err := c.millis(record, 4)
	if err != nil {
		return 0, err
	}
	if err := c.checkName(record, 1); err != nil {
		return 0, err
	}
	p := Profile{MB: max(1, int64(math.Ceil(mb))), Cold: cold}
	i, known := c.ids[record[1]]
	switch {
	case !known:
		i, p.Name = len(c.functions), strings.Clone(record[1])
		c.ids[p.Name] = i
		c.functions = append(c.functions, p)
	case c.functions[i].MB != p.MB:
		return 0, c.wrong(3, fmt.Sprintf("%d, the memory of %s before", c.functions[i].MB, record[1]), record[3])
	case c.functions[i].Cold != p.Cold:
		return 0, c.wrong(4, fmt.Sprintf("%v, the cold start of %s before", millis(c.functions[i].Cold), record[1]), record[4])
	}
	return i, nil
}

const (
	maxMB     = 1 << 30
	maxMillis = 1e11 // three years
)

// millis reads a time in ms of column i, to the nanosecond.
func (t *table) millis(record []string, i int) (time.Duration, error) {
	v, err := strconv.ParseFloat(record[i], 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > maxMillis {
		return 0, t.wrong(i, "a time of at least 0 ms", record[i])
	}
	return time.Duration(math.Round(v * float64(time.Millisecond))), nil
}

// millis writes a time in ms without needless digits.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

// WriteCalls writes a stream in the per-invocation form, times in ms with as
// many decimals as they need, and returns how many invocations it wrote.
func WriteCalls(w io.Writer, s Stream) (int, error) {
	out := csv.NewWriter(w)
	if err := out.Write(callColumns()); err != nil {
		return 0, fmt.Errorf("write trace: %w", err)
	}
	for n := 0; ; n++ {
		var inv Invocation
		ok, err := s.Next(&inv)
		if err != nil {
			return n, err
		}
		if !ok {
			out.Flush()
			if err := out.Error(); err != nil {
				return n, fmt.Errorf("write trace: %w", err)
			}
			return n, nil
		}
		p := s.Functions()[inv.Function]
		row := []string{millis(inv.At), p.Name, millis(inv.Exec), strconv.FormatInt(p.MB, 10), millis(p.Cold)}
		if err := out.Write(row); err != nil {
			return n, fmt.Errorf("write trace: %w", err)
		}
	}
}
