package bucket

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// SchemeError is a URL whose driver is not in the binary.
type SchemeError struct{ Scheme string }

// Error says what is missing and how to get it.
func (e *SchemeError) Error() string {
	return "this binary has no driver for " + e.Scheme + ":// buckets: docs/cluster.md says how to build one that has"
}

// Dir is the directory that Open opens for a bare path or a file:// URL; false
// for the URL of another scheme.
func Dir(where string) (string, bool) {
	dir, isFile := strings.CutPrefix(where, "file://")
	if !isFile {
		return where, !strings.Contains(where, "://")
	}
	if u, err := url.PathUnescape(dir); err == nil {
		dir = u
	}
	return dir, true
}

// Open opens a bucket: a bare path or file:// URL of a directory, which is
// made, or the URL of another scheme. The caller closes it.
func Open(ctx context.Context, where string) (*blob.Bucket, error) {
	dir, isFile := Dir(where)
	if scheme, _, ok := strings.Cut(where, "://"); ok && !isFile {
		if !blob.DefaultURLMux().ValidBucketScheme(scheme) {
			return nil, &SchemeError{scheme}
		}
		return blob.OpenBucket(ctx, where)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// No metadata: it would leave a file of its own beside each archive. No
	// other directory for temporary files: the rename must not cross devices.
	return fileblob.OpenBucket(dir, &fileblob.Options{Metadata: fileblob.MetadataDontWrite, NoTempDir: true})
}
