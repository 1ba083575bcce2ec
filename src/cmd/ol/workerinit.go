package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/min-image/debian"
	"github.com/open-lambda/open-lambda/src/config"
)

// Base images that have names.
const (
	imageHost   = "host"
	imageDebian = "debian"
)

func imageFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "image", Aliases: []string{"i"},
		Usage: "what sandboxes see as their root, an `IMAGE`: host (this machine's /usr, read-only), debian or debian:LAYER (built from its packages, see ol image layers), a directory or a tar file; by default host where it has python3, else debian",
	}
}

func workerInitCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "make the directory of a worker (needs root)",
		Flags: []cli.Flag{
			pathFlag(), imageFlag(), jsonFlag(),
			&cli.BoolFlag{Name: "newbase", Aliases: []string{"b"}, Usage: "make the base anew if the directory is there already"},
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return workerInit(s, c)
		},
	}
}

func workerInit(s streams, c *cli.Context) error {
	dir := workerDir(s, c)
	if err := requireRoot("initialise worker"); err != nil {
		return err
	}
	if pid, err := lockHolder(dir); err != nil || pid != 0 {
		return alreadyRuns("initialise worker", dir, pid, err, pathHint(c)) // its sandboxes use the base
	}
	if exists(filepath.Join(dir, initMarker)) && !c.Bool("newbase") {
		return fail(codeFailed, "initialise worker", fmt.Errorf("%s is a worker's directory already", dir), "make its base anew with --newbase, or start it: ol worker up"+pathHint(c))
	}
	made, err := initialise(c.Context, s, dir, c.String("image"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.printJSON(made)
	}
	made.tell(s)
	return nil
}

func (m initialised) tell(s streams) {
	s.say("initialised %s, base %s (%s)", m.Dir, m.Image, m.Why)
	s.say("network of lambdas: %s (%s)", m.Network, m.NetworkWhy)
}

// requireRoot fails a command before it has done anything.
func requireRoot(what string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	return fail(codeUnfit, what, errors.New("it needs root, to make namespaces, cgroups and directories for sandboxes"), "type it again with sudo in front")
}

// initialised says what was made.
type initialised struct {
	Dir   string `json:"dir"`
	Image string `json:"image"`
	Base  string `json:"base"` // sock_base_path
	Why   string `json:"why"`  // this image

	Network    string `json:"network"` // that lambdas will have
	NetworkWhy string `json:"network_why"`
}

// initialise makes a worker's directory, or completes it. A config.json that is
// there keeps everything but its base.
func initialise(ctx context.Context, s streams, dir, image string) (made initialised, err error) {
	made = initialised{Dir: dir, Image: image, Why: "as asked for"}
	if image == "" {
		made.Image, made.Why = chooseImage(ctx)
	}
	fresh, err := makeDirs(dir, filepath.Join(dir, "registry"), filepath.Join(dir, "worker"))
	defer func() {
		if err != nil {
			removeEmpty(fresh)
		}
	}()
	if err != nil {
		return made, fail(codeFailed, "initialise worker", err, "")
	}
	base, err := makeBase(ctx, s, dir, made.Image)
	if err != nil {
		return made, err
	}
	made.Base = base
	isNew := !exists(filepath.Join(dir, configFile))
	cfg, err := loadConfig(dir, config.Sources{File: filepath.Join(dir, configFile)})
	if err != nil {
		return made, fail(codeUsage, "initialise worker", err, "correct "+filepath.Join(dir, configFile)+", or remove it to begin with the defaults")
	}
	cfg.SOCKBasePath = base
	if isNew {
		if cfg.ImportCacheTree, err = writeTree(dir); err != nil {
			return made, err
		}
	}
	made.Network, made.NetworkWhy = settleNetwork(cfg.Network)
	if err := cfg.Save(filepath.Join(dir, configFile)); err != nil {
		return made, err
	}
	if err := os.WriteFile(filepath.Join(dir, initMarker), []byte(made.Image+"\n"), 0o644); err != nil {
		return made, fmt.Errorf("mark directory: %w", err)
	}
	return made, nil
}

// makeDirs makes directories and returns those that were not there before, parents
// first, also with an error.
func makeDirs(dirs ...string) (fresh []string, err error) {
	for _, dir := range dirs {
		isNew := !exists(dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fresh, err
		}
		if isNew {
			fresh = append(fresh, dir)
		}
	}
	return fresh, nil
}

// removeEmpty removes directories, the last first, unless something is in them.
func removeEmpty(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		_ = os.Remove(dir)
	}
}

// chooseImage picks the base for somebody who named none.
func chooseImage(ctx context.Context) (image, why string) {
	if python := checkPython(ctx); python.Verdict == checkOK {
		return imageHost, strings.TrimSuffix(python.What, ".")
	}
	return imageDebian, "this machine has no usable /usr/bin/python3"
}

// makeBase returns the value of sock_base_path for an image, having made what
// it names.
func makeBase(ctx context.Context, s streams, dir, image string) (string, error) {
	own := filepath.Join(dir, "base")
	switch image {
	case imageHost:
		return imageHost, requireBase(ctx, "make base", imageHost)
	case imageDebian:
		return own, buildDebian(ctx, s, own, debian.DefaultLayer)
	}
	if layer, ok := strings.CutPrefix(image, imageDebian+":"); ok {
		if err := checkLayer("make base", layer); err != nil {
			return "", err
		}
		return own, buildDebian(ctx, s, own, layer)
	}
	image = s.abs(image)
	info, err := os.Stat(image)
	if err != nil {
		return "", fail(codeNotFound, "make base", err, "images are: host, debian, debian:LAYER, a directory, a tar file")
	}
	if info.IsDir() {
		return image, requireBase(ctx, "make base", image)
	}
	if err := unpackBase(ctx, image, own); err != nil {
		return "", err
	}
	return own, requireBase(ctx, "make base", own)
}

// requireBase checks that a base, a value of sock_base_path, has what the
// runtime runs on.
func requireBase(ctx context.Context, what, base string) error {
	if base == imageHost {
		if python := checkPython(ctx); python.Verdict != checkOK {
			return fail(codeUnfit, what, errors.New(python.What), "mend: "+python.Mend)
		}
		return nil
	}
	const next = "use another: ol worker init --newbase -i host, or -i debian"
	if _, err := os.ReadDir(base); err != nil {
		return fail(codeNotFound, what, fmt.Errorf("read base: %w", err), next)
	}
	if _, err := os.Lstat(filepath.Join(base, "usr/bin/python3")); err != nil {
		return fail(codeFailed, what, fmt.Errorf("%s has no usr/bin/python3, which the runtime runs on", base), next)
	}
	return nil
}

// unpackBase unpacks a tar file through the machine's tar, which knows every
// compression, into a directory that appears whole or not at all.
func unpackBase(ctx context.Context, file, dir string) error {
	temporary := dir + ".new"
	if err := errors.Join(os.RemoveAll(temporary), os.MkdirAll(temporary, 0o755)); err != nil {
		return fmt.Errorf("unpack base: %w", err)
	}
	text, err := exec.CommandContext(ctx, "tar", "--extract", "--file", file, "--directory", temporary, "--numeric-owner").CombinedOutput()
	if err != nil {
		return errors.Join(fail(codeFailed, "unpack base "+file, fmt.Errorf("%w: %s", err, firstLine(string(text))), ""), os.RemoveAll(temporary))
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(temporary, dir)); err != nil {
		return fmt.Errorf("unpack base: %w", err)
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
