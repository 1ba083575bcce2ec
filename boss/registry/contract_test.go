package registry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	_ "gocloud.dev/blob/memblob"

	"github.com/open-lambda/open-lambda/boss/blobs"
	"github.com/open-lambda/open-lambda/boss/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
)

// elsewhere is a NATS that other programs could use as well.
func elsewhere(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "ol", Password: "of nats", JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return "nats://ol:of%20nats@" + s.Addr().String()
}

// every runs a test on every kind of store.
func every(t *testing.T, test func(t *testing.T, meta registry.Meta, code registry.Code)) {
	t.Run("memory", func(t *testing.T) {
		s := memory.New()
		test(t, s, s.Code())
	})
	for name, cfg := range map[string]jetstream.Config{
		"embedded":  {Dir: t.TempDir(), SyncEvery: time.Minute},
		"elsewhere": {URL: elsewhere(t), Token: "of the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := jetstream.Open(cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s, s.Code())
		})
	}
	for name, url := range map[string]string{"directory": "file://" + t.TempDir() + "/code", "other bucket": "mem://"} {
		t.Run(name, func(t *testing.T) {
			b, err := blobs.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			test(t, memory.New(), b)
		})
	}
}

func TestRevisions(t *testing.T) {
	every(t, func(t *testing.T, meta registry.Meta, _ registry.Code) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r1, err := meta.Put(ctx, "a.b", []byte("1"), 0)
		if err != nil || r1 == 0 {
			t.Fatalf("got %d, %v", r1, err)
		}
		if _, err := meta.Put(ctx, "a.b", []byte("2"), 0); !errors.Is(err, registry.ErrStale) {
			t.Errorf("made twice: %v", err)
		}
		r2, err := meta.Put(ctx, "a.b", []byte("2"), r1)
		if err != nil || r2 <= r1 {
			t.Fatalf("got %d after %d, %v", r2, r1, err)
		}
		if _, err := meta.Put(ctx, "a.b", []byte("3"), r1); !errors.Is(err, registry.ErrStale) {
			t.Errorf("a stale revision: %v", err)
		}
		if err := meta.Delete(ctx, "a.b", r1); !errors.Is(err, registry.ErrStale) {
			t.Errorf("a stale removal: %v", err)
		}
		r3, err := meta.Put(ctx, "a.b", []byte("3"), registry.Any)
		if err != nil || r3 <= r2 {
			t.Errorf("got %d, %v", r3, err)
		}
		if err := meta.Delete(ctx, "a.b", r3); err != nil {
			t.Error(err)
		}
		if _, err := meta.Put(ctx, "a.b", []byte("4"), 0); err != nil {
			t.Errorf("made again after its removal: %v", err)
		}
	})
}

func TestOneOfManyWritersWins(t *testing.T) {
	every(t, func(t *testing.T, meta registry.Meta, _ registry.Code) {
		first, err := meta.Put(t.Context(), "x", []byte("0"), 0)
		if err != nil {
			t.Fatal(err)
		}
		won := make(chan uint64, 16)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				r, err := meta.Put(t.Context(), "x", fmt.Append(nil, i), first)
				switch {
				case err == nil:
					won <- r
				case !errors.Is(err, registry.ErrStale):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("%d writers won", len(won))
		}
	})
}

func TestWatch(t *testing.T) {
	every(t, func(t *testing.T, meta registry.Meta, _ registry.Code) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		put := func(name string) {
			t.Helper()
			if _, err := meta.Put(ctx, name, []byte(name), registry.Any); err != nil {
				t.Fatal(err)
			}
		}
		put("before")
		changes, err := meta.Watch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		expect := func(name, value string) {
			t.Helper()
			if c, ok := <-changes; !ok || c.Name != name || string(c.Value) != value {
				t.Errorf("got %q %q, want %q", c.Name, c.Value, name)
			}
		}
		expect("before", "before")
		expect("", "")
		put("after")
		expect("after", "after")
		if err := meta.Delete(ctx, "before", registry.Any); err != nil {
			t.Fatal(err)
		}
		expect("before", "")
		cancel()
		for range changes { // it is closed in the end
		}
	})
}

func TestCode(t *testing.T) {
	every(t, func(t *testing.T, _ registry.Meta, code registry.Code) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if all, err := code.List(ctx); err != nil || len(all) != 0 {
			t.Errorf("got %v, %v", all, err)
		}
		digest := strings.Repeat("5a", sha256.Size)
		big := strings.Repeat("0123456789", 100_000)
		for range 2 {
			if err := code.Put(ctx, digest, strings.NewReader(big)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := code.Get(ctx, digest)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, []byte(big)) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		if all, err := code.List(ctx); err != nil || len(all) != 1 || all[0].Digest != digest || all[0].AgeSeconds > 60 {
			t.Errorf("got %v, %v", all, err)
		}
		if err := code.Delete(ctx, digest); err != nil {
			t.Error(err)
		}
		if _, err := code.Get(ctx, digest); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}
