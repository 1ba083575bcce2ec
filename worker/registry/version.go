package registry

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/open-lambda/open-lambda/src/lambda"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Version tells what is stored now, without reading it: equal versions have
// equal content. ErrNotFound if there is nothing. There are no stamps: what is
// stored is what is newest.
func (r *Registry) Version(ctx context.Context, name, _ string) (version, stamp string, err error) {
	version, err = r.version(ctx, name)
	return version, "", err
}

func (r *Registry) version(ctx context.Context, name string) (string, error) {
	if err := lambda.CheckName(name); err != nil {
		return "", err
	}
	a, err := r.bucket.Attributes(ctx, name+suffix)
	if err == nil {
		return fmt.Sprintf("archive %s %d %d %x", a.ETag, a.ModTime.UnixNano(), a.Size, a.MD5), nil
	}
	if gcerrors.Code(err) != gcerrors.NotFound {
		return "", fmt.Errorf("look up lambda %s: %w", name, err)
	}
	files, err := r.files(ctx, name)
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", ErrNotFound
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %d %d %x\n", f.Key, f.ModTime.UnixNano(), f.Size, f.MD5)
	}
	return "files " + hex.EncodeToString(h.Sum(nil)), nil
}

// Fetch writes the lambda's archive to w, packing it if it is stored as
// files. ErrNotFound if there is nothing, ErrChanged if a file was written to
// meanwhile.
func (r *Registry) Fetch(ctx context.Context, name string, w io.Writer) error {
	if err := lambda.CheckName(name); err != nil {
		return err
	}
	err := r.bucket.Download(ctx, name+suffix, w, nil)
	if err == nil {
		return nil
	}
	if gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	files, err := r.files(ctx, name)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return ErrNotFound
	}
	if err := r.pack(ctx, name, files, w); err != nil {
		return fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	return nil
}

func (r *Registry) pack(ctx context.Context, name string, files []*blob.ListObject, w io.Writer) error {
	gz, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(gz)
	for _, f := range files {
		if err := r.packFile(ctx, tw, strings.TrimPrefix(f.Key, name+"/"), f.Key); err != nil {
			return errors.Join(err, gz.Close())
		}
	}
	return errors.Join(tw.Close(), gz.Close())
}

func (r *Registry) packFile(ctx context.Context, tw *tar.Writer, name, key string) error {
	rd, err := r.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: rd.Size(), Mode: 0o755, Format: tar.FormatPAX}
	if err := tw.WriteHeader(h); err != nil {
		return errors.Join(err, rd.Close())
	}
	n, err := io.Copy(tw, rd)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n < rd.Size() {
		err = fmt.Errorf("read %s: %w", key, ErrChanged)
	}
	return errors.Join(err, rd.Close())
}
