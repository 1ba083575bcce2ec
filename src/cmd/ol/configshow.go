package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/config"
)

func configCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "look at a worker's configuration",
		Subcommands: []*cli.Command{{
			Name:  "show",
			Usage: "print the configuration that a worker started now would have",
			Description: "Precedence: -o, then variables of the environment (OL_LIMITS_MEM_MB for\n" +
				"limits.mem_mb), then config.json, then the defaults.",
			Flags:  []cli.Flag{pathFlag(), optionsFlag(), &cli.BoolFlag{Name: "json", Usage: "answer in JSON (it always is)"}},
			Action: func(c *cli.Context) error { return showConfig(s, c) },
		}},
	}
}

func optionsFlag() cli.Flag {
	return &cli.StringFlag{Name: "options", Aliases: []string{"o"}, Usage: "configuration to override, `KEY=VALUE,...`; quote a value with commas"}
}

func showConfig(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	cfg, err := configOf(s, c)
	if err != nil {
		return err
	}
	text, err := cfg.JSON()
	if err != nil {
		return err
	}
	s.print("%s", strings.TrimRight(string(text), "\n"))
	return nil
}

// configOf returns the configuration for the directory that -p names, with the
// overrides of -o. A mistake in it is the user's.
func configOf(s streams, c *cli.Context) (config.Config, error) {
	dir := workerDir(s, c)
	cfg, err := loadConfig(dir, config.Sources{
		File: filepath.Join(dir, configFile), Env: s.env, Overrides: c.String("options"),
	})
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return cfg, err
	}
	next := "see the values that hold: ol config show" + pathHint(c)
	if _, broken := loadConfig(dir, config.Sources{File: filepath.Join(dir, configFile)}); broken != nil {
		next = "correct " + filepath.Join(dir, configFile) // nothing can be shown before
	}
	return cfg, fail(codeUsage, "read configuration", err, next)
}
