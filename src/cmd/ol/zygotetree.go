package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-lambda/open-lambda/sock"
)

// treeFile is the import cache tree in a worker's directory.
const treeFile = "default-zygotes.json"

// withTree adds the zygotes that import_cache_tree asks for. The key holds JSON
// or the path of a file with it, which may be relative to the worker's directory.
func withTree(cfg sock.Config, n node) (sock.Config, error) {
	text := strings.TrimSpace(n.config.ImportCacheTree)
	if text == "" || !cfg.Zygote {
		return cfg, nil
	}
	const what, key = "start worker", "config key \"import_cache_tree\""
	if text[0] != '{' && text[0] != '[' {
		path := text
		if !filepath.IsAbs(path) {
			path = filepath.Join(n.dir, path)
		}
		read, err := os.ReadFile(path)
		if err != nil {
			return cfg, fail(codeUsage, what, fmt.Errorf("%s: %w", key, err), "name a file that exists, or leave the tree out: -o import_cache_tree=")
		}
		text = string(read)
	}
	nodes, err := sock.ParseTree([]byte(text))
	if err != nil {
		return cfg, fail(codeUsage, what, fmt.Errorf("%s: %w", key, err), "correct it, or leave the tree out: -o import_cache_tree=")
	}
	cfg.Tree = nodes
	return cfg, nil
}

// treeNode is a node of a tree as it is written.
type treeNode struct {
	Packages []string   `json:"packages"`
	Children []treeNode `json:"children"`
}

func leaf(packages ...string) treeNode { return treeNode{packages, []treeNode{}} }

// defaultTree has what takes long to import and is widely used. Names without a
// version stand for whatever version a lambda has, from the base or installed.
func defaultTree() treeNode {
	return treeNode{[]string{}, []treeNode{
		{[]string{"numpy"}, []treeNode{
			leaf("pandas"),
			{[]string{"scipy"}, []treeNode{leaf("sklearn"), leaf("networkx")}},
			leaf("matplotlib"), leaf("pil"), leaf("cv2"), leaf("igraph"),
		}},
		leaf("pandas"),
		{[]string{"scipy"}, []treeNode{leaf("sklearn")}},
		leaf("sklearn"), leaf("matplotlib"), leaf("cv2"),
		leaf("pil"), leaf("networkx"), leaf("igraph"),
		leaf("requests"), leaf("flask"), leaf("fastapi"), leaf("django"), leaf("jinja2"), leaf("yaml"),
		leaf("cryptography"), leaf("sqlalchemy"), leaf("boto3"), leaf("lxml"), leaf("asyncio"), leaf("sqlite3"),
	}}
}

// writeTree writes the default tree into a worker's directory unless there is
// one, and returns its path.
func writeTree(dir string) (string, error) {
	path := filepath.Join(dir, treeFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	text, err := json.MarshalIndent(defaultTree(), "", "  ")
	if err != nil {
		return "", fmt.Errorf("write import cache tree: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("write import cache tree: %w", err)
	}
	return path, nil
}
