package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/replay/timeline"
	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/repro/plot"
)

func replayDrawCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "draw",
		Usage:     "draw what sandboxes did, from what ol replay --record has kept",
		ArgsUsage: "RECORDING...",
		Description: "A lane for each sandbox, in the form of the paper's Fig. 4; several recordings\n" +
			"stand above each other.\n\n" +
			"  ol replay -p w1 --trace fig4 --init sleep --record cidre.json\n" +
			"  ol replay draw cidre.json lru.json -o fig4.svg --from 950ms --to 1450ms\n\n" +
			"By its end the file becomes .svg, .png or, of one recording, .json for Perfetto.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write `FILE`", Value: "sandboxes.svg"},
			&cli.DurationFlag{Name: "from", Usage: "begin at this time of the replay"},
			&cli.DurationFlag{Name: "to", Usage: "end at this time; 0 is the end"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return replayDraw(s, c) },
	}
}

// mostPanels is how many recordings stand above each other.
const mostPanels = 8

// mostLanes is how many sandboxes a drawing has room for.
const mostLanes = 60

// drawn says what was drawn.
type drawn struct {
	File       string `json:"file"`
	Recordings int    `json:"recordings"`
	Sandboxes  int    `json:"sandboxes"` // with a lane of their own
}

func replayDraw(s streams, c *cli.Context) error {
	if err := wantArgs(c, 1, mostPanels, "RECORDING..."); err != nil {
		return err
	}
	var panels []repro.SandboxPanel
	lanes := 0
	for _, name := range c.Args().Slice() {
		r, err := readRecording(s.abs(name))
		if err != nil {
			return fail(codeUsage, "read recording "+name, err, "make one: ol replay -p DIR --trace fig4 --record FILE")
		}
		if lost := timeline.Lost(r.Workers); lost > 0 {
			s.say("warning: %s has %s: a worker was read too slowly", name, plural(lost, "gap", "gaps"))
		}
		tracks := repro.Within(r.Tracks(), c.Duration("from"), c.Duration("to"))
		lanes += len(tracks)
		panels = append(panels, repro.SandboxPanel{Title: panelTitle(r), Tracks: tracks})
	}
	if lanes == 0 {
		return usage("take another part: --from, --to", "no sandbox did anything there")
	}
	path := s.abs(c.String("out"))
	write, err := drawing(path, panels, lanes, c.Duration("from"), c.Duration("to"))
	if err != nil {
		return err
	}
	if err := replaceFile(path, write); err != nil {
		return fail(codeUsage, "write drawing", err, "choose another file: -o FILE")
	}
	if c.Bool("json") {
		return s.printJSON(drawn{File: path, Recordings: len(panels), Sandboxes: lanes})
	}
	s.say("%s drawn in %s", plural(lanes, "sandbox", "sandboxes"), path)
	return nil
}

func panelTitle(r *timeline.Recording) string {
	title := fmt.Sprintf("%s, real sandboxes (load %.1f)", r.Policy, r.Load)
	if r.Scale != 1 {
		title += fmt.Sprintf(", all times x%.3g", r.Scale)
	}
	return title
}

// drawing chooses the form by the file's name.
func drawing(path string, panels []repro.SandboxPanel, lanes int, from, to time.Duration) (func(io.Writer) error, error) {
	ext := filepath.Ext(path)
	switch {
	case ext == ".json" && len(panels) > 1:
		return nil, usage("draw one after the other", "a file for Perfetto is of one recording")
	case ext == ".json":
		return func(w io.Writer) error { return timeline.WriteChrome(w, panels[0].Tracks) }, nil
	case ext != ".svg" && ext != ".png":
		return nil, usage("-o sandboxes.svg", "the file must end in .svg, .png or .json, not %q", ext)
	case lanes > mostLanes:
		return nil, usage("draw a part (--from, --to), or all of it for Perfetto: -o sandboxes.json", "%d sandboxes are too many for a picture", lanes)
	}
	chart := repro.SandboxChart("What sandboxes did", panels, from, to)
	if ext == ".png" {
		return func(w io.Writer) error { return plot.WritePNG(w, chart) }, nil
	}
	return func(w io.Writer) error { return plot.WriteSVG(w, chart) }, nil
}

func readRecording(path string) (*timeline.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return timeline.ReadRecording(f)
}
