package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/lambda"
)

// templates are the beginnings of lambdas, a directory each. Their files end in
// templateSuffix, so that no tool takes them for the program's own.
//
//go:embed template
var templates embed.FS

const templateSuffix = ".tmpl"

// templateNames are those that can be chosen, the first by default.
func templateNames() []string { return []string{"python", "wsgi", "asgi", "native"} }

func newCommand(s streams) *cli.Command {
	names := strings.Join(templateNames(), ", ")
	return &cli.Command{
		Name:        "new",
		Usage:       "make the directory of a new lambda",
		ArgsUsage:   "DIRECTORY",
		Description: "python: a function; wsgi, asgi: a web application; native: a program in Go.",
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.StringFlag{Name: "template", Aliases: []string{"t"}, Usage: "what to begin with: " + names, Value: templateNames()[0]},
			// The older OpenLambda's "ol new -path DIR" made a worker's directory.
			&cli.StringFlag{Name: "path", Aliases: []string{"p"}, Hidden: true},
		},
		Action: func(c *cli.Context) error { return newLambda(s, c) },
	}
}

func newLambda(s streams, c *cli.Context) error {
	if c.IsSet("path") || c.NArg() == 0 {
		return usage("make a lambda: ol new DIRECTORY --template "+strings.Join(templateNames(), "|"),
			`ol new without a lambda's directory is a command of the older OpenLambda: today it is "ol worker init"`)
	}
	if err := wantArgs(c, 1, 1, "DIRECTORY"); err != nil {
		return err
	}
	dir, template := s.abs(c.Args().First()), c.String("template")
	if !slices.Contains(templateNames(), template) {
		return usage("choose one: --template "+strings.Join(templateNames(), "|"), "there is no template %q", template)
	}
	if err := lambda.CheckName(filepath.Base(dir)); err != nil {
		return usage("the directory's name is the lambda's: choose another", "make lambda: %s", err)
	}
	if exists(dir) {
		return fail(codeFailed, "make lambda", fmt.Errorf("%s is there already", dir), "choose another directory")
	}
	files, err := writeTemplate(template, dir)
	if err != nil {
		return fail(codeFailed, "make lambda", err, "")
	}
	if c.Bool("json") {
		return s.printJSON(struct {
			Dir      string   `json:"dir"`
			Template string   `json:"template"`
			Files    []string `json:"files"`
		}{dir, template, files})
	}
	s.print("%s", dir)
	if template == "native" {
		s.say("build it: make -C %s", c.Args().First())
	}
	s.say("install it: ol admin install %s", c.Args().First())
	return nil
}

// writeTemplate writes the files of a template to a new directory. After an
// error the directory does not exist.
func writeTemplate(template, dir string) (_ []string, err error) {
	from := path.Join("template", template)
	entries, err := fs.ReadDir(templates, from)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	var files []string
	for _, e := range entries {
		text, err := templates.ReadFile(path.Join(from, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read template: %w", err)
		}
		name := strings.TrimSuffix(e.Name(), templateSuffix)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		files = append(files, name)
	}
	return files, nil
}
