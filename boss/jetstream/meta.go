package jetstream

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
)

// keyOf encodes a lambda's name, which may have dots where NATS allows none.
func keyOf(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func nameOf(key string) (string, bool) {
	name, err := base64.RawURLEncoding.DecodeString(key)
	return string(name), err == nil
}

// Put is part of registry.Meta.
func (s *Store) Put(ctx context.Context, name string, value []byte, last uint64) (uint64, error) {
	kv, err := s.metaOf(ctx)
	if err != nil {
		return 0, err
	}
	var revision uint64
	switch last {
	case registry.Any:
		revision, err = kv.Put(ctx, keyOf(name), value)
	case 0:
		revision, err = kv.Create(ctx, keyOf(name), value)
	default:
		revision, err = kv.Update(ctx, keyOf(name), value, last)
	}
	return revision, translate(err)
}

// Delete is part of registry.Meta.
func (s *Store) Delete(ctx context.Context, name string, last uint64) error {
	kv, err := s.metaOf(ctx)
	if err != nil {
		return err
	}
	var opts []jetstream.KVDeleteOpt
	if last != registry.Any {
		opts = append(opts, jetstream.LastRevision(last))
	}
	return translate(kv.Delete(ctx, keyOf(name), opts...))
}

// translate finds out whether a write came too late.
func translate(err error) error {
	if errors.Is(err, jetstream.ErrKeyExists) || stale(err) {
		return registry.ErrStale
	}
	return err
}

// stale tells whether a write expected another revision than there was.
func stale(err error) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) &&
		(e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
