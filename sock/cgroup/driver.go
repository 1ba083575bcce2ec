package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,100}$`)

// Driver makes the groups of one instance.
type Driver struct {
	instance string
	mount    string            // where the v2 tree is mounted
	unified  string            // v2 folder of the instance
	v1       map[string]string // v1 folder of the instance by controller
	v2       map[string]bool   // controllers that live on the v2 tree
	others   []string          // where a folder is in other hierarchies, if other software made groups for the instance
	delegate *int              // who may put processes into groups besides root; set before groups are made at the same time
}

// Open finds the host's layout and makes the instance's folders in it.
// instance is lower-case letters, digits, dots and dashes. The error names the
// first thing that the host lacks; Probe tells them all.
func Open(instance string) (*Driver, error) {
	layout, err := hostLayout()
	if err != nil {
		return nil, err
	}
	return OpenLayout(layout, instance)
}

// OpenLayout is Open for a layout that the caller knows.
func OpenLayout(l Layout, instance string) (*Driver, error) {
	if !validName.MatchString(instance) {
		return nil, fmt.Errorf("open cgroups: bad instance name %q", instance)
	}
	if l.Unified.Mount == "" {
		return nil, errors.New("open cgroups: no cgroup v2 tree is mounted")
	}
	d := &Driver{instance: "openlambda-" + instance, mount: l.Unified.Mount, v1: map[string]string{}, v2: map[string]bool{}}
	for controller, h := range l.V1 {
		dir, err := d.makeBase(h)
		if err != nil {
			return nil, err
		}
		d.v1[controller] = dir
	}
	for _, c := range l.v2Controllers() {
		d.v2[c] = true
	}
	for _, mount := range l.Others {
		d.others = append(d.others, filepath.Join(mount, d.instance))
	}
	return d, d.openUnified(l)
}

// Folder is the instance's folder relative to the root of each hierarchy, for
// other software that makes groups for the instance. Clean and Close remove
// those too, in all hierarchies.
func (d *Driver) Folder() (string, error) {
	rel, err := filepath.Rel(d.mount, d.unified)
	if err != nil {
		return "", fmt.Errorf("name cgroup folder: %w", err)
	}
	return "/" + rel, nil
}

func (d *Driver) openUnified(l Layout) error {
	dir, err := d.makeBase(l.Unified)
	if err != nil {
		return err
	}
	d.unified = dir
	if len(d.v2) == 0 {
		return nil
	}
	if err := enable(filepath.Dir(dir), l.v2Controllers()); err != nil {
		return err
	}
	return enable(dir, l.v2Controllers())
}

// makeBase makes the instance's folder at the root of the hierarchy, or in the
// own group where the root is not writable.
func (d *Driver) makeBase(h Hierarchy) (string, error) {
	var first error
	for _, parent := range []string{h.Mount, h.Own} {
		dir := filepath.Join(parent, d.instance)
		err := os.Mkdir(dir, 0o755)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return dir, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("make cgroup folder: %w", first)
}

// enable passes controllers on to the children of a v2 directory. A directory
// other than the real root may not hold processes then (cgroup-v2.rst, "No
// Internal Process Constraint"); if it holds some, as in a container, they
// move to a child made for them.
func enable(dir string, controllers []string) error {
	have, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return fmt.Errorf("read cgroup controllers: %w", err)
	}
	present := strings.Fields(string(have))
	var add []string
	for _, c := range controllers {
		if !slices.Contains(present, c) {
			add = append(add, "+"+c)
		}
	}
	if len(add) == 0 {
		return nil
	}
	err = writeFile(dir, "cgroup.subtree_control", strings.Join(add, " "))
	if errors.Is(err, unix.EBUSY) {
		if err = evacuate(dir); err == nil {
			err = writeFile(dir, "cgroup.subtree_control", strings.Join(add, " "))
		}
	}
	if err != nil {
		return fmt.Errorf("enable cgroup controllers in %s: %w", dir, err)
	}
	return nil
}

// evacuate moves the processes of a v2 directory into its child "init".
func evacuate(dir string) error {
	leaf := filepath.Join(dir, "init")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make cgroup for own processes: %w", err)
	}
	all, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("read own cgroup: %w", err)
	}
	for pid := range strings.FieldsSeq(string(all)) {
		if err := writeFile(leaf, "cgroup.procs", pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move process %s to cgroup: %w", pid, err)
		}
	}
	return nil
}

// Describe says in a few words where groups are made.
func (d *Driver) Describe() string {
	if len(d.v1) == 0 {
		return "cgroup v2 at " + d.unified
	}
	return "cgroup v2 at " + d.unified + ", limits by v1"
}

// folders lists every folder of the instance, the v2 one first.
func (d *Driver) folders() []string {
	dirs := []string{d.unified}
	for _, c := range wanted {
		if dir, ok := d.v1[c]; ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, d.others...)
}

func hostLayout() (Layout, error) {
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Layout{}, fmt.Errorf("open mountinfo: %w", err)
	}
	defer mounts.Close()
	self, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return Layout{}, fmt.Errorf("open own cgroup: %w", err)
	}
	defer self.Close()
	return ReadLayout(mounts, self)
}

// Delegate lets a user, by the host's number, clone processes into the groups
// that are there and those that will be (cgroup-v2.rst, "Delegation
// Containment"): a zygote has no power over files of the host's root.
func (d *Driver) Delegate(uid int) error {
	d.delegate = &uid
	entries, err := os.ReadDir(d.unified)
	if err != nil {
		return fmt.Errorf("delegate cgroups: %w", err)
	}
	dirs := []string{d.unified}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(d.unified, e.Name()))
		}
	}
	for _, dir := range dirs {
		if err := d.give(dir); err != nil {
			return err
		}
	}
	return nil
}

// give lets the user of Delegate put processes into a folder.
func (d *Driver) give(dir string) error {
	if d.delegate == nil {
		return nil
	}
	if err := os.Chown(filepath.Join(dir, "cgroup.procs"), *d.delegate, -1); err != nil {
		return fmt.Errorf("delegate cgroup: %w", err)
	}
	return nil
}
