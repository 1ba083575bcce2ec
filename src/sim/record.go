package sim

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Record is what became of one request.
type Record struct {
	At       time.Duration // arrival, since the beginning of the pass
	Function string
	Kind     policies.Kind
	Blocked  bool
	Wait     time.Duration
	Exec     time.Duration
	Node     int
	Sandbox  policies.SandboxID
	Rejected engine.Reason // ReasonNone if it was served
}

func (r *run) record(q *request, _ policies.RequestID, why engine.Reason) {
	if r.cfg.Records == nil || r.err != nil {
		return
	}
	r.err = r.cfg.Records(&Record{
		At: q.arrived.Sub(r.m.begin), Function: r.functions[q.fn].Name, Kind: q.kind, Blocked: q.blocked,
		Wait: q.wait, Exec: q.exec, Node: int(q.node), Sandbox: q.sandbox, Rejected: why,
	})
}

// RecordColumns is the header of the CSV form of records.
const RecordColumns = "t_ms,function,start,blocked,wait_ms,exec_ms,node,sandbox,status"

// RecordWriter writes records as CSV, in the order in which requests end.
type RecordWriter struct {
	w   *bufio.Writer
	buf []byte
}

// NewRecordWriter writes the header.
func NewRecordWriter(w io.Writer) (*RecordWriter, error) {
	rw := &RecordWriter{w: bufio.NewWriterSize(w, 1<<16)}
	if _, err := rw.w.WriteString(RecordColumns + "\n"); err != nil {
		return nil, fmt.Errorf("write records: %w", err)
	}
	return rw, nil
}

// Write adds a record. It is a Config.Records.
func (w *RecordWriter) Write(r *Record) error {
	b := appendMillis(w.buf[:0], r.At)
	b = append(b, ',')
	b = appendField(b, r.Function)
	b = append(b, ',')
	start, status := r.Kind.String(), "ok"
	if r.Rejected != engine.ReasonNone {
		start, status = "", r.Rejected.String()
	}
	b = append(b, start...)
	b = append(b, ',')
	b = strconv.AppendBool(b, r.Blocked)
	b = append(b, ',')
	b = appendMillis(b, r.Wait)
	b = append(b, ',')
	b = appendMillis(b, r.Exec)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(r.Node), 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(r.Sandbox), 10)
	b = append(b, ',')
	b = append(b, status...)
	b = append(b, '\n')
	w.buf = b
	if _, err := w.w.Write(b); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// Flush writes what is left.
func (w *RecordWriter) Flush() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

func appendMillis(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, millis(d), 'f', 3, 64)
}

// appendField quotes a field that CSV would misread.
func appendField(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
