package debian

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Package is one package of an image.
type Package struct {
	Name    string
	Version string
	Arch    string
	SHA256  string // of the package file, hexadecimal

	file string // name of the package file in the cache
	want string // the index's hash, "SHA256:..." or "SHA512:..."
}

// download brings the newest version of each named package into the cache,
// where files with the right hash are taken as they are.
func (b *Builder) download(ctx context.Context, names []string) ([]Package, error) {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return nil, fmt.Errorf("make package cache: %w", err)
	}
	packages, err := b.locate(ctx, names)
	if err != nil {
		return nil, err
	}
	if len(packages) != len(names) {
		return nil, fmt.Errorf("locate packages: %d of %d found", len(packages), len(names))
	}
	if err := b.fetch(ctx, packages); err != nil {
		return nil, err
	}
	return packages, nil
}

// locate asks apt where the packages are. It keeps silent about those that lie
// in its working directory, hence an empty one.
func (b *Builder) locate(ctx context.Context, names []string) ([]Package, error) {
	empty, err := os.MkdirTemp("", "ol-locate-")
	if err != nil {
		return nil, fmt.Errorf("locate packages: %w", err)
	}
	defer os.Remove(empty)
	out, err := b.run(ctx, empty, "apt-get", append([]string{"--print-uris", "download"}, names...)...)
	if err != nil {
		return nil, fmt.Errorf("locate packages: %w", err)
	}
	return parseURIs(string(out))
}

// fetch makes sure of the package files and fills in their hashes. apt is
// called once for all that is missing: each call reads its whole index.
func (b *Builder) fetch(ctx context.Context, packages []Package) error {
	// apt's own unprivileged user could not write to the cache.
	args := []string{"-q", "-o", "APT::Sandbox::User=root", "download"}
	var missing []*Package
	for i := range packages {
		pkg := &packages[i]
		path := filepath.Join(b.cache, pkg.file)
		err := pkg.verify(path)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) { // damaged, or left half-written
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("remove damaged package: %w", err)
			}
		}
		missing = append(missing, pkg)
		args = append(args, pkg.target())
	}
	if len(missing) == 0 {
		return nil
	}
	b.progress("download", 0, len(missing))
	if _, err := b.run(ctx, b.cache, "apt-get", args...); err != nil {
		return fmt.Errorf("download packages: %w", err)
	}
	for _, pkg := range missing {
		if err := pkg.verify(filepath.Join(b.cache, pkg.file)); err != nil {
			return err
		}
	}
	return nil
}

// target names exactly this package to apt.
func (p *Package) target() string {
	if p.Arch == "all" {
		return p.Name + "=" + p.Version
	}
	return p.Name + ":" + p.Arch + "=" + p.Version
}

// verify compares the file with the index's hash and notes its SHA-256.
func (p *Package) verify(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("verify %s: %w", p.Name, err)
	}
	defer file.Close()
	short, long := sha256.New(), sha512.New()
	if _, err := io.Copy(io.MultiWriter(short, long), file); err != nil {
		return fmt.Errorf("verify %s: %w", p.Name, err)
	}
	p.SHA256 = hex.EncodeToString(short.Sum(nil))
	got := []string{"SHA256:" + p.SHA256, "SHA512:" + hex.EncodeToString(long.Sum(nil))}
	if !slices.Contains(got, p.want) {
		return fmt.Errorf("verify %s: the index says %s, the file has %s", p.Name, p.want, got[0])
	}
	return nil
}

// parseURIs reads the output of apt-get --print-uris download: quoted address,
// file name, size and hash on each line. The result is sorted by name.
func parseURIs(text string) ([]Package, error) {
	var packages []Package
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "'") {
			continue
		}
		pkg, err := parseFile(fields[1])
		if err != nil {
			return nil, err
		}
		pkg.want = fields[3]
		packages = append(packages, pkg)
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return packages, nil
}

// parseFile takes name_version_arch.deb apart; the version's colon is escaped.
func parseFile(file string) (Package, error) {
	parts := strings.Split(strings.TrimSuffix(file, ".deb"), "_")
	if len(parts) != 3 || file != filepath.Base(file) || !strings.HasSuffix(file, ".deb") {
		return Package{}, fmt.Errorf("read package name: %q is not name_version_arch.deb", file)
	}
	version, err := url.PathUnescape(parts[1])
	if err != nil {
		return Package{}, fmt.Errorf("read package version: %w", err)
	}
	return Package{Name: parts[0], Version: version, Arch: parts[2], file: file}, nil
}

// writeLock lists the packages, one a line: name, version, arch, SHA-256.
func writeLock(path string, packages []Package) error {
	var text strings.Builder
	for _, p := range packages {
		fmt.Fprintf(&text, "%s %s %s sha256:%s\n", p.Name, p.Version, p.Arch, p.SHA256)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write package list: %w", err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write package list: %w", err)
	}
	return nil
}
