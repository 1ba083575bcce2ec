package repro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
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
	// simulations were taken from, Replayed those that replayed.
	Build     string   `json:"build,omitempty"`
	Simulated []string `json:"simulated_by,omitempty"`
	Replayed  []string `json:"replayed_by,omitempty"`
	Notes     []string `json:"notes,omitempty"` // see Scene.Notes
	Claims    []Judged `json:"claims"`
}

func newSection(o *Outcome, d *Data, notes []string) Section {
	s := Section{
		Figure: o.ID, Own: o.Points == nil && o.Origin != "", Name: d.Name(), Scene: d.Scene, Build: d.Build, Replayed: o.Builds, Notes: notes, Claims: o.Judged,
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
	if len(s.Replayed) > 0 {
		label += ", from replays of " + strings.Join(s.Replayed, " and ")
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
	if plain := bytes.TrimSpace(text); bytes.HasPrefix(plain, []byte("[")) || bytes.Equal(plain, []byte("null")) {
		return nil, &OldError{path} // claims, or none, and nothing else
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
