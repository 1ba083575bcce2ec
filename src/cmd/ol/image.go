package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/min-image/debian"
)

func imageCommand(s streams) *cli.Command {
	layer := &cli.StringFlag{
		Name: "layer", Aliases: []string{"l"}, Value: debian.DefaultLayer,
		Usage: "what the image holds, one of " + strings.Join(debian.LayerNames(), ", ") + "; each has all of those before it",
	}
	return &cli.Command{
		Name:  "image",
		Usage: "build what sandboxes see as their root",
		Subcommands: []*cli.Command{
			{
				Name:        "build",
				Usage:       "build a base image from this machine's Debian or Ubuntu package sources",
				ArgsUsage:   "DIRECTORY",
				Description: "A worker takes it by: ol worker init -i DIRECTORY. The versions of all packages are in " + debian.LockPath + " below it.",
				Flags: []cli.Flag{
					layer, jsonFlag(),
					&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace the image that is there"},
				},
				Action: func(c *cli.Context) error { return imageBuild(s, c) },
			},
			{
				Name: "layers", Usage: "list the layers that can be built", Flags: []cli.Flag{jsonFlag()},
				Action: func(c *cli.Context) error { return imageLayers(s, c) },
			},
		},
	}
}

// builtImage is what a build tells.
type builtImage struct {
	Dir      string `json:"dir"`
	Layer    string `json:"layer"`
	Packages int    `json:"packages"`
	Lock     string `json:"lock"` // file with the packages' versions and hashes
}

func imageBuild(s streams, c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "DIRECTORY"); err != nil {
		return err
	}
	layer := c.String("layer")
	if err := checkLayer("build image", layer); err != nil {
		return err
	}
	dir := s.abs(c.Args().First())
	if exists(dir) && !c.Bool("force") {
		return fail(codeFailed, "build image", fmt.Errorf("%s is there already", dir), "replace it: ol image build --force --layer "+layer+" "+c.Args().First())
	}
	// Only what is an image may be replaced by one.
	if lock := filepath.Join(dir, debian.LockPath); exists(dir) && !exists(lock) {
		return fail(codeFailed, "build image", fmt.Errorf("%s is no image of ours: it has no %s", dir, debian.LockPath), "name another directory")
	}
	if err := buildDebian(c.Context, s, dir, layer); err != nil {
		return err
	}
	made := builtImage{Dir: dir, Layer: layer, Lock: filepath.Join(dir, debian.LockPath)}
	lock, err := os.ReadFile(made.Lock)
	if err != nil {
		return fmt.Errorf("read list of packages: %w", err)
	}
	made.Packages = strings.Count(string(lock), "\n")
	if c.Bool("json") {
		return s.printJSON(made)
	}
	s.print("%s", dir)
	s.say("layer %s, %d packages, listed in %s", layer, made.Packages, made.Lock)
	s.say("use it: ol worker init -i %s", dir)
	return nil
}

func checkLayer(what, layer string) error {
	names := debian.LayerNames()
	if slices.Contains(names, layer) {
		return nil
	}
	return usage("see what they hold: ol image layers", "%s: there is no layer %q: there are %s", what, layer, strings.Join(names, ", "))
}

func imageLayers(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	layers := debian.Layers()
	if c.Bool("json") {
		type layer struct {
			Name     string   `json:"name"`
			Holds    string   `json:"holds"`
			Packages []string `json:"packages"`
		}
		var list []layer
		for _, l := range layers {
			list = append(list, layer{l.Name, l.Holds, l.Packages})
		}
		return s.printJSON(list)
	}
	for _, l := range layers {
		s.print("%-4s %s", l.Name, l.Holds)
	}
	return nil
}
