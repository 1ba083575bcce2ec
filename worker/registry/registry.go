package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/bucket"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// suffix of an archive's key.
const suffix = ".tar.gz"

// ErrNotFound: there is no such lambda.
var ErrNotFound = errors.New("no such lambda in the registry")

// ErrChanged: a file of the lambda changed while it was read. Reading it again
// helps.
var ErrChanged = errors.New("the lambda is being written")

// Registry is where lambdas are stored.
type Registry struct {
	bucket *blob.Bucket
	dir    string // of a bucket that is a directory, "" of another
	log    *slog.Logger
}

// Open opens a registry by URL. file:// and bare paths are made if they do
// not exist; other schemes need their driver in the binary.
func Open(ctx context.Context, where string, log *slog.Logger) (*Registry, error) {
	b, err := bucket.Open(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("open registry %s: %w", where, err)
	}
	r := &Registry{bucket: b, log: log}
	if dir, ok := bucket.Dir(where); ok {
		r.dir = dir
	}
	return r, nil
}

// Close releases the bucket.
func (r *Registry) Close() error { return r.bucket.Close() }

// List returns the names of all lambdas, sorted.
func (r *Registry) List(ctx context.Context) ([]string, error) {
	if _, err := r.readable(""); err != nil {
		return nil, fmt.Errorf("list registry: %w", err)
	}
	it := r.bucket.List(&blob.ListOptions{Delimiter: "/"})
	var names []string
	for {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return slices.Compact(names), nil
		}
		if err != nil {
			return nil, fmt.Errorf("list registry: %w", err)
		}
		if name, ok := nameOf(o); ok {
			names = append(names, name)
		} else {
			r.log.LogAttrs(ctx, slog.LevelWarn, "registry holds something that is no lambda", slog.String("key", o.Key))
		}
	}
}

func nameOf(o *blob.ListObject) (string, bool) {
	name, ok := strings.CutSuffix(o.Key, suffix)
	if o.IsDir {
		name, ok = strings.TrimSuffix(o.Key, "/"), true
	}
	return name, ok && lambda.ValidName(name)
}

// Put stores an archive. It becomes visible as a whole or not at all.
func (r *Registry) Put(ctx context.Context, name string, archive io.Reader) error {
	if err := lambda.CheckName(name); err != nil {
		return err
	}
	err := r.bucket.Upload(ctx, name+suffix, archive, &blob.WriterOptions{ContentType: "application/gzip"})
	if err != nil {
		return fmt.Errorf("store lambda %s: %w", name, err)
	}
	return nil
}

// Delete removes a lambda in whatever form it is stored; ErrNotFound if there
// is none.
func (r *Registry) Delete(ctx context.Context, name string) error {
	if err := lambda.CheckName(name); err != nil {
		return err
	}
	err := r.bucket.Delete(ctx, name+suffix)
	found := err == nil
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete lambda %s: %w", name, err)
	}
	files, err := r.files(ctx, name)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := r.bucket.Delete(ctx, f.Key); err != nil {
			return fmt.Errorf("delete lambda %s: %w", name, err)
		}
	}
	if !found && len(files) == 0 {
		return ErrNotFound
	}
	return nil
}

// files lists the objects of a lambda that is stored as a directory, sorted
// by key.
func (r *Registry) files(ctx context.Context, name string) ([]*blob.ListObject, error) {
	least, err := r.readable(name)
	if err != nil {
		return nil, fmt.Errorf("list lambda %s: %w", name, err)
	}
	it := r.bucket.List(&blob.ListOptions{Prefix: name + "/"})
	var out []*blob.ListObject
	for {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) && len(out) < least {
			return nil, fmt.Errorf("list lambda %s: %d of %d files: %w", name, len(out), least, ErrChanged)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list lambda %s: %w", name, err)
		}
		out = append(out, o)
	}
}
