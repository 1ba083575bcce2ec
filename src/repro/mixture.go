package repro

import (
	"slices"
	"strings"
)

// MixedError says that results that stand together were not made alike.
type MixedError struct {
	// Scenes and Builds say which figures have which, if they differ.
	Scenes, Builds []string
}

// Error says what differs.
func (e *MixedError) Error() string {
	var parts []string
	if len(e.Scenes) > 0 {
		parts = append(parts, "figures are of different scenes: "+strings.Join(e.Scenes, "; "))
	}
	if len(e.Builds) > 0 {
		parts = append(parts, "figures were judged by different builds of ol: "+strings.Join(e.Builds, "; "))
	}
	return strings.Join(parts, "; ")
}

// Again says how to make results alike.
func (e *MixedError) Again() string {
	if len(e.Scenes) > 0 {
		return "reproduce all of them in one way (ol repro, or ol repro --quick), or each way in a directory of its own: -o DIR"
	}
	return "judge all with one build, from the simulations that are kept: ol repro --any-build, with the other flags as before"
}

// mixture compares sections; nil: they were made alike. What has a scene of its own
// fits to all. Builds that only simulated are no mixture: --any-build asked for them.
func mixture(all []Section) *MixedError {
	var some []Section
	for i := range all {
		if !all[i].Own {
			some = append(some, all[i])
		}
	}
	e := &MixedError{
		Scenes: differences(some, func(s *Section) string { return strings.Join(append([]string{s.Name}, s.Data...), " ") }),
		Builds: differences(some, func(s *Section) string { return s.Build }),
	}
	if e.Scenes == nil && e.Builds == nil {
		return nil
	}
	return e
}

// differences says which figures have which value; nil if all have one.
func differences(all []Section, of func(*Section) string) []string {
	groups := grouped(all, func(s *Section) []string { return []string{of(s)} })
	if len(groups) < 2 {
		return nil
	}
	var lines []string
	for _, g := range groups {
		lines = append(lines, g.what+" ("+strings.Join(g.figures, ", ")+")")
	}
	return lines
}

// group is the figures that have something in common.
type group struct {
	what    string
	figures []string
}

// grouped groups sections by what they have, in their order.
func grouped(all []Section, of func(*Section) []string) []group {
	var groups []group
	for i := range all {
		for _, what := range of(&all[i]) {
			groups = join(groups, what, all[i].Figure)
		}
	}
	return groups
}

// join puts a figure into the group of those that have something.
func join(groups []group, what, figure string) []group {
	k := slices.IndexFunc(groups, func(g group) bool { return g.what == what })
	if k < 0 {
		k, groups = len(groups), append(groups, group{what: what})
	}
	groups[k].figures = append(groups[k].figures, figure)
	return groups
}
