package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
)

// Install checks an archive and stores it as a lambda, if that has the revision
// last. The warnings are those of its ol.yaml. Faults of the archive are those
// of package unpack.
func (r *Registry) Install(ctx context.Context, name string, body io.Reader, last uint64) (api.Function, []string, error) {
	if err := lambda.CheckName(name); err != nil {
		return api.Function{}, nil, err
	}
	if err := r.expect(name, last); err != nil {
		return api.Function{}, nil, err
	}
	dir, err := os.MkdirTemp(r.cfg.Scratch, "upload-*")
	if err != nil {
		return api.Function{}, nil, fmt.Errorf("store upload: %w", err)
	}
	f, warnings, err := r.install(ctx, name, body, last, dir)
	return f, warnings, errors.Join(err, os.RemoveAll(dir))
}

// expect refuses a write early whose revision is known to be old.
func (r *Registry) expect(name string, last uint64) error {
	if last == Any {
		return nil
	}
	if f, ok := r.Get(name); ok && f.Revision > last {
		return fmt.Errorf("store lambda %s: %w: it has revision %d", name, ErrStale, f.Revision)
	}
	return nil
}

func (r *Registry) install(ctx context.Context, name string, body io.Reader, last uint64, dir string) (api.Function, []string, error) {
	file, f, err := r.receive(dir, body)
	if err != nil {
		return f, nil, err
	}
	defer file.Close()
	cfg, warnings, err := unpack.Lambda(file, filepath.Join(dir, "check"), r.cfg.Limits)
	if err != nil {
		return f, nil, err
	}
	f.Name, f.Updated = name, time.Now().UTC()
	if f.Config, err = json.Marshal(&cfg); err != nil {
		return f, nil, fmt.Errorf("store lambda %s: %w", name, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return f, nil, fmt.Errorf("store upload: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	if err := r.cfg.Code.Put(ctx, f.Digest, file); err != nil {
		return f, nil, fmt.Errorf("store code of %s: %w", name, err)
	}
	f, err = r.put(ctx, f, last)
	return f, warnings, err
}

// receive writes the archive to a file and computes its digest.
func (r *Registry) receive(dir string, body io.Reader) (*os.File, api.Function, error) {
	file, err := os.Create(filepath.Join(dir, "archive"))
	if err != nil {
		return nil, api.Function{}, fmt.Errorf("store upload: %w", err)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, h), body)
	if err != nil {
		return nil, api.Function{}, errors.Join(fmt.Errorf("read upload: %w", err), file.Close())
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, api.Function{}, errors.Join(fmt.Errorf("store upload: %w", err), file.Close())
	}
	return file, api.Function{Digest: hex.EncodeToString(h.Sum(nil)), Bytes: n}, nil
}
