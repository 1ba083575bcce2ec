package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
)

// Code is the store's registry.Code.
func (s *Store) Code() *Code { return &Code{s} }

// Code stores archives as objects.
type Code struct{ s *Store }

// Put is part of registry.Code.
func (c *Code) Put(ctx context.Context, digest string, archive io.Reader) error {
	o, err := c.s.codeOf(ctx)
	if err != nil {
		return err
	}
	if info, err := o.GetInfo(ctx, digest); err == nil && time.Since(info.ModTime) < registry.FreshEnough {
		return nil
	}
	_, err = o.Put(ctx, jetstream.ObjectMeta{Name: digest}, archive)
	return err
}

// Get is part of registry.Code.
func (c *Code) Get(ctx context.Context, digest string) (io.ReadCloser, error) {
	o, err := c.s.codeOf(ctx)
	if err != nil {
		return nil, err
	}
	r, err := o.Get(ctx, digest)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, registry.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("fetch code: %w", err)
	}
	return r, nil
}

// Delete is part of registry.Code.
func (c *Code) Delete(ctx context.Context, digest string) error {
	o, err := c.s.codeOf(ctx)
	if err != nil {
		return err
	}
	if err := o.Delete(ctx, digest); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("remove code: %w", err)
	}
	return nil
}

// List is part of registry.Code.
func (c *Code) List(ctx context.Context) ([]registry.Stored, error) {
	o, err := c.s.codeOf(ctx)
	if err != nil {
		return nil, err
	}
	all, err := o.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list code: %w", err)
	}
	out := make([]registry.Stored, 0, len(all))
	for _, info := range all {
		out = append(out, registry.Stored{Digest: info.Name, AgeSeconds: time.Since(info.ModTime).Seconds()})
	}
	return out, nil
}
