package async_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/async/memory"
	"github.com/open-lambda/open-lambda/boss/jetstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	limit = 5
	lease = time.Second
)

// both runs a test on every kind of store.
func both(t *testing.T, test func(t *testing.T, q async.Queue, s async.States)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.NewQueue(limit, lease), memory.NewStates()) })
	t.Run("jetstream", func(t *testing.T) {
		s, err := jetstream.Open(jetstream.Config{Dir: t.TempDir(), SyncEvery: time.Minute}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s.Queue(jetstream.QueueConfig{Limit: limit, Lease: lease}), s.States())
	})
}

// take waits for the next delivery, which must bring want.
func take(t *testing.T, q async.Queue, want string) async.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		d, err := q.Take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			continue
		}
		if string(d.Work()) != want {
			t.Fatalf("took %q, want %q", d.Work(), want)
		}
		return d
	}
	t.Fatalf("waited in vain for %q", want)
	return nil
}

func put(t *testing.T, q async.Queue, id, work string) {
	t.Helper()
	if err := q.Put(t.Context(), id, []byte(work)); err != nil {
		t.Fatal(err)
	}
}

func TestQueue(t *testing.T) {
	both(t, func(t *testing.T, q async.Queue, _ async.States) {
		put(t, q, "a", "1")
		put(t, q, "a", "again")
		put(t, q, "b", "2")
		first, second := take(t, q, "1"), take(t, q, "2")
		if err := first.Done(t.Context()); err != nil {
			t.Error(err)
		}
		if err := second.Later(t.Context(), 50*time.Millisecond); err != nil {
			t.Error(err)
		}
		// Nobody says a word about it: it comes again.
		take(t, q, "2")
		if err := take(t, q, "2").Done(t.Context()); err != nil {
			t.Error(err)
		}
		put(t, q, "a", "known")
		put(t, q, "c", "3")
		take(t, q, "3")
	})
}

func TestBusyKeepsWork(t *testing.T) {
	both(t, func(t *testing.T, q async.Queue, _ async.States) {
		put(t, q, "a", "1")
		d := take(t, q, "1")
		tick := time.NewTicker(lease / 4)
		defer tick.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), 3*lease)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			for ctx.Err() == nil {
				if again, _ := q.Take(ctx); again != nil {
					t.Error("it came again while it was in progress")
				}
			}
		})
		for ctx.Err() == nil {
			select {
			case <-tick.C:
				if err := d.Busy(t.Context()); err != nil {
					t.Error(err)
				}
			case <-ctx.Done():
			}
		}
		wg.Wait()
		if err := d.Done(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	both(t, func(t *testing.T, q async.Queue, _ async.States) {
		for i := range limit {
			put(t, q, fmt.Sprint(i), "x")
		}
		if err := q.Put(t.Context(), "more", []byte("x")); !errors.Is(err, async.ErrFull) {
			t.Errorf("got %v", err)
		}
		if err := take(t, q, "x").Done(t.Context()); err != nil {
			t.Error(err)
		}
		put(t, q, "more", "x")
	})
}

func TestLargeWork(t *testing.T) {
	both(t, func(t *testing.T, q async.Queue, s async.States) {
		large := bytes.Repeat([]byte("0123456789"), 600_000)
		put(t, q, "a", string(large))
		take(t, q, string(large))
		if _, err := s.Put(t.Context(), "job.a", large, 0, 0); err != nil {
			t.Error(err)
		}
		if got, _, err := s.Get(t.Context(), "job.a"); err != nil || !bytes.Equal(got, large) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

func TestStates(t *testing.T) {
	both(t, func(t *testing.T, _ async.Queue, s async.States) {
		ctx := t.Context()
		if _, _, err := s.Get(ctx, "job.a"); !errors.Is(err, async.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		r1, err := s.Put(ctx, "job.a", []byte("1"), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(ctx, "job.a", []byte("2"), 0, 0); !errors.Is(err, async.ErrStale) {
			t.Errorf("made twice: %v", err)
		}
		r2, err := s.Put(ctx, "job.a", []byte("2"), r1, 0)
		if err != nil || r2 <= r1 {
			t.Errorf("got %d after %d, %v", r2, r1, err)
		}
		if _, err := s.Put(ctx, "job.a", []byte("3"), r1, 0); !errors.Is(err, async.ErrStale) {
			t.Errorf("a stale revision: %v", err)
		}
		if got, r, err := s.Get(ctx, "job.a"); err != nil || string(got) != "2" || r != r2 {
			t.Errorf("got %q %d, %v", got, r, err)
		}
		if _, err := s.Put(ctx, "dead.b", []byte("x"), 0, 0); err != nil {
			t.Error(err)
		}
		if keys, err := s.List(ctx, "dead."); err != nil || !slices.Equal(keys, []string{"dead.b"}) {
			t.Errorf("got %v, %v", keys, err)
		}
		if err := s.Delete(ctx, "job.a", r1); !errors.Is(err, async.ErrStale) {
			t.Errorf("a stale removal: %v", err)
		}
		if err := s.Delete(ctx, "job.a", r2); err != nil {
			t.Error(err)
		}
		if err := s.Delete(ctx, "job.a", r2); !errors.Is(err, async.ErrStale) {
			t.Errorf("removed twice: %v", err)
		}
		if _, err := s.Put(ctx, "job.a", []byte("4"), 0, 0); err != nil {
			t.Errorf("made again after its removal: %v", err)
		}
	})
}

func TestStatesExpire(t *testing.T) {
	both(t, func(t *testing.T, _ async.Queue, s async.States) {
		r, err := s.Put(t.Context(), "job.a", []byte("1"), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "job.a", []byte("2"), r, time.Second); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(time.Minute); ; <-tick.C {
			if _, _, err := s.Get(t.Context(), "job.a"); errors.Is(err, async.ErrNotFound) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("it never expired")
			}
		}
		if _, err := s.Put(t.Context(), "job.a", []byte("3"), 0, 0); err != nil {
			t.Errorf("made again after its end: %v", err)
		}
	})
}
