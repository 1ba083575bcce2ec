package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Group is the control group of one sandbox.
type Group struct {
	name    string
	unified string            // v2 directory
	v1      map[string]string // v1 directory by controller
	v2      map[string]bool
	dir     *os.File // open v2 directory, for clone3
	events  *os.File // open cgroup.events

	mu       sync.Mutex
	limits   Limits // as last written
	oomStart int64  // OOM kills when the present user took it
	cpuStart int64
	spent    bool // killed as a whole: not to be used again
}

// Make makes a group. The name must be new.
func (d *Driver) Make(name string) (*Group, error) {
	g, err := d.group(name)
	if err != nil {
		return nil, err
	}
	if err := makeAll(g.dirs()); err != nil {
		return nil, err
	}
	err = g.open()
	if err == nil {
		err = d.give(g.unified)
	}
	if err != nil {
		g.Close()
		_ = g.removeDirs() // the first error says more
		return nil, err
	}
	return g, nil
}

// Adopt returns a group that other software has made under Folder, and
// removes. The caller closes it.
func (d *Driver) Adopt(name string) (*Group, error) {
	g, err := d.group(name)
	if err != nil {
		return nil, err
	}
	if err := g.open(); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// group knows the places of a group that may not be there.
func (d *Driver) group(name string) (*Group, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("make cgroup: bad name %q", name)
	}
	g := &Group{name: name, unified: filepath.Join(d.unified, name), v1: map[string]string{}, v2: d.v2}
	for c, base := range d.v1 {
		g.v1[c] = filepath.Join(base, name)
	}
	return g, nil
}

// makeAll makes every directory or none.
func makeAll(dirs []string) error {
	for i, dir := range dirs {
		if err := os.Mkdir(dir, 0o755); err != nil {
			for _, made := range dirs[:i] {
				_ = unix.Rmdir(made) // just made and empty
			}
			return fmt.Errorf("make cgroup: %w", err)
		}
	}
	return nil
}

func (g *Group) open() error {
	var err error
	if g.dir, err = os.Open(g.unified); err != nil {
		return fmt.Errorf("open cgroup: %w", err)
	}
	if g.events, err = os.Open(filepath.Join(g.unified, "cgroup.events")); err != nil {
		return fmt.Errorf("open cgroup events: %w", err)
	}
	return nil
}

// Name is the name that the group was made with.
func (g *Group) Name() string { return g.name }

// Path is the group's v2 directory.
func (g *Group) Path() string { return g.unified }

// FD is the open v2 directory, for CLONE_INTO_CGROUP. It is valid until the
// group is removed.
func (g *Group) FD() int { return int(g.dir.Fd()) }

// File is the open v2 directory.
func (g *Group) File() *os.File { return g.dir }

// Attach puts a process that was cloned into the v2 directory into the v1
// hierarchies too. Memory that it touched before stays charged elsewhere.
func (g *Group) Attach(pid int) error {
	for _, dir := range g.v1Dirs() {
		if err := writeFile(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("attach process to cgroup: %w", err)
		}
	}
	return nil
}

// Enter moves a process into the group in every hierarchy.
func (g *Group) Enter(pid int) error {
	if err := writeFile(g.unified, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("move process to cgroup: %w", err)
	}
	return g.Attach(pid)
}

// v1Dirs lists the distinct v1 directories in a fixed order.
func (g *Group) v1Dirs() []string { return g.dirs()[1:] }

func (g *Group) dirs() []string {
	dirs := []string{g.unified}
	for _, c := range wanted {
		if dir, ok := g.v1[c]; ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Close lets go of the group without removing it.
func (g *Group) Close() {
	if g.dir != nil {
		g.dir.Close()
	}
	if g.events != nil {
		g.events.Close()
	}
}

func (g *Group) removeDirs() error {
	var first error
	for _, dir := range g.dirs() {
		err := unix.Rmdir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && first == nil {
			first = &os.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
	return first
}
