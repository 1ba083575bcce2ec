package indextest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Wheel is a package in the form that pip installs (PEP 427).
type Wheel struct {
	Name, Version string
	Files         map[string]string // module files by path
	Requires      []string          // other packages, as the metadata say it
	Platform      string            // "" is any
	Broken        bool              // cut short
}

// Module is a wheel with one module of the package's name, "-" turned into "_".
func Module(name, version, source string, requires ...string) Wheel {
	return Wheel{Name: name, Version: version, Files: map[string]string{moduleOf(name) + ".py": source}, Requires: requires}
}

func moduleOf(name string) string { return strings.ReplaceAll(name, "-", "_") }

// FileName is the name that tells pip what the wheel is for.
func (w Wheel) FileName() string {
	platform := w.Platform
	if platform == "" {
		platform = "any"
	}
	return fmt.Sprintf("%s-%s-py3-none-%s.whl", moduleOf(w.Name), w.Version, platform)
}

// Bytes is the wheel as a file.
func (w Wheel) Bytes() ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	info := fmt.Sprintf("%s-%s.dist-info/", moduleOf(w.Name), w.Version)
	files := maps.Clone(w.Files)
	if files == nil {
		files = map[string]string{}
	}
	files[info+"METADATA"] = w.metadata()
	files[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: indextest\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	var record strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(name)
		if err != nil {
			return nil, fmt.Errorf("make wheel: %w", err)
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			return nil, fmt.Errorf("make wheel: %w", err)
		}
		sum := sha256.Sum256([]byte(files[name]))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	f, err := z.Create(info + "RECORD")
	if err == nil {
		_, err = f.Write([]byte(record.String()))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("make wheel: %w", err)
	}
	if w.Broken {
		return buf.Bytes()[:buf.Len()/2], nil
	}
	return buf.Bytes(), nil
}

func (w Wheel) metadata() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", w.Name, w.Version)
	for _, r := range w.Requires {
		fmt.Fprintf(&text, "Requires-Dist: %s\n", r)
	}
	return text.String()
}
