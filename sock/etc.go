package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// namedUsers is how many of the sandboxes' user ids have a name in
// /etc/passwd; sandboxes beyond that run without one.
const namedUsers = 1024

// account is a user, and the group of the same name and number.
type account struct {
	name string
	id   int
}

// hostFiles are files of /etc that the host base takes over: they say how
// names, time and libraries are found, and nothing about the machine's users.
var hostFiles = []string{
	"ld.so.cache", "ld.so.conf", "localtime", "timezone", "mime.types", "protocols", "services",
	"nsswitch.conf", "gai.conf", "ssl/openssl.cnf",
}

// hostDirs are directories of /etc that the host base shows. Patterns are
// matched in /etc.
var hostDirs = []string{"ld.so.conf.d", "alternatives", "ssl/certs", "pki", "ca-certificates", "fonts", "python3*", "crypto-policies"}

// etc makes /etc: the base's own, or one put together from the host's.
func (r *root) etc() error {
	if r.base != BaseHost {
		return r.baseEtc()
	}
	if err := os.Mkdir(r.at("etc"), 0o755); err != nil {
		return fmt.Errorf("make etc: %w", err)
	}
	for _, name := range hostFiles {
		if err := r.copyEtc(name); err != nil {
			return err
		}
	}
	for _, pattern := range hostDirs {
		if err := r.showEtc(pattern); err != nil {
			return err
		}
	}
	return r.writeEtc()
}

// baseEtc shows the base's /etc as it is.
func (r *root) baseEtc() error {
	if _, err := os.Stat(filepath.Join(r.base, "etc")); errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(r.at("etc"), 0o755); err != nil {
			return fmt.Errorf("make etc: %w", err)
		}
		return r.writeEtc()
	}
	if err := r.bindNew(filepath.Join(r.base, "etc"), "etc"); err != nil {
		return fmt.Errorf("show etc: %w", err)
	}
	return nil
}

// copyEtc copies one file of the host's /etc, through links, if it is there.
func (r *root) copyEtc(name string) error {
	data, err := os.ReadFile(filepath.Join("/etc", name))
	if err != nil {
		return nil // absent or unreadable: programs have defaults for all of them
	}
	return r.put(name, data)
}

func (r *root) put(name string, data []byte) error {
	path := r.at(filepath.Join("etc", name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make etc: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write etc: %w", err)
	}
	return nil
}

func (r *root) showEtc(pattern string) error {
	matches, err := filepath.Glob(filepath.Join("/etc", pattern))
	if err != nil {
		return fmt.Errorf("match etc: %w", err)
	}
	for _, source := range matches {
		if info, err := os.Stat(source); err != nil || !info.IsDir() {
			continue
		}
		if err := r.bindNew(source, source); err != nil {
			return fmt.Errorf("show etc: %w", err)
		}
	}
	return nil
}

// writeEtc writes the files that must not be the host's.
func (r *root) writeEtc() error {
	r.ownEtc = true
	files := map[string]string{
		"hostname": "sandbox\n",
		"hosts":    "127.0.0.1 localhost\n::1 localhost ip6-localhost\n",
		// Sandboxes with a network see another in its place.
		"resolv.conf": "",
	}
	for name, text := range files {
		if err := r.put(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// people writes the accounts, where /etc is not the base's own. It runs last,
// when it is known which ids sandboxes have.
func (r *root) people(all []account) error {
	if !r.ownEtc {
		return nil
	}
	var p, g strings.Builder
	p.WriteString("root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n")
	g.WriteString("root:x:0:\nnogroup:x:65534:\n")
	for _, a := range all {
		fmt.Fprintf(&p, "%s:x:%d:%d:lambda:/tmp:/bin/sh\n", a.name, a.id, a.id)
		fmt.Fprintf(&g, "%s:x:%d:\n", a.name, a.id)
	}
	if err := r.put("passwd", []byte(p.String())); err != nil {
		return err
	}
	return r.put("group", []byte(g.String()))
}
