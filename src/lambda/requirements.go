package lambda

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// RequirementsFile is the name of the file in a lambda that names packages.
const RequirementsFile = "requirements.txt"

// MaxRequirements is how many packages one lambda may name: as many as the
// kernel passes mounts with one message to a sandbox (SCM_MAX_FD, less a few).
const MaxRequirements = 240

// maxSourceBytes is how much of a file is searched for names of packages.
const maxSourceBytes = 1 << 20

// Requirement is one Python package that a lambda needs.
type Requirement struct {
	Name    string // lower-case, "-" for "_": numpy, scikit-learn
	Version string // the exact version, "" if the lambda leaves the choice
	Spec    string // for pip: "numpy==1.26.4", "numpy>=1", "numpy"
}

// String returns what pip is asked for.
func (r Requirement) String() string { return r.Spec }

// requirementLine is a name, extras, and comparisons with versions, once spaces
// are gone (PEP 508 without markers and URLs).
var requirementLine = regexp.MustCompile(`^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(\[[a-z0-9._,-]*\])?((?:(?:===?|~=|!=|<=?|>=?)[a-z0-9.*+!_-]+,?)*)$`)

// exactVersion is the version of a pin.
var exactVersion = regexp.MustCompile(`^===?([a-z0-9.+!_-]+)$`)

// PackageName returns the one spelling of a package's name that counts.
func PackageName(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// ParseRequirement reads one requirement: spaces do not count, nor does case.
// Extras are dropped: they stand for further packages, which have to be named.
func ParseRequirement(text string) (Requirement, error) {
	line := strings.ToLower(strings.Join(strings.Fields(text), ""))
	switch {
	case strings.HasPrefix(line, "-"):
		return Requirement{}, fmt.Errorf("%q is an option of pip: name packages only, with their versions", text)
	case strings.Contains(line, ";"):
		return Requirement{}, fmt.Errorf("%q has a condition: every sandbox has the same Python, so write the line without it or leave it out", text)
	case strings.ContainsAny(line, "@/"):
		return Requirement{}, fmt.Errorf("%q is a place, not a package of the index: write name==version", text)
	}
	m := requirementLine.FindStringSubmatch(normaliseName(line))
	if m == nil || strings.HasSuffix(m[3], ",") {
		return Requirement{}, fmt.Errorf("%q is not a package: write name==version", text)
	}
	r := Requirement{Name: m[1], Spec: m[1] + m[3]}
	if v := exactVersion.FindStringSubmatch(m[3]); v != nil {
		r.Version, r.Spec = v[1], m[1]+"=="+v[1]
	}
	return r, nil
}

// normaliseName rewrites the name at the beginning of a line.
func normaliseName(line string) string {
	end := strings.IndexAny(line, "[=<>!~")
	if end < 0 {
		end = len(line)
	}
	return PackageName(line[:end]) + line[end:]
}

// ParseRequirements reads a requirements.txt: one package a line, cut at "#".
// The same line twice counts once; two different ones about a package cannot
// both hold. More than MaxRequirements packages are an error.
func ParseRequirements(text []byte) ([]Requirement, error) {
	var list requirementList
	for line := range bytes.Lines(text) {
		before, _, _ := bytes.Cut(line, []byte("#"))
		list.add(string(bytes.TrimSpace(before)))
	}
	return list.all, list.err
}

// requirementList collects requirements and the first error.
type requirementList struct {
	all []Requirement
	err error
}

func (l *requirementList) add(text string) {
	if text == "" || l.err != nil {
		return
	}
	r, err := ParseRequirement(text)
	if err != nil {
		l.err = err
		return
	}
	l.merge(r)
}

func (l *requirementList) merge(r Requirement) {
	i := slices.IndexFunc(l.all, func(o Requirement) bool { return o.Name == r.Name })
	switch {
	case i < 0 && len(l.all) == MaxRequirements:
		l.err = fmt.Errorf("there are more than %d packages", MaxRequirements)
	case i < 0:
		l.all = append(l.all, r)
	case l.all[i].Spec != r.Spec && l.err == nil:
		l.err = fmt.Errorf("%s and %s cannot both be: keep one", l.all[i].Spec, r.Spec)
	}
}

// Comments of OpenLambda's older format, in the entry file.
const (
	installComment = "ol-install:"
	importComment  = "ol-import:"
)

// readPackages finds out what packages the lambda in dir needs and which
// modules its entry file imports. Errors other than *FormatError are the disk's.
func (c *Config) readPackages(dir string) error {
	text, err := readStart(filepath.Join(dir, RequirementsFile), maxSourceBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", RequirementsFile, err)
	}
	var list requirementList
	if list.all, err = ParseRequirements(text); err != nil {
		return &FormatError{Err: fmt.Errorf("%s: %w", RequirementsFile, err)}
	}
	source, err := readStart(filepath.Join(dir, c.Entry()), maxSourceBytes)
	if err != nil {
		source = nil // a native program, or none: whoever loads it will tell
	}
	for _, name := range comments(source, installComment) {
		list.add(name)
	}
	if list.err != nil {
		return &FormatError{Err: fmt.Errorf("packages of the lambda: %w", list.err)}
	}
	own := ownModules(dir)
	c.Requires, c.Own = list.all, own
	c.Imports = own.without(append(comments(source, importComment), importedModules(source)...))
	return nil
}

// comments lists the names, separated by commas, in comments of a kind.
func comments(source []byte, kind string) []string {
	var out []string
	for line := range bytes.Lines(source) {
		text, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "#")
		if !ok {
			continue
		}
		if list, ok := strings.CutPrefix(strings.TrimSpace(text), kind); ok {
			for name := range strings.SplitSeq(list, ",") {
				if name = strings.TrimSpace(name); name != "" {
					out = append(out, name)
				}
			}
		}
	}
	return out
}
