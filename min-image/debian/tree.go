package debian

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mergeUsr moves /bin, /sbin, /lib* into /usr and leaves links, as the usrmerge
// package would: older packages still ship files outside /usr.
func mergeUsr(root string) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		from, to := filepath.Join(root, name), filepath.Join(root, "usr", name)
		info, err := os.Lstat(from)
		if err == nil && !info.IsDir() {
			continue // a link already
		}
		if err == nil {
			if err := moveInto(from, to); err != nil {
				return fmt.Errorf("merge /%s into /usr: %w", name, err)
			}
		}
		if _, err := os.Stat(to); err != nil {
			continue // the architecture has none
		}
		if err := os.Symlink("usr/"+name, from); err != nil {
			return fmt.Errorf("link /%s: %w", name, err)
		}
	}
	return nil
}

// moveInto merges the tree from into the tree to and removes it. Two files of
// one name are an error.
func moveInto(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		info, err := os.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Rename(source, target)
		case err == nil && info.IsDir() && entry.IsDir():
			err = moveInto(source, target)
		case err == nil:
			err = fmt.Errorf("both %s and %s exist", source, target)
		}
		if err != nil {
			return err
		}
	}
	return os.Remove(from)
}

// needlessFiles are patterns below the root of what a lambda has no use for.
// Copyright files stay.
var needlessFiles = []string{
	"usr/share/bash-completion", "usr/share/bug", "usr/share/debconf", "usr/share/doc-base",
	"usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man",
	"usr/share/menu", "usr/share/pixmaps", "usr/share/applications", "usr/share/python3/debian*",
	"usr/lib/*/gconv", "usr/lib/python3*/config-*", "usr/lib/python3*/ensurepip",
	"usr/lib/python3*/idlelib", "usr/lib/python3*/lib2to3", "usr/lib/python3*/pydoc_data",
	"usr/lib/python3*/test", "usr/lib/python3*/turtledemo", "var/cache", "var/lib",
	"usr/lib/python3/dist-packages/*/tests", "usr/lib/python3/dist-packages/*/*/tests",
	"usr/lib/python3/dist-packages/*/*/*/tests", "usr/include",
}

func trim(root string) error {
	for _, pattern := range needlessFiles {
		matches, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return fmt.Errorf("trim %s: %w", pattern, err)
		}
		for _, match := range matches {
			if err := os.RemoveAll(match); err != nil {
				return fmt.Errorf("trim image: %w", err)
			}
		}
	}
	return trimDocs(filepath.Join(root, "usr/share/doc"))
}

func trimDocs(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "copyright" {
			return err
		}
		return os.Remove(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("trim documentation: %w", err)
	}
	return nil
}

// MountPoints are the empty directories that an image offers for a sandbox to
// mount on.
func MountPoints() []string {
	return []string{"dev", "handler", "host", "packages", "proc", "runtime", "sys", "tmp"}
}

// etc are the files that maintainer scripts would have made.
var etc = []struct{ path, text string }{
	{"etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"etc/group", "root:x:0:\nnogroup:x:65534:\n"},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
	{"etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
	{"etc/resolv.conf", ""}, // mounted over where the sandbox has a network
	{"etc/hostname", "sandbox\n"},
}

func synthesise(root string) error {
	for _, name := range append(MountPoints(), "etc", "root", "run", "var/tmp", "home") {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return fmt.Errorf("make directory of the image: %w", err)
		}
	}
	for _, name := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(root, name), 0o777|fs.ModeSticky); err != nil {
			return fmt.Errorf("open %s to all: %w", name, err)
		}
	}
	for _, file := range etc {
		if err := os.WriteFile(filepath.Join(root, file.path), []byte(file.text), 0o644); err != nil {
			return fmt.Errorf("write file of the image: %w", err)
		}
	}
	if err := linkFirst(root, "usr/bin/python3", "usr/bin/python3.[0-9]*"); err != nil {
		return err
	}
	return linkFirst(root, "usr/bin/sh", "usr/bin/dash")
}

// linkFirst makes a link, unless it is there, to the last match of a pattern in
// its own directory.
func linkFirst(root, link, pattern string) error {
	path := filepath.Join(root, link)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	matches, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(matches) == 0 {
		return fmt.Errorf("link %s: nothing matches %s", link, pattern)
	}
	slices.Sort(matches)
	if err := os.Symlink(filepath.Base(matches[len(matches)-1]), path); err != nil {
		return fmt.Errorf("link %s: %w", link, err)
	}
	return nil
}

// bundleCertificates joins the certificate authorities into the file that
// OpenSSL and most programs look for.
func bundleCertificates(root string) error {
	var bundle strings.Builder
	paths, err := filepath.Glob(filepath.Join(root, "usr/share/ca-certificates/*/*.crt"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("bundle certificates: none found (%w)", errors.Join(err, fs.ErrNotExist))
	}
	slices.Sort(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("bundle certificates: %w", err)
		}
		bundle.WriteString(strings.TrimRight(string(text), "\n") + "\n")
	}
	certs := filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")
	link := filepath.Join(root, "usr/lib/ssl/cert.pem")
	if err := errors.Join(os.MkdirAll(filepath.Dir(certs), 0o755), os.MkdirAll(filepath.Dir(link), 0o755)); err != nil {
		return fmt.Errorf("bundle certificates: %w", err)
	}
	if err := os.WriteFile(certs, []byte(bundle.String()), 0o644); err != nil {
		return fmt.Errorf("bundle certificates: %w", err)
	}
	if err := os.Symlink("/etc/ssl/certs/ca-certificates.crt", link); err != nil {
		return fmt.Errorf("bundle certificates: %w", err)
	}
	return nil
}
