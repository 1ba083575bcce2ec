package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/config"
)

func workerUpCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "up",
		Usage:       "start a worker, making its directory if missing (needs root)",
		Description: "Without -d it serves until interrupted; a second interrupt ends it at once.",
		Flags: []cli.Flag{
			pathFlag(), imageFlag(), optionsFlag(), jsonFlag(),
			&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "serve in the background; come back once it is ready"},
			&cli.StringFlag{Name: "boss", Usage: "join the cluster of the boss at `URL`, or of several separated by commas"},
			tokenFlag(), caFlag(), certFlag(), keyFlag(), insecureFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return workerUp(s, c)
		},
	}
}

func workerUp(s streams, c *cli.Context) error {
	if err := c.Set("options", withCluster(s, c)); err != nil {
		return fmt.Errorf("take over flags: %w", err)
	}
	// The configuration comes first: a mistake in it is told to anybody.
	cfg, err := configOf(s, c)
	if err != nil {
		return err
	}
	dir := workerDir(s, c)
	if err := checkSettings(s, dir, cfg); err != nil {
		return err
	}
	if err := requireRoot("start worker"); err != nil {
		return err
	}
	if err := requireFit(c.Context, "start worker", cfg.Features.EnableSeccomp); err != nil {
		return err
	}
	if cfg, err = ensureInitialised(s, c, dir, cfg); err != nil {
		return err
	}
	if err := requireBase(c.Context, "start worker", cfg.SOCKBasePath); err != nil {
		return err
	}
	if pid, err := lockHolder(dir); err != nil || pid != 0 {
		return alreadyRuns("start worker", dir, pid, err, pathHint(c))
	}
	if c.Bool("detach") {
		return detach(c.Context, s, c, node{dir, cfg})
	}
	return serve(c.Context, s, node{dir, cfg}, pathHint(c))
}

// checkSettings refuses what this version does not have, and tells which of the
// keys that were set have no effect.
func checkSettings(s streams, dir string, cfg config.Config) error {
	if cfg.Sandbox == sandboxRunc {
		if _, err := requireRunc("start worker"); err != nil {
			return err
		}
	}
	if cfg.ServerMode == "sock" && cfg.Cluster.Bosses != "" {
		return fail(codeUsage, "start worker", errors.New("a worker that serves bare sandboxes cannot join a cluster, which runs lambdas"), "leave one of the two out: server_mode=sock, or the boss")
	}
	if _, err := makePolicy(cfg.Policy); err != nil {
		return err
	}
	if e, ok := catalog.Find(cfg.Policy.Preset); ok && cfg.Policy.Evictor == "" && len(e.Caps) > 0 {
		s.say("warning: policy %s needs %s, which sandboxes of this version do not have", e.Name, strings.Join(e.Caps, " and "))
	}
	defaults, err := defaultConfig(dir)
	if err != nil {
		return err
	}
	inert, err := cfg.Inert(defaults)
	if err != nil {
		return err
	}
	if len(inert) > 0 {
		s.say("warning: no effect in this version: %s", strings.Join(inert, ", "))
	}
	return nil
}

// ensureInitialised makes the worker's directory if it is missing.
func ensureInitialised(s streams, c *cli.Context, dir string, cfg config.Config) (config.Config, error) {
	if exists(filepath.Join(dir, initMarker)) {
		if c.String("image") != "" {
			return cfg, usage("make the base anew first: ol worker init --newbase -i "+c.String("image")+pathHint(c), "start worker: %s has a base already", dir)
		}
		return cfg, nil
	}
	made, err := initialise(c.Context, s, dir, c.String("image"))
	if err != nil {
		return cfg, err
	}
	made.tell(s)
	return configOf(s, c)
}

func alreadyRuns(what, dir string, pid int, err error, hint string) error {
	if err == nil {
		err = fmt.Errorf("process %d runs one in %s already", pid, dir)
	}
	return fail(codeFailed, what, err, "stop it first: ol worker down"+hint)
}
