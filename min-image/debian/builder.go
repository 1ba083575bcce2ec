package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// LockPath is where an image keeps the list of its packages, below its root.
const LockPath = "usr/share/open-lambda/packages.lock"

// ErrExists is wrapped when the image's directory is there already.
var ErrExists = errors.New("already exists")

// Progress is told what is being done, step by step: done of total in units of
// the step. It may be nil.
type Progress func(step string, done, total int)

// Builder builds images. The zero value is not usable; see NewBuilder.
type Builder struct {
	cache    string // directory of downloaded packages, kept between builds
	progress Progress
	run      runner
}

// runner runs a program in a directory and returns its standard output.
type runner func(ctx context.Context, dir, name string, args ...string) ([]byte, error)

// NewBuilder returns a builder that keeps downloaded packages in cache.
func NewBuilder(cache string, progress Progress) *Builder {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	return &Builder{cache: cache, progress: progress, run: run}
}

// Build makes the image in dir with the cache in the user's cache directory.
// See Builder.Build.
func Build(ctx context.Context, dir, layer string, progress Progress) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "/var/cache" // root without HOME, as under systemd
	}
	return NewBuilder(filepath.Join(cache, "open-lambda", "packages"), progress).Build(ctx, dir, layer)
}

// Build makes the image in dir, which must not exist (ErrExists), with the named
// layer and those that it builds on. The smallest takes some 20 seconds and
// 60 MB on a fast machine. When it fails or ctx ends, nothing is left but
// downloaded packages.
func (b *Builder) Build(ctx context.Context, dir, layer string) error {
	if err := b.build(ctx, dir, layer); err != nil {
		return fmt.Errorf("build base image in %s: %w", dir, err)
	}
	return nil
}

func (b *Builder) build(ctx context.Context, dir, layer string) error {
	layers, err := upTo(layer)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrExists, err)
	}
	if err := needTools("apt-cache", "apt-get", "dpkg-deb"); err != nil {
		return err
	}
	names, err := b.resolve(ctx, rootsOf(layers))
	if err != nil {
		return err
	}
	packages, err := b.download(ctx, names)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".building-")
	if err != nil {
		return fmt.Errorf("make working directory: %w", err)
	}
	defer os.RemoveAll(work)
	if err := b.assemble(ctx, work, packages, probeOf(layers)); err != nil {
		return err
	}
	if err := os.Rename(work, dir); err != nil {
		return fmt.Errorf("put image in place: %w", err)
	}
	return nil
}

func (b *Builder) assemble(ctx context.Context, root string, packages []Package, probe string) error {
	if err := os.Chmod(root, 0o755); err != nil {
		return fmt.Errorf("open image to all: %w", err)
	}
	if err := b.unpack(ctx, root, packages); err != nil {
		return err
	}
	b.progress("complete", 0, 1)
	steps := []func(string) error{mergeUsr, trim, linkAlternatives, synthesise, bundleCertificates, checkLinkage}
	for _, step := range steps {
		if err := step(root); err != nil {
			return err
		}
	}
	if err := writeLock(filepath.Join(root, LockPath), packages); err != nil {
		return err
	}
	if _, err := b.run(ctx, "", ldconfig(), "-r", root); err != nil {
		return fmt.Errorf("index libraries: %w", err)
	}
	b.progress("compile", 0, 1)
	return b.compilePython(ctx, root, probe)
}

// unpack unpacks all packages, several at a time: no two have a file in common.
func (b *Builder) unpack(ctx context.Context, root string, packages []Package) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	var mu sync.Mutex
	done := 0
	for _, pkg := range packages {
		group.Go(func() error {
			if _, err := b.run(ctx, "", "dpkg-deb", "-x", filepath.Join(b.cache, pkg.file), root); err != nil {
				return fmt.Errorf("unpack %s: %w", pkg.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			b.progress("unpack", done, len(packages))
			return nil
		})
	}
	return group.Wait()
}

func needTools(names ...string) error {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("find %s: this machine has no Debian package tools (use the base \"host\"): %w", name, err)
		}
	}
	return nil
}

// ldconfig lies outside the path of ordinary users.
func ldconfig() string {
	if path, err := exec.LookPath("ldconfig"); err == nil {
		return path
	}
	return "/sbin/ldconfig"
}

func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("run %s: %w: %s", filepath.Base(name), err, lastLines(stderr.String(), 3))
	}
	return stdout.Bytes(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
