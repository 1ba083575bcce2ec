package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"
)

// run executes a command line, its first element being the program's name, and
// returns the exit code.
func run(ctx context.Context, s streams, args []string) int {
	app := newApp(s)
	args = permute(app, args)
	err := app.RunContext(ctx, args)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		explain(s, err)
	}
	return exitCode(ctx, err)
}

func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:                 "ol",
		Usage:                "run lambdas in lean sandboxes under the CIDRE scheduler",
		Writer:               &helpWriter{to: s.out}, // commands write to s.out themselves
		ErrWriter:            s.err,
		Version:              version().Version,
		HideVersion:          true,
		EnableBashCompletion: true,
		ExitErrHandler:       func(*cli.Context, error) {},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true},
		},
		Commands: []*cli.Command{
			workerCommand(s),
			bossCommand(s),
			nodesCommand(s),
			asyncCommand(s),
			testbedCommand(s),
			newCommand(s),
			adminCommand(s),
			invokeCommand(s),
			listCommand(s),
			logsCommand(s),
			topCommand(s),
			pprofCommand(s),
			policyCommand(s),
			configCommand(s),
			imageCommand(s),
			doctorCommand(s),
			simCommand(s),
			replayCommand(s),
			reproCommand(s),
			demoCommand(s),
			benchCommand(s),
			completionCommand(s),
			versionCommand(s),
		},
	}
	app.Action = func(c *cli.Context) error {
		if c.Bool("version") {
			s.print("%s", version().line())
			return nil
		}
		return dispatchUnknown(c, app.Name, app.Commands)
	}
	app.OnUsageError = usageError(app.Name, app.Flags)
	for _, cmd := range app.Commands {
		prepare(cmd, app.Name)
	}
	return app
}

// prepare gives a command and those below it what all commands have in common.
func prepare(cmd *cli.Command, parent string) {
	path := parent + " " + cmd.Name
	cmd.OnUsageError = usageError(path, cmd.Flags)
	cmd.HideHelpCommand = true
	for _, f := range cmd.Flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true // it is false, as everybody expects
		}
	}
	if len(cmd.Subcommands) == 0 {
		return
	}
	if cmd.Action == nil {
		cmd.Action = func(c *cli.Context) error { return dispatchUnknown(c, path, cmd.Subcommands) }
	}
	for _, sub := range cmd.Subcommands {
		prepare(sub, path)
	}
}

// dispatchUnknown ends a command line that stops at a group of commands, or
// names none of the group.
func dispatchUnknown(c *cli.Context, path string, known []*cli.Command) error {
	word := c.Args().First()
	if word == "" {
		return cli.ShowSubcommandHelp(c)
	}
	if today := verbOfOld(path, word); today != "" {
		return usage("", "%s %s is a command of the older OpenLambda: today it is %q", path, word, today)
	}
	var names []string
	for _, cmd := range known {
		names = append(names, cmd.Name)
	}
	near := nearest(word, names)
	if near == "" {
		return usage("see what there is: "+path+" --help", "there is no command %q", path+" "+word)
	}
	return usage("see what there is: "+path+" --help", "there is no command %q; the nearest is %q", path+" "+word, path+" "+near)
}

// usageError says which flag of a command is wrong; the library's own error
// names it.
func usageError(path string, flags []cli.Flag) cli.OnUsageErrorFunc {
	return func(_ *cli.Context, err error, _ bool) error {
		const undefined = "flag provided but not defined: "
		flag, ok := strings.CutPrefix(err.Error(), undefined)
		if !ok {
			return usage("see how it is used: "+path+" --help", "%s: %s", path, err)
		}
		name := strings.TrimLeft(flag, "-")
		if len(name) > 1 {
			flag = "--" + name // the library writes -name
		}
		near := nearest(name, longNames(flags))
		if near == "" {
			return usage("see all of them: "+path+" --help", "%s has no flag %s", path, flag)
		}
		return usage("see all of them: "+path+" --help", "%s has no flag %s; the nearest is --%s", path, flag, near)
	}
}

func longNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, name)
			}
		}
	}
	return names
}
