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
	width    int      // columns of the terminal that out is, 0 if it is none
}

// columns is how wide a table may be: that of a common terminal if out is none.
func (s streams) columns() int {
	if s.width > 0 {
		return s.width
	}
	return helpWidth
}

// processStreams returns those of this process.
func processStreams() streams {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	_, plain := os.LookupEnv("NO_COLOR")
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0 // no terminal
	}
	return streams{
		width: width,
		in:    os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), dir: dir,
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

// prose writes data for readers, in lines that fit.
func (s streams) prose(format string, args ...any) {
	s.print("%s", foldText(fmt.Sprintf(format, args...), 0))
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
