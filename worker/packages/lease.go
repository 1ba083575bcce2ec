package packages

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Lease keeps packages on disk for somebody who uses them.
type Lease struct {
	store *Store
	pkgs  []*pkg
	refs  atomic.Int64
}

// Packages describes them to a sandbox.
func (l *Lease) Packages() []sandbox.Package {
	out := make([]sandbox.Package, len(l.pkgs))
	for i, p := range l.pkgs {
		out[i] = sandbox.Package{
			Name: key(p.meta.Name, p.meta.Version), Dir: filepath.Join(p.dir, filesDir), Modules: p.meta.Modules,
		}
	}
	return out
}

// Retain counts one more user. It must not be called after the last Release.
func (l *Lease) Retain() { l.refs.Add(1) }

// Release ends a use; with the last one the packages may go.
func (l *Lease) Release() {
	if l.refs.Add(-1) > 0 {
		return
	}
	now := time.Now()
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	for _, p := range l.pkgs {
		p.refs--
		p.used = now
		l.store.warn("note use of package", os.Chtimes(filepath.Join(p.dir, metaFile), time.Time{}, now))
	}
}
