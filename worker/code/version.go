package code

import (
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/open-lambda/open-lambda/src/lambda"
)

// Version is one version of a lambda's code, extracted. It does not change.
type Version struct {
	Name     string
	Seq      uint64 // grows with every version of any lambda
	Digest   string // SHA-256 of the archive, hexadecimal
	Dir      string // extracted, read-only by convention
	Config   lambda.Config
	Warnings []string // of ol.yaml

	refs atomic.Int64
	log  *slog.Logger
}

// Retain counts one more user of Dir; false if it is gone already, because
// a newer version has taken its place.
func (v *Version) Retain() bool {
	for {
		n := v.refs.Load()
		if n == 0 {
			return false
		}
		if v.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release ends a use of Dir. The last one removes it.
func (v *Version) Release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	if err := os.RemoveAll(v.Dir); err != nil {
		v.log.Warn("remove old code", slog.String("dir", v.Dir), slog.Any("error", err))
	}
}
