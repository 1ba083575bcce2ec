package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Log keeps evaluations in a file, a line each, so that a search that was
// interrupted goes on from it: the search is deterministic and asks for the same ones
// again. The first line names the plan and the program; a file of another one is
// begun anew. The zero value keeps them in memory.
type Log struct {
	f     *os.File
	known map[trace.Synthetic][]float64
}

// entry is a line of the file.
type entry struct {
	Parameters []float64 `json:"p"` // in the order of trace.Parameters
	Values     []float64 `json:"v"` // by target
}

// OpenLog opens or begins the file of a plan.
func (p *Plan) OpenLog(path, build string) (*Log, error) {
	head, err := json.Marshal(struct {
		Build string
		Plan  Plan
	}{build, p.identity()})
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	l := &Log{known: map[trace.Synthetic][]float64{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read evaluations: %w", err)
	}
	kept := l.read(text, head)
	if l.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, fmt.Errorf("open evaluations: %w", err)
	}
	if kept == 0 {
		kept, text = len(head)+1, append(head, '\n')
	}
	_, err = l.f.WriteAt(text[:kept], 0)
	if err == nil {
		err = l.f.Truncate(int64(kept))
	}
	if err == nil {
		_, err = l.f.Seek(int64(kept), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin evaluations: %w", err), l.f.Close())
	}
	return l, nil
}

// identity leaves out what does not change an evaluation.
func (p *Plan) identity() Plan {
	same := *p
	same.Evaluations, same.Parallel = 0, 0
	return same
}

// read takes whole lines and returns how many bytes of the text count.
func (l *Log) read(text, head []byte) int {
	rest, ok := bytes.CutPrefix(text, append(bytes.Clone(head), '\n'))
	if !ok {
		return 0
	}
	kept := len(text) - len(rest)
	for {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		var e entry
		if !ok || json.Unmarshal(line, &e) != nil || len(e.Parameters) != len(trace.Parameters()) {
			return kept // cut short: it is evaluated anew
		}
		var s trace.Synthetic
		for i, q := range trace.Parameters() {
			q.Set(&s, e.Parameters[i])
		}
		l.known[s] = e.Values
		kept += len(line) + 1
		rest = after
	}
}

// Len is the number of evaluations that are kept.
func (l *Log) Len() int { return len(l.known) }

// once evaluates what is not known and keeps it.
func (l *Log) once(s trace.Synthetic, evaluate func() ([]float64, error)) ([]float64, error) {
	if v, ok := l.known[s]; ok {
		return v, nil
	}
	v, err := evaluate()
	if err != nil {
		return nil, err
	}
	if l.known == nil {
		l.known = map[trace.Synthetic][]float64{}
	}
	l.known[s] = v
	if l.f == nil {
		return v, nil
	}
	e := entry{Values: v}
	for _, q := range trace.Parameters() {
		e.Parameters = append(e.Parameters, q.Get(&s))
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.f.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("keep evaluation: %w", err)
	}
	return v, nil
}

// Close closes the file.
func (l *Log) Close() error {
	if l.f == nil {
		return nil
	}
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("close evaluations: %w", err)
	}
	return nil
}
