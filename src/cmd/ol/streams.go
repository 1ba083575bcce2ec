package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// streams is everything that a command knows of the process it runs in.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      []string // NAME=value
	dir      string   // working directory
	tty      bool     // err is a terminal that lines can be overwritten on
}

// processStreams returns those of this process.
func processStreams() streams {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	_, plain := os.LookupEnv("NO_COLOR")
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), dir: dir,
		tty: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" && !plain,
	}
}

// abs returns a path that was typed, absolute and clean.
func (s streams) abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	return filepath.Clean(path)
}

// say tells the user something that is no data.
func (s streams) say(format string, args ...any) {
	fmt.Fprintf(s.err, format+"\n", args...)
}

// print writes a line of data.
func (s streams) print(format string, args ...any) {
	fmt.Fprintf(s.out, format+"\n", args...)
}

// printJSON writes data for programs.
func (s streams) printJSON(v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
