package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

func adminCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "admin",
		Usage:       "install lambdas",
		Subcommands: []*cli.Command{installCommand(s)},
	}
}

func installCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "install",
		Usage:     "install a lambda on a worker, or in a cluster",
		ArgsUsage: "[boss] DIRECTORY|FILE.py|GIT-URL",
		Flags: []cli.Flag{
			pathFlag(), jsonFlag(), bossFlag(), tokenFlag(), caFlag(), certFlag(), keyFlag(),
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "use this ol.yaml instead of the lambda's"},
			&cli.StringFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "use this requirements.txt instead of the lambda's"},
			&cli.StringFlag{Name: "name", Aliases: []string{"n"}, Usage: "name of the lambda; by default that of the directory, file or repository"},
		},
		Action: func(c *cli.Context) error { return install(s, c) },
	}
}

func install(s streams, c *cli.Context) error {
	// OpenLambda's form: "ol admin install boss DIRECTORY".
	if c.Args().First() == "boss" && c.Args().Len() == 2 {
		return installSource(s, c, c.Args().Get(1), true)
	}
	if err := wantArgs(c, 1, 1, "[boss] DIRECTORY|FILE.py|GIT-URL"); err != nil {
		return err
	}
	return installSource(s, c, c.Args().First(), c.String("boss") != "")
}

// installSource installs a lambda on a worker, or in a cluster.
func installSource(s streams, c *cli.Context, source string, cluster bool) error {
	name := c.String("name")
	if name == "" {
		name = nameOfSource(s, source)
	}
	if err := lambda.CheckName(name); err != nil {
		return usage("give it another name: -n NAME", "install lambda: %s", err)
	}
	return installAs(s, c, name, source, cluster)
}

// installAs packs a source and uploads it to the worker that -p names, or to a
// boss.
func installAs(s streams, c *cli.Context, name, source string, cluster bool) error {
	what := "install lambda " + name
	at, err := findRegistry(s, c, what, cluster)
	if err != nil {
		return err
	}
	stage, err := newStage(c, s, source)
	if err != nil {
		return err
	}
	defer stage.remove()
	packed, warnings, err := stage.pack()
	if err != nil {
		return fail(codeFailed, what, err, "")
	}
	more, err := upload(c.Context, at, name, packed)
	for _, w := range more { // ours, and what only the registry knows
		if !slices.Contains(warnings, w) {
			warnings = append(warnings, w)
		}
	}
	for _, w := range warnings {
		s.say("warning: %s", w)
	}
	if err != nil {
		return fail(codeFailed, what, err, "")
	}
	if c.Bool("json") {
		return s.printJSON(struct {
			Name     string   `json:"name"`
			Bytes    int      `json:"bytes"`
			Warnings []string `json:"warnings"`
		}{name, len(packed), append([]string{}, warnings...)})
	}
	s.print("Successfully installed lambda function: %s", name)
	return nil
}

// nameOfSource is the name that a lambda gets if none is given.
func nameOfSource(s streams, source string) string {
	if isGitURL(source) {
		last := source[strings.LastIndexAny(source, "/:")+1:]
		return strings.TrimSuffix(last, ".git")
	}
	return strings.TrimSuffix(filepath.Base(s.abs(source)), ".py")
}

// upload stores a packed lambda in a registry, and returns its warnings.
func upload(ctx context.Context, at caller, name string, packed []byte) ([]string, error) {
	header := http.Header{"Content-Type": {"application/gzip"}, "Accept": {"application/json"}}
	resp, err := at(ctx, http.MethodPost, api.PathRegistry+name, bytes.NewReader(packed), header)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		return nil, answerError(resp, text)
	}
	return resp.Header.Values(api.HeaderWarning), nil
}

// stage is the directory that a lambda is packed from: the source itself, or a
// copy of it where something has to be added.
type stage struct {
	dir       string
	temporary string // removed at the end, "" if nothing was copied
}

func (g *stage) remove() {
	if g.temporary != "" {
		os.RemoveAll(g.temporary)
	}
}

// newStage finds or makes the directory to pack.
func newStage(c *cli.Context, s streams, source string) (*stage, error) {
	local := s.abs(source)
	replace := map[string]string{lambda.ConfigFile: c.String("config"), lambda.RequirementsFile: c.String("requirements")}
	if !isGitURL(source) {
		info, err := os.Stat(local)
		if err != nil {
			return nil, fail(codeNotFound, "install "+source, errors.New("there is no such directory, and it is no git URL"), "a git URL looks so: https://host/repository.git or git@host:repository.git")
		}
		if info.IsDir() && c.String("config") == "" && c.String("requirements") == "" {
			return &stage{dir: local}, nil
		}
	}
	temporary, err := os.MkdirTemp("", "ol-install-")
	if err != nil {
		return nil, fmt.Errorf("make staging directory: %w", err)
	}
	g := &stage{dir: filepath.Join(temporary, "lambda"), temporary: temporary}
	if isGitURL(source) {
		err = clone(c.Context, s, source, g.dir)
	} else {
		err = copySource(local, g.dir)
	}
	if err == nil {
		err = g.replace(s, replace)
	}
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// replace copies files over those of the lambda; an empty path leaves one as
// it is.
func (g *stage) replace(s streams, files map[string]string) error {
	for to, from := range files {
		if from == "" {
			continue
		}
		if err := copyFile(s.abs(from), filepath.Join(g.dir, to)); err != nil {
			return fail(codeNotFound, "install lambda", err, "")
		}
	}
	return nil
}

// pack checks the lambda and makes the archive to upload.
func (g *stage) pack() ([]byte, []string, error) {
	cfg, warnings, err := lambda.ReadDir(g.dir)
	if err != nil {
		return nil, nil, err
	}
	entry, err := cfg.EntryIn(g.dir)
	if err != nil {
		return nil, nil, err
	}
	var packed bytes.Buffer
	if err := archive.Pack(&packed, g.dir, entry); err != nil {
		return nil, nil, err
	}
	return packed.Bytes(), warnings, nil
}
