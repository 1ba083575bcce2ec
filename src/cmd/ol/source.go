package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/open-lambda/open-lambda/src/lambda"
)

// isGitURL tells whether a lambda comes from a repository.
func isGitURL(source string) bool {
	for _, prefix := range []string{"https://", "http://", "git@", "ssh://", "file://"} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return false
}

// clone fetches the newest state of a repository. It never asks for a password.
func clone(ctx context.Context, s streams, url, dir string) error {
	cmd := exec.CommandContext(ctx, "git", "clone", "--quiet", "--depth", "1", "--", url, dir)
	cmd.Env = append(s.env, "GIT_TERMINAL_PROMPT=0")
	text, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fail(codeUnfit, "clone "+url, err, "install git: apt-get install git")
	}
	if err != nil {
		return fail(codeFailed, "clone "+url, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text))), "try it by hand: git clone "+url)
	}
	return nil
}

// copySource copies a directory, or makes one of a single file of Python.
func copySource(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("copy lambda: %w", err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return fmt.Errorf("copy lambda: %w", err)
		}
		return nil
	}
	if filepath.Ext(from) != ".py" {
		return usage("give a directory, a file that ends in .py, or a git URL", "%s is no lambda", from)
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("copy lambda: %w", err)
	}
	return copyFile(from, filepath.Join(to, lambda.EntryFile))
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	return nil
}
