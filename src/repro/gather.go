package repro

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Gathered is what stands in a directory of results.
type Gathered struct {
	Sections []Section
	Left     []Left
	html     [][]byte // of the sections
}

// Left is a figure that is left out.
type Left struct{ Figure, Why string }

const (
	leftOld        = "written by an older ol, which did not say what was simulated"
	leftIncomplete = "incomplete, for a run was interrupted"
)

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
	case errors.As(err, &old):
		g.Left = append(g.Left, Left{id, leftOld})
	case errors.Is(err, fs.ErrNotExist):
		begun, err := started(filepath.Join(dir, id))
		if err != nil {
			return err
		}
		if begun {
			g.Left = append(g.Left, Left{id, leftIncomplete})
		}
	default:
		g.Left = append(g.Left, Left{id, err.Error()})
	}
	return nil
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
	all := g.leftOut()
	if m := mixture(g.Sections); m != nil {
		all = append(all, m.Error()+"; "+m.Again())
	}
	return all
}

// leftOut says what is left out, and what to type, once for each reason.
func (g *Gathered) leftOut() []string {
	var groups []group
	for _, l := range g.Left {
		groups = join(groups, l.Why, l.Figure)
	}
	var lines []string
	for _, r := range groups {
		lines = append(lines, fmt.Sprintf("%s left out: %s; make anew, with the flags of then: %s", strings.Join(r.figures, ", "), r.what, again(r)))
	}
	return lines
}

// again is what to type to make figures anew.
func again(r group) string {
	command := "ol repro -o DIR"
	if r.what == leftOld {
		command += " --any-build"
	}
	var commands []string
	if simulated := slices.DeleteFunc(slices.Clone(r.figures), func(id string) bool { return id == testbedID }); len(simulated) > 0 {
		commands = append(commands, command+" "+strings.Join(simulated, " "))
	}
	if slices.Contains(r.figures, testbedID) {
		commands = append(commands, command+" --testbed")
	}
	return strings.Join(commands, "; ")
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
