package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// defaultDir is where a worker lives unless -p says otherwise.
const defaultDir = "default-ol"

func pathFlag() cli.Flag {
	return &cli.StringFlag{Name: "path", Aliases: []string{"p"}, Usage: "directory of the worker, `DIR`", Value: defaultDir}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "answer in JSON"}
}

// workerDir returns the directory that -p names, absolute.
func workerDir(s streams, c *cli.Context) string {
	return s.abs(c.String("path"))
}

// pathHint is -p as it has to be typed to get the same directory again.
func pathHint(c *cli.Context) string {
	if dir := c.String("path"); dir != defaultDir {
		return " -p " + dir
	}
	return ""
}

// wantArgs checks the number of arguments of a command.
func wantArgs(c *cli.Context, least, most int, form string) error {
	name := c.Command.HelpName // the whole path
	if n := c.Args().Len(); n < least || n > most {
		return usage(strings.TrimSpace("use it so: "+name+" "+form), "%s takes %s, got %d", name, count(least, most), n)
	}
	return nil
}

func count(least, most int) string {
	switch {
	case least == most && most == 0:
		return "no arguments"
	case least == most && most == 1:
		return "1 argument"
	case least == most:
		return fmt.Sprintf("%d arguments", most)
	}
	return fmt.Sprintf("%d to %d arguments", least, most)
}

// placeHint is --boss or -p as it has to be typed to get to the same place.
func placeHint(c *cli.Context) string {
	if list := c.String("boss"); list != "" {
		return " --boss " + list
	}
	return pathHint(c)
}

// within makes a flag refuse what is no number from least to most; NaN and the
// infinities are none.
func within(name string, least, most float64) func(*cli.Context, float64) error {
	return func(_ *cli.Context, v float64) error {
		if v >= least && v <= most {
			return nil
		}
		return usage("", "--%s must be from %g to %g, got %g", name, least, most, v)
	}
}

// ignored refuses flags that were given and would change nothing.
func ignored(c *cli.Context, names []string, why, next string) error {
	var given []string
	for _, name := range names {
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return usage(next, "%s would change nothing: %s", strings.Join(given, ", "), why)
}
