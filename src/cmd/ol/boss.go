package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// Where a boss lives unless -p says otherwise, and its files.
const (
	defaultBossDir = "default-boss"
	bossOutputFile = "boss.out"
)

func bossPathFlag() cli.Flag {
	return &cli.StringFlag{Name: "path", Aliases: []string{"p"}, Usage: "directory of the boss", Value: defaultBossDir}
}

func bossHint(c *cli.Context) string {
	if dir := c.String("path"); dir != defaultBossDir && dir != "" {
		return " -p " + dir
	}
	return ""
}

func bossCommand(s streams) *cli.Command {
	flags := []cli.Flag{
		bossPathFlag(), optionsFlag(), jsonFlag(),
		insecureFlag(),
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "serve in the background; come back once it is ready"},
	}
	up := func(c *cli.Context) error {
		if err := wantArgs(c, 0, 0, ""); err != nil {
			return err
		}
		return bossUp(s, c)
	}
	return &cli.Command{
		Name:  "boss",
		Usage: "start and stop a boss, which spreads invocations over workers",
		Flags: flags, // OpenLambda starts a boss without a verb
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return dispatchUnknown(c, "ol boss", c.Command.Subcommands)
			}
			return up(c)
		},
		Subcommands: []*cli.Command{
			{Name: "up", Usage: "start a boss, making its directory if it is missing", Flags: flags, Action: up},
			{
				Name: "down", Usage: "stop a boss: running invocations may end", Description: "Succeeds when none runs.",
				Flags: []cli.Flag{bossPathFlag(), jsonFlag()}, Action: func(c *cli.Context) error { return bossDown(s, c) },
			},
			{
				Name: "status", Usage: "say what a boss knows", Description: "Exit code 3 if none runs.",
				Flags: []cli.Flag{bossPathFlag(), bossFlag(), tokenFlag(), caFlag(), certFlag(), keyFlag(), jsonFlag()}, Action: func(c *cli.Context) error { return bossStatus(s, c) },
			},
		},
	}
}

// bossConfig reads the configuration that a boss in dir runs with, or would.
func bossConfig(s streams, dir, overrides string, running bool) (config.Boss, error) {
	file := filepath.Join(dir, configFile)
	if over := filepath.Join(dir, overridesFile); running && exists(over) {
		file = over
	}
	return config.LoadBoss(config.NewBoss(dir), config.Sources{File: file, Env: s.env, Overrides: overrides})
}

func bossUp(s streams, c *cli.Context) error {
	dir := s.abs(c.String("path"))
	if c.Bool("insecure") {
		if err := c.Set("options", strings.TrimPrefix(c.String("options")+",insecure=true", ",")); err != nil {
			return fmt.Errorf("take over flags: %w", err)
		}
	}
	cfg, err := bossConfig(s, dir, c.String("options"), false)
	if err != nil {
		return fail(codeUsage, "read configuration", err, "")
	}
	if pid, err := lockHolder(dir); err != nil || pid != 0 {
		return bossRuns(dir, pid, err, bossHint(c))
	}
	if c.Bool("detach") {
		return bossDetach(c.Context, s, c, dir)
	}
	return bossServe(c.Context, s, dir, cfg, bossHint(c))
}

func bossRuns(dir string, pid int, err error, hint string) error {
	if err == nil {
		err = fmt.Errorf("process %d runs one in %s already", pid, dir)
	}
	return fail(codeFailed, "start boss", err, "stop it first: ol boss down"+hint)
}

// bossDetach starts a boss in a session of its own and waits until it is ready.
func bossDetach(ctx context.Context, s streams, c *cli.Context, dir string) error {
	started, err := spawnBoss(ctx, s, dir, c.String("options"), forGood)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.printJSON(started)
	}
	s.print("PID: %d\nPort: %s\nLog File: %s\nReady!", started.PID, started.Port, started.Log)
	return nil
}

// spawnBoss starts a boss in another process and waits until it is ready.
func spawnBoss(ctx context.Context, s streams, dir, options string, end unix.Signal) (background, error) {
	if err := makeDir(dir); err != nil {
		return background{}, err
	}
	log := filepath.Join(dir, bossOutputFile)
	args := []string{"ol", "boss", "up", "-p", dir}
	if options != "" {
		args = append(args, "-o", options)
	}
	pid, err := spawnArgs(s, args, log, end)
	if err != nil {
		return background{}, fail(codeFailed, "start boss", err, "")
	}
	cfg, err := awaitBoss(ctx, s, dir, pid)
	if err != nil {
		endChild(pid)
		s.say("last lines of %s:\n%s", log, tailOf(log, lastLines))
		return background{}, fail(codeFailed, "start boss", err, "see all of it: "+log)
	}
	return background{pid, cfg.BossPort, log, dir}, nil
}

// awaitBoss waits until the child, and no other process, serves dir.
func awaitBoss(ctx context.Context, s streams, dir string, pid int) (config.Boss, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := childEnded(pid); err != nil {
			return config.Boss{}, err
		}
		if holder, err := lockHolder(dir); err == nil && holder == pid {
			if cfg, err := bossConfig(s, dir, "", true); err == nil && cfg.BossPort != "0" {
				if b, err := bossAt(cfg, ""); err == nil {
					if err := b.getJSON(ctx, api.PathStatus, &api.BossStatus{}); err == nil {
						return cfg, nil
					}
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return config.Boss{}, fmt.Errorf("wait until ready: %w", ctx.Err())
		}
	}
}

func bossDown(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	dir := s.abs(c.String("path"))
	process, err := holderProcess(dir)
	if err != nil {
		return fail(codeFailed, "stop boss", err, "")
	}
	done := stopped{Dir: dir}
	if process != nil {
		done.PID = process.Pid
		limit := 40 * time.Second
		if cfg, err := bossConfig(s, dir, "", true); err == nil {
			limit = time.Duration(cfg.DrainSec)*time.Second + 10*time.Second
		}
		if err := interrupt(c.Context, "stop boss", process, limit, fmt.Sprintf("end it at once: kill -9 %d", process.Pid)); err != nil {
			return err
		}
	}
	return reportStopped(s, c, "boss", done)
}

func bossStatus(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	b, err := findBoss(s, c, c.String("path"))
	if err != nil {
		return err
	}
	var st api.BossStatus
	if err := b.getJSON(c.Context, api.PathStatus, &st); err != nil {
		return fail(codeNotRunning, "ask boss", err, "start it: ol boss up -d"+bossHint(c))
	}
	if c.Bool("json") {
		return s.printJSON(st)
	}
	text, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	s.print("%s", text)
	return nil
}
