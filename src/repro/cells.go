package repro

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Cells keeps results in files, one for each Point. Its directory is this process' own: see Hold.
type Cells struct {
	Dir   string
	Build string // of this program: cells of another one do not count
	// AnyBuild lets cells of other programs count, for work on drawings.
	AnyBuild bool

	mu       sync.Mutex // of what follows
	contents map[string]string
}

// BuildID identifies the running program by its content.
func BuildID() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find program: %w", err)
	}
	sum, err := fileSum(path)
	if err != nil {
		return "", fmt.Errorf("identify program: %w", err)
	}
	return sum[:16], nil
}

// path is that of a point's file.
func (c *Cells) path(p Point) string {
	key, _ := json.Marshal(p) // of numbers and strings: cannot fail
	sum := sha256.Sum256([]byte(string(key) + p.Workload + c.content(p.Workload)))
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:10])+".json")
}

// content reads the files of a workload once.
func (c *Cells) content(workload string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.contents[workload]
	if !ok {
		known = content(workload)
		if c.contents == nil {
			c.contents = map[string]string{}
		}
		c.contents[workload] = known
	}
	return known
}

// load returns the result of a point, nil if there is none that counts.
func (c *Cells) load(p Point) *Measured {
	text, err := os.ReadFile(c.path(p))
	if err != nil {
		return nil
	}
	var m Measured
	if json.Unmarshal(text, &m) != nil || m.Point != p || m.Result == nil || m.Build != c.Build && !c.AnyBuild {
		return nil // cut short, or of another program: it is measured anew
	}
	m.bytes = int64(len(text))
	return &m
}

// save writes a result. An interruption leaves the whole file or none.
func (c *Cells) save(m *Measured) error {
	m.Build = c.Build
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode cell: %w", err)
	}
	m.bytes = int64(len(text))
	return writeFile(c.path(m.Point), text)
}

// writeFile replaces a file at once.
func writeFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to report
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// makeCells makes a directory of cells.
func makeCells(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory of cells: %w", err)
	}
	return nil
}
