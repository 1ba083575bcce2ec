package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// VariationError says what is wrong with the parameters in a name.
type VariationError struct {
	Base string
	Err  error
}

// Error tells it.
func (e *VariationError) Error() string { return fmt.Sprintf("vary workload %s: %v", e.Base, e.Err) }

// Unwrap is for package errors.
func (e *VariationError) Unwrap() error { return e.Err }

// varied reads a name like azure-like:burst=6,zipf_s=1.2, a generated workload of
// which some parameters (see Parameters) have other values. It is fitted to nothing: the
// base may have been, to figures that it no longer comes to.
func varied(name string) (Source, bool, error) {
	base, changes, ok := strings.Cut(name, ":")
	if !ok || strings.Contains(base, "/") {
		return Source{}, false, nil
	}
	source, known, err := Named(base)
	if err != nil || !known || source.Synthetic == nil {
		return Source{}, false, err
	}
	s := *source.Synthetic
	for _, change := range strings.Split(changes, ",") {
		if err := s.change(change); err != nil {
			return Source{}, true, &VariationError{base, err}
		}
	}
	if err := s.check(); err != nil {
		return Source{}, true, &VariationError{base, err}
	}
	note := fmt.Sprintf("%s is %s with other parameters, and was fitted to nothing", name, base)
	return Source{Name: name, Note: note, Synthetic: &s}, true, nil
}

// change reads parameter=value.
func (s *Synthetic) change(text string) error {
	name, value, _ := strings.Cut(text, "=")
	all := Parameters()
	i := slices.IndexFunc(all, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return fmt.Errorf("there is no parameter %q, only %s", name, strings.Join(names, ", "))
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%s is %q, not a number", name, value)
	}
	return all[i].assign(s, v)
}
