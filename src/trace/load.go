package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Source is a trace to which no seed and no model was applied yet. One of
// Functions, Calls and Synthetic is set.
type Source struct {
	Name, Note string
	Functions  []Function             // per-minute rows
	Calls      func() (Stream, error) // invocations as they happened, in order of time
	Synthetic  *Synthetic             // generated
	// Calibration says what a generated trace was fitted to; nil: to nothing.
	Calibration *Calibration
	Skipped     int // functions left out because the data does not say enough of them
}

// Seeded tells whether a seed changes anything: invocations that are recorded
// one by one are one trace, whatever the seed.
func (s Source) Seeded() bool { return s.Calls == nil }

// Workload makes a workload. Invocations that are recorded one by one, and generated
// ones, take of the options what cuts them (First, Minutes, MaxExec) and, if they are
// generated, the seed: they have arrivals, memory and cold starts of their own, and the
// model says nothing of them.
func (s Source) Workload(o Options, m Model) (Workload, error) {
	switch {
	case s.Synthetic != nil:
		w, err := s.Synthetic.Workload(o.Seed)
		if err != nil {
			return w, err
		}
		w.Name, w.Note = s.Name, s.Note
		if err := o.in(w); err != nil {
			return Workload{}, err
		}
		return cut(o.capped(w), o)
	case s.Calls != nil:
		return cut(o.capped(Workload{Name: s.Name, Note: s.Note, Open: s.Calls}), o)
	}
	w, err := PerMinute(s.Name, s.Functions, o, m)
	w.Note = s.Note
	return w, err
}

// in tells whether a workload has the minutes that are asked for.
func (o Options) in(w Workload) error {
	whole := int((w.Span + time.Minute - 1) / time.Minute)
	if o.First >= 0 && o.First < whole && o.Minutes >= 0 && o.Minutes <= whole-o.First {
		return nil
	}
	asked := fmt.Sprintf("minute %d", o.First+1)
	if o.Minutes > 0 {
		asked = fmt.Sprintf("minutes %d to %d", o.First+1, o.First+o.Minutes)
	}
	return fmt.Errorf("cut trace %s: %s asked for, the trace has %d", w.Name, asked, whole)
}

// capped cuts execution times.
func (o Options) capped(w Workload) Workload {
	if o.MaxExec == 0 {
		return w
	}
	open := w.Open
	w.Open = func() (Stream, error) {
		s, err := open()
		if err != nil {
			return nil, err
		}
		return capped{s, o}, nil
	}
	return w
}

// capped is a stream with execution times that are cut.
type capped struct {
	Stream
	o Options
}

func (c capped) Next(out *Invocation) (bool, error) {
	ok, err := c.Stream.Next(out)
	out.Exec = min(out.Exec, c.o.MaxExec)
	return ok, err
}

// Names lists the traces that ship with the project, generated ones last.
func Names() []string { return append([]string{"s1", "s2", "demo"}, Generated()...) }

// Named returns a trace that ships with the project, draw-1 to draw-99 (see
// Draw) among them, and generated ones with other parameters (azure-like:burst=6); false if there is none of that name.
func Named(name string) (Source, bool, error) {
	var read func() ([]Function, error)
	note := ""
	switch name {
	case "s1":
		read = Busiest
	case "s2":
		read, note = Folded, FoldedNote
	case "demo":
		read = Excerpt
	default:
		if slices.Contains(Generated(), name) {
			s, err := generated(name)
			return s, true, err
		}
		if strings.Contains(name, ":") {
			return varied(name)
		}
		return drawn(name)
	}
	functions, err := read()
	return Source{Name: name, Note: note, Functions: functions}, true, err
}

// Load reads a trace from a file or a directory and finds out its form:
//
//   - the per-minute form of Read;
//   - the per-invocation form of Calls;
//   - the invocations of Azure Functions 2021 (see Azure2021);
//   - the parameters of a generated trace (see WriteWorkload);
//   - Azure Functions 2019 or InVitro: a directory with the three files, or the
//     file of invocations with the other two beside it (see Azure2019).
//
// Files may be compressed with gzip or Zstandard.
func Load(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, fmt.Errorf("load trace: %w", err)
	}
	if info.IsDir() {
		return loadSet(setIn(path))
	}
	head, err := firstLine(path)
	if err != nil {
		return Source{}, err
	}
	first, _, _ := strings.Cut(head, ",")
	switch {
	case strings.HasPrefix(head, "{"):
		return loadWorkload(path)
	case strings.HasPrefix(head, countsHead):
		return loadSet(setBeside(path))
	case strings.HasPrefix(head, "app,func,end_timestamp"):
		return loadFile(path, func(name string, r io.Reader) (Source, error) { return Azure2021(name, r, DefaultMB) })
	case first == "id":
		return loadFile(path, func(name string, r io.Reader) (Source, error) {
			functions, err := Read(name, r)
			return Source{Name: name, Functions: functions}, err
		})
	case first == callColumns()[0] || isNumber(first):
		return Source{Name: filepath.Base(path), Calls: func() (Stream, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, fmt.Errorf("open trace: %w", err)
			}
			return Calls(path, f)
		}}, nil
	}
	return Source{}, &RowError{path, 1, 1, "the header of a known form (id,mem_mb,..., t_ms,function,..., HashOwner,..., app,func,...)", clip(head)}
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.eE+-") == ""
}

// loadFile reads a file by a function of its name and content.
func loadFile(path string, read func(string, io.Reader) (Source, error)) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return Source{}, fmt.Errorf("open trace: %w", err)
	}
	s, err := read(path, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return Source{}, err
	}
	s.Name = filepath.Base(path)
	return s, nil
}

// loadWorkload keeps the name that the file gives.
func loadWorkload(path string) (source Source, err error) {
	_, err = loadFile(path, func(name string, r io.Reader) (Source, error) {
		source, err = readWorkload(name, r)
		return source, err
	})
	return source, err
}

func firstLine(path string) (line string, err error) {
	_, err = loadFile(path, func(_ string, r io.Reader) (Source, error) {
		plain, err := decompress(r)
		if err != nil {
			return Source{}, fmt.Errorf("read %s: %w", path, err)
		}
		line, err = bufio.NewReader(plain).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("read %s: %w", path, err)
		}
		line = strings.TrimSpace(line)
		return Source{}, err
	})
	return line, err
}
