package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// outputs are files of results. They are written under temporary names and
// appear all together at the end, or not at all.
type outputs struct {
	dir   string // "" writes nothing
	temp  string
	names []string
	done  bool
	kept  bool // unfinished as they are
	made  bool // dir did not exist before
	open  map[study.Key]*recordFile
}

type recordFile struct {
	f *os.File
	w *sim.RecordWriter
}

func newOutputs(s streams, dir string) (*outputs, error) {
	if dir == "" {
		return &outputs{}, nil
	}
	dir = s.abs(dir)
	_, err := os.Stat(dir)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory of results: %w", err)
	}
	temp, err := os.MkdirTemp(dir, ".unfinished-")
	if err != nil {
		return nil, fmt.Errorf("make directory of results: %w", err)
	}
	return &outputs{dir: dir, temp: temp, made: made, open: map[study.Key]*recordFile{}}, nil
}

// abort removes what was not finished. After commit it does nothing.
func (o *outputs) abort() {
	for _, r := range o.open {
		_ = r.f.Close() // it is removed next
	}
	if o.temp != "" && !o.kept {
		_ = os.RemoveAll(o.temp) // whatever is left there is hidden and ours
	}
	if o.made && !o.done {
		_ = os.Remove(o.dir) // only if it is empty
	}
}

// failed is the failure to write; abort then leaves what could be written.
func (o *outputs) failed(err error) error {
	o.kept = true
	return fail(codeFailed, "write results", err, "what could be written is in "+o.temp)
}

// commit moves all files to their names.
func (o *outputs) commit() error {
	for _, name := range o.names {
		if err := os.Rename(filepath.Join(o.temp, name), filepath.Join(o.dir, name)); err != nil {
			return fmt.Errorf("move results: %w", err)
		}
	}
	o.done = true
	return nil
}

// create makes a file that gets its name when it is whole.
func (o *outputs) create(name string) (*os.File, error) {
	f, err := os.Create(filepath.Join(o.temp, name))
	if err != nil {
		return nil, fmt.Errorf("create results: %w", err)
	}
	return f, nil
}

// write makes one file.
func (o *outputs) write(name string, content func(io.Writer) error) error {
	f, err := o.create(name)
	if err != nil {
		return err
	}
	if err := content(f); err != nil {
		_ = f.Close() // the first error is the one to report
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", name, err)
	}
	o.names = append(o.names, name)
	return nil
}

// records is a study.Plan.Hooks that writes a row for each request.
func (o *outputs) records(k study.Key, cfg *sim.Config) error {
	name := strings.NewReplacer(":", "-", "=", "-", "/", "-").Replace(k.Policy)
	f, err := o.create(fmt.Sprintf("requests-%s-%dmb-seed%d.csv", name, k.PoolMB, k.Seed))
	if err != nil {
		return err
	}
	w, err := sim.NewRecordWriter(f)
	if err != nil {
		return err
	}
	o.open[k] = &recordFile{f, w}
	cfg.Records = w.Write
	return nil
}

// recorded closes the records of a run that has ended.
func (o *outputs) recorded(k study.Key) error {
	r := o.open[k]
	if r == nil {
		return nil
	}
	delete(o.open, k)
	err := r.w.Flush()
	if closed := r.f.Close(); err == nil && closed != nil {
		err = fmt.Errorf("close records: %w", closed)
	}
	if err == nil {
		o.names = append(o.names, filepath.Base(r.f.Name()))
	}
	return err
}

// study writes the files of a study and commits.
func (o *outputs) study(r simReport, cells []study.Cell) error {
	if o.dir == "" {
		return nil
	}
	return o.writeAll([]resultFile{
		{"results.json", func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", " ")
			return enc.Encode(r)
		}},
		{"runs.csv", func(w io.Writer) error { return runRows(w, r.Seeds, cells) }},
		{"summary.csv", func(w io.Writer) error { return summaryRows(w, cells) }},
		{"memory.csv", func(w io.Writer) error { return memoryRows(w, r.Seeds, cells) }},
	})
}

// resultFile is a file of results.
type resultFile struct {
	name    string
	content func(io.Writer) error
}

// writeAll makes files, as many as it can, and commits if it could make all.
func (o *outputs) writeAll(files []resultFile) error {
	var failed error
	for _, f := range files {
		failed = errors.Join(failed, o.write(f.name, f.content))
	}
	if failed != nil {
		return failed
	}
	return o.commit()
}

func (o *outputs) tell(s streams) {
	if o.dir != "" {
		s.say("%s written to %s", plural(len(o.names), "file", "files"), o.dir)
	}
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }

// runRows writes a row for each run.
func runRows(w io.Writer, seeds []uint64, cells []study.Cell) error {
	head := []string{"policy", "pool_mb", "seed"}
	for _, f := range simFigures() {
		head = append(head, f.name)
	}
	rows := [][]string{append(head, "action_hash")}
	for _, c := range cells {
		for i, r := range c.Runs {
			row := []string{c.Policy, strconv.FormatInt(c.PoolMB, 10), strconv.FormatUint(seeds[i], 10)}
			for _, f := range simFigures() {
				row = append(row, digits(f.of(r)))
			}
			rows = append(rows, append(row, r.ActionHash))
		}
	}
	return writeRows(w, rows)
}

// summaryRows writes a row for each cell, mean and half width of the 95 %
// interval of each figure.
func summaryRows(w io.Writer, cells []study.Cell) error {
	head := []string{"policy", "pool_mb", "seeds"}
	for _, f := range simFigures() {
		head = append(head, f.name, f.name+"_half")
	}
	rows := [][]string{head}
	for i := range cells {
		c := &cells[i]
		row := []string{c.Policy, strconv.FormatInt(c.PoolMB, 10), strconv.Itoa(len(c.Runs))}
		for _, f := range simFigures() {
			v := c.Over(f.of)
			row = append(row, digits(v.Mean), digits(v.Half))
		}
		rows = append(rows, row)
	}
	return writeRows(w, rows)
}

func memoryRows(w io.Writer, seeds []uint64, cells []study.Cell) error {
	rows := [][]string{{"policy", "pool_mb", "seed", "t_s", "used_mb"}}
	for _, c := range cells {
		for i, r := range c.Runs {
			for _, p := range r.Memory {
				rows = append(rows, []string{
					c.Policy, strconv.FormatInt(c.PoolMB, 10), strconv.FormatUint(seeds[i], 10), digits(p.Seconds), digits(p.MB),
				})
			}
		}
	}
	return writeRows(w, rows)
}

func writeRows(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}
