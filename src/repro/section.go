package repro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// claimsForm is what a file of claims says that it is.
const claimsForm = "ol-claims/1"

// claimsName is the file of a figure's claims. It is written last: a figure
// without it is not complete.
const claimsName = "claims.json"

// claimsFile is the form of the claims of one figure, and of those that were
// gathered.
type claimsFile struct {
	Form     string    `json:"form"`
	Sections []Section `json:"sections"`
}

// Section is what is known of one figure in a directory of results.
type Section struct {
	Figure string `json:"figure"`
	// Own means that no scene matters: recorded, or replayed on real sandboxes.
	Own   bool   `json:"own_scene,omitempty"`
	Name  string `json:"scene_name"` // see Scene.Name
	Scene Scene  `json:"scene"`
	// Data identifies the content of files that stand for a workload of the scene.
	Data []string `json:"data,omitempty"`
	// Build is the program that judged, Simulated are the others that its
	// simulations were taken from.
	Build     string   `json:"build,omitempty"`
	Simulated []string `json:"simulated_by,omitempty"`
	Notes     []string `json:"notes,omitempty"` // see Scene.Notes
	Claims    []Judged `json:"claims"`
}

func newSection(o *Outcome, d *Data, notes []string) Section {
	s := Section{
		Figure: o.ID, Own: o.Points == nil && o.Origin != "", Name: d.Name(), Scene: d.Scene, Build: d.Build, Notes: notes, Claims: o.Judged,
	}
	if s.Own {
		s.Name = ownScene
	}
	for _, name := range []string{d.Azure, d.FC} {
		if sum := once(d, "content "+name, func() string { return content(name) }); sum != "" && !slices.Contains(s.Data, sum) {
			s.Data = append(s.Data, sum)
		}
	}
	for _, p := range Points([]Figure{o.Figure}, d.Scene) {
		if by := d.Cells[p].Build; by != d.Build && !slices.Contains(s.Simulated, by) {
			s.Simulated = append(s.Simulated, by)
		}
	}
	slices.Sort(s.Simulated)
	return s
}

// ownScene is the name of a scene that does not matter.
const ownScene = "its own"

// Label names the scene and the programs.
func (s *Section) Label() string {
	label := s.Name
	if s.Build != "" {
		label += ", by build " + s.Build
	}
	if len(s.Simulated) > 0 {
		label += ", from simulations of " + strings.Join(s.Simulated, " and ")
	}
	return label
}

// OldError says that a file of claims does not say what was simulated.
type OldError struct{ Path string }

// Error says what wrote it.
func (e *OldError) Error() string {
	return e.Path + " was written by an older ol, which did not say what was simulated"
}

// readSections reads a file of claims.
func readSections(path string) ([]Section, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return nil, &OldError{path}
	}
	var f claimsFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("read claims %s: %w", path, err)
	}
	if f.Form != claimsForm {
		return nil, fmt.Errorf("read claims %s: its form is %q, not %q", path, f.Form, claimsForm)
	}
	return f.Sections, nil
}

// Gathered is what stands in a directory of results.
type Gathered struct {
	Sections []Section
	// Left says which figures are left out, and why.
	Left []string
	html [][]byte // of the sections
}

// Gather reads all complete figures of a directory of results, those of
// earlier runs too.
func Gather(dir string) (*Gathered, error) {
	g := &Gathered{}
	for _, id := range append(IDs(Figures()), testbedID) {
		if err := g.read(dir, id); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// read takes a figure, or says why not.
func (g *Gathered) read(dir, id string) error {
	again := "ol repro " + id
	if id == testbedID {
		again = "ol repro --testbed"
	}
	sections, err := readSections(filepath.Join(dir, id, claimsName))
	if err == nil && (len(sections) != 1 || sections[0].Figure != id) {
		err = fmt.Errorf("read claims: those in %s are not of that figure", filepath.Join(dir, id))
	}
	var html []byte
	if err == nil {
		html, err = os.ReadFile(filepath.Join(dir, id, sectionName))
	}
	var old *OldError
	switch {
	case err == nil:
		g.Sections, g.html = append(g.Sections, sections[0]), append(g.html, html)
		return nil
	case errors.As(err, &old):
		g.leave("%s was written by an older ol and is left out; take its simulations over: %s --any-build", id, again)
	case errors.Is(err, fs.ErrNotExist):
		left, err := started(filepath.Join(dir, id))
		if err != nil {
			return err
		}
		if left {
			g.leave("%s is incomplete, for a run was interrupted, and is left out; make it anew: %s", id, again)
		}
	default:
		g.leave("%s is left out: %v; make it anew: %s", id, err, again)
	}
	return nil
}

func (g *Gathered) leave(format string, args ...any) {
	g.Left = append(g.Left, fmt.Sprintf(format, args...))
}

// started tells whether anything is in the directory of a figure.
func started(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("gather figures: %w", err)
	}
	return len(entries) > 0, nil
}

// Warnings are what a reader of the whole must know.
func (g *Gathered) Warnings() []string {
	all := slices.Clone(g.Left)
	if m := mixture(g.Sections); m != nil {
		all = append(all, m.Error()+"; "+m.Again())
	}
	return all
}

// claims lists those of all sections.
func (g *Gathered) claims() []Judged {
	var all []Judged
	for i := range g.Sections {
		all = append(all, g.Sections[i].Claims...)
	}
	return all
}

// notes lists those of all sections once, with the figures that they are
// about unless it is all of them.
func (g *Gathered) notes() []string {
	var lines []string
	for _, n := range grouped(g.Sections, func(s *Section) []string { return s.Notes }) {
		line := n.what
		if len(n.figures) < len(g.Sections) {
			line += " (" + strings.Join(n.figures, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
