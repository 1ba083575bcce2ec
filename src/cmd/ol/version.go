package main

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// build is what is known of this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from changed files
	Go      string `json:"go"`
	System  string `json:"system"`
}

// version reads what the go command recorded in the binary.
func version() build {
	b := build{Version: "devel", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Dirty = setting.Value == "true"
		}
	}
	return b
}

func (b build) line() string {
	line := "ol " + b.Version
	if b.Commit != "" {
		line += " " + b.Commit[:min(12, len(b.Commit))]
	}
	return line + " " + b.Go + " " + b.System
}

func versionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			if c.Bool("json") {
				return s.printJSON(version())
			}
			s.print("%s", version().line())
			return nil
		},
	}
}
