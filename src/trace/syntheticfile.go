package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// workloadForm is what a file of parameters says that it is.
const workloadForm = "ol-workload/1"

// Target is a figure that a fit aimed at, percent.
type Target struct {
	Policy string  `json:"policy"` // as in ol policy list
	Figure string  `json:"figure"` // Overhead or Cold
	GB     float64 `json:"mem_gb"`
	Paper  float64 `json:"paper_pct"`
	Ours   float64 `json:"measured_pct"` // with the parameters that were found
	Half   float64 `json:"half_width"`   // of its 95 % interval over the seeds
}

// Figures that a fit can aim at.
const (
	Overhead = "overhead" // average overhead ratio
	Cold     = "cold"     // cold starts among all
)

// Calibration is the record of a fit. What a workload was not fitted to counts as
// a prediction, and nothing else.
type Calibration struct {
	Sample  string   `json:"sample"` // of the paper: azure or fc
	Targets []Target `json:"targets"`
	// Others are figures of the paper that were measured but not fitted.
	Others []Target `json:"not_fitted,omitempty"`

	From        string   `json:"from"`                  // where the search began
	Free        []string `json:"free,omitempty"`        // parameters that it chose
	Minutes     int      `json:"search_minutes"`        // of the workload that it looked at; 0 is all
	Seeds       []uint64 `json:"search_seeds"`          // of it
	Evaluations int      `json:"evaluations"`           // 0: the parameters were given
	Ended       string   `json:"ended,omitempty"`       // why the search ended
	Loss        float64  `json:"search_loss,omitempty"` // mean square of the distances, points

	MeasuredSeeds []uint64 `json:"measured_seeds"` // of Ours, over the whole span
	Hashes        []string `json:"action_hashes"`  // of those runs, by target and seed: they tell the engine
	Engine        string   `json:"engine"`         // program that measured
}

// Fits tells whether a figure of a policy was fitted.
func (c *Calibration) Fits(policy, figure string, gb float64) bool {
	for i := range c.Targets {
		if t := &c.Targets[i]; t.Policy == policy && t.Figure == figure && t.GB == gb {
			return true
		}
	}
	return false
}

// Note says what must be said with every result of the workload.
func (c *Calibration) Note(name string) string {
	var parts []string
	for i := range c.Targets {
		t := &c.Targets[i]
		parts = append(parts, fmt.Sprintf("%s of %s at %v GB (%.1f %%, here %.1f)", t.Figure, t.Policy, t.GB, t.Paper, t.Ours))
	}
	return fmt.Sprintf("%s is synthetic, calibrated to the paper's %s on %s; only other figures are predictions",
		name, strings.Join(parts, ", "), map[string]string{"azure": "Azure", "fc": "FC"}[c.Sample])
}

// workloadFile is the JSON form.
type workloadFile struct {
	Form        string             `json:"form"`
	Name        string             `json:"name"`
	Parameters  map[string]float64 `json:"parameters"`
	Calibration *Calibration       `json:"calibration,omitempty"`
}

// WriteWorkload writes a generated workload as a file that Load reads.
func WriteWorkload(w io.Writer, name string, s Synthetic, c *Calibration) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(workloadFile{workloadForm, name, s.values(), c}); err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	return nil
}

// readWorkload reads what WriteWorkload wrote.
func readWorkload(path string, r io.Reader) (Source, error) {
	var f workloadFile
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Source{}, fmt.Errorf("read workload %s: %w", path, err)
	}
	if f.Form != workloadForm {
		return Source{}, fmt.Errorf("read workload %s: its form is %q, not %q", path, f.Form, workloadForm)
	}
	if f.Name == "" {
		return Source{}, fmt.Errorf("read workload %s: it has no name", path)
	}
	s, err := newSynthetic(f.Parameters)
	if err != nil {
		return Source{}, fmt.Errorf("read workload %s: %w", path, err)
	}
	source := Source{Name: f.Name, Synthetic: &s, Calibration: f.Calibration, Note: f.Name + " is synthetic and was fitted to nothing"}
	if f.Calibration != nil && len(f.Calibration.Targets) > 0 {
		source.Note = f.Calibration.Note(f.Name)
	}
	return source, nil
}
