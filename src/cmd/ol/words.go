package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/config"
)

// nearest returns the known word that was probably meant, "" if none is close.
func nearest(word string, known []string) string {
	for _, k := range known {
		if strings.HasPrefix(k, word) && word != "" {
			return k
		}
	}
	near := config.Nearest(word, known)
	if near == "" || !resembles(word, near) {
		return ""
	}
	return near
}

// resembles tells whether two words share at least half of their letters, in
// order. It keeps suggestions for nonsense out.
func resembles(a, b string) bool {
	common, rest := 0, b
	for _, r := range a {
		if i := strings.IndexRune(rest, r); i >= 0 {
			common++
			rest = rest[i+1:]
		}
	}
	return 2*common >= max(len(a), len(b))
}

// verbOfOld returns today's command for one of the older OpenLambda command
// line, "" if word is none of it. path is the command that word follows.
func verbOfOld(path, word string) string {
	if path != "ol" {
		return ""
	}
	switch word {
	case "kill":
		return "ol worker down"
	case "status":
		return "ol worker status"
	case "setconf":
		return "ol worker up -o key=value"
	case "workers":
		return "ol worker status"
	case "cleanup":
		return "ol worker force-cleanup"
	case "run":
		return "ol invoke"
	case "install":
		return "ol admin install"
	case "up", "down", "init":
		return "ol worker " + word
	}
	return ""
}

// permute moves the flags of a command line in front of its arguments, where
// the library looks for them, so that `ol invoke echo --json` works. Nothing
// behind "--" is touched.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	head, commands, flags := 1, app.Commands, app.Flags
	for head < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[head]) })
		if i < 0 {
			break
		}
		flags, commands = commands[i].Flags, commands[i].Subcommands
		head++
	}
	if len(commands) > 0 && (head == 1 || len(flags) == 0) {
		return args // the line ends at a group: there is nothing to move
	}
	var front, back []string
	rest := args[head:]
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			back = append(back, rest[i:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' || isCompletion(arg) {
			back = append(back, arg)
			continue
		}
		front = append(front, arg)
		if takesValue(flags, arg) && i+1 < len(rest) {
			i++
			front = append(front, rest[i])
		}
	}
	return slices.Concat(args[:head], front, back)
}

func isCompletion(arg string) bool { return arg == "--generate-bash-completion" }

// takesValue tells whether the next word belongs to the flag arg.
func takesValue(flags []cli.Flag, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		doc, ok := f.(cli.DocGenerationFlag)
		return ok && doc.TakesValue()
	}
	return false
}
