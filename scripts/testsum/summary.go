package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// key names a test, or with an empty test the package itself.
type key struct{ pkg, test string }

// summary gathers the events of a run.
type summary struct {
	out                     io.Writer
	output                  map[key][]string
	passed, failed, skipped int
	brokenPackages          int
	skips                   []string
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: make(map[key][]string)}
}

// read takes events until the stream ends. A line that is no event is passed
// on: go itself writes such lines when it cannot start.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var ev event
		if json.Unmarshal(lines.Bytes(), &ev) != nil {
			fmt.Fprintln(s.out, lines.Text())
			continue
		}
		s.take(ev)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

func (s *summary) take(ev event) {
	k := key{ev.Package, ev.Test}
	switch ev.Action {
	case "build-output":
		fmt.Fprint(s.out, ev.Output)
	case "output":
		s.output[k] = append(s.output[k], ev.Output)
	case "pass", "fail", "skip":
		s.end(k, ev.Action)
		delete(s.output, k)
	}
}

// end books a test or a package that ended.
func (s *summary) end(k key, action string) {
	if k.test == "" {
		s.endPackage(k, action)
		return
	}
	switch action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		fmt.Fprint(s.out, strings.Join(s.output[k], ""))
	case "skip":
		s.skipped++
		s.skips = append(s.skips, fmt.Sprintf("%s %s: %s", k.pkg, k.test, s.reason(k)))
	}
}

// endPackage prints go test's own closing line of a package, and everything
// that it said outside of tests when it failed (a panic, a timeout).
func (s *summary) endPackage(k key, action string) {
	lines := s.output[k]
	if action == "fail" {
		s.brokenPackages++
		fmt.Fprint(s.out, strings.Join(lines, ""))
		for other, text := range s.output {
			if other.pkg == k.pkg && other.test != "" {
				s.failed++ // it began and never ended
				fmt.Fprint(s.out, strings.Join(text, ""))
			}
		}
		return
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") {
			fmt.Fprint(s.out, line)
		}
	}
}

// reason finds what t.Skip said.
func (s *summary) reason(k key) string {
	for _, line := range slices.Backward(s.output[k]) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}

// close prints the skipped tests and the count.
func (s *summary) close() {
	for _, skip := range s.skips {
		fmt.Fprintln(s.out, "SKIPPED", skip)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}

// bad tells whether the run failed.
func (s *summary) bad() bool { return s.failed > 0 || s.brokenPackages > 0 }
