package code

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/worker/registry"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a Source in memory.
type shelf struct {
	delay time.Duration

	mu      sync.Mutex
	blobs   map[string][]byte
	tags    map[string]int
	stamp   string // "": it has none
	err     error
	looks   int
	fetches int
	writing int // fetches that will find the lambda being written
	busy    int
	most    int
}

func (s *shelf) put(name string, blob []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs, s.tags = map[string][]byte{}, map[string]int{}
	}
	s.blobs[name] = blob
	s.tags[name]++
}

func (s *shelf) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, name)
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *shelf) counts() (looks, fetches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks, s.fetches
}

func (s *shelf) Version(_ context.Context, name, least string) (string, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	if s.err != nil {
		return "", "", s.err
	}
	if s.stamp < least && s.stamp != "" {
		return "", "", errors.New("the source is behind")
	}
	if s.blobs[name] == nil {
		return "", s.stamp, registry.ErrNotFound
	}
	return fmt.Sprint(s.tags[name]), s.stamp, nil
}

func (s *shelf) Fetch(_ context.Context, name string, w io.Writer) error {
	s.mu.Lock()
	s.fetches++
	s.busy++
	s.most = max(s.most, s.busy)
	b := s.blobs[name]
	s.mu.Unlock()
	time.Sleep(s.delay) // stands for the network
	s.mu.Lock()
	s.busy--
	s.writing--
	changed := s.writing >= 0
	s.mu.Unlock()
	if changed {
		_, err := w.Write(b[:1])
		return errors.Join(fmt.Errorf("read: %w", registry.ErrChanged), err)
	}
	_, err := w.Write(b)
	return err
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	tw := tar.NewWriter(gz)
	for name, text := range files {
		err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644})
		if _, e := io.WriteString(tw, text); err != nil || e != nil {
			t.Fatal(err, e)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func newCache(t *testing.T, s *shelf, change func(*Config)) *Cache {
	t.Helper()
	cfg := Config{
		Source: s, Dir: filepath.Join(t.TempDir(), "code"), Fresh: time.Second,
		Limits: archive.DefaultLimits(), Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnePullAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{delay: 300 * time.Millisecond}
		s.put("f", pack(t, map[string]string{"f.py": "1", "ol.yaml": "limits: {mem_mb: 99}\nx: 1"}))
		c := newCache(t, s, nil)
		defer c.Close()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				v, err := c.Get(t.Context(), "f", "")
				if err != nil || v.Config.Limits.MemMB != 99 || len(v.Warnings) != 1 {
					t.Errorf("got %+v, %v", v, err)
				}
			})
		}
		wg.Wait()
		if looks, fetches := s.counts(); looks != 1 || fetches != 1 {
			t.Errorf("%d looks, %d fetches", looks, fetches)
		}
	})
}

func TestCallerLeavesPullGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{delay: time.Second}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c := newCache(t, s, nil)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.Get(ctx, "f", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Get(t.Context(), "f", ""); err != nil {
			t.Error(err)
		}
		if _, fetches := s.counts(); fetches != 1 {
			t.Errorf("%d fetches", fetches)
		}
	})
}

func TestNewCodeInTimeAndNeverBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{delay: 50 * time.Millisecond}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c := newCache(t, s, nil)
		defer c.Close()
		begun := time.Now()
		updated := time.Duration(-1)
		var last uint64
		for time.Since(begun) < 5*time.Second {
			v, err := c.Get(t.Context(), "f", "")
			if err != nil {
				t.Fatal(err)
			}
			if v.Seq < last {
				t.Fatal("an older version came back")
			}
			if v.Seq > last && last != 0 && updated >= 0 {
				if late := time.Since(begun) - updated; late > 1100*time.Millisecond {
					t.Errorf("seen after %v", late)
				}
			}
			last = v.Seq
			time.Sleep(7 * time.Millisecond)
			if updated < 0 && time.Since(begun) > 1500*time.Millisecond {
				s.put("f", pack(t, map[string]string{"f.py": "2"}))
				updated = time.Since(begun)
			}
		}
		if last != 2 {
			t.Errorf("the new code was never seen: seq %d", last)
		}
		if looks, _ := s.counts(); looks > 12 {
			t.Errorf("the registry was asked %d times in 5 s", looks)
		}
	})
}

func TestSameContentIsNoNewVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		blob := pack(t, map[string]string{"f.py": "1"})
		s.put("f", blob)
		c := newCache(t, s, nil)
		defer c.Close()
		v1, err := c.Get(t.Context(), "f", "")
		if err != nil {
			t.Fatal(err)
		}
		s.put("f", blob)
		c.Changed("f")
		v2, err := c.Get(t.Context(), "f", "")
		if err != nil || v1 != v2 {
			t.Errorf("got %v, %v", v2, err)
		}
		if _, err := os.Stat(v1.Dir); err != nil {
			t.Error(err)
		}
	})
}

func TestOldCodeLivesWhileUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c := newCache(t, s, nil)
		defer c.Close()
		v1, err := c.Get(t.Context(), "f", "")
		if err != nil || !v1.Retain() {
			t.Fatal(err)
		}
		s.put("f", pack(t, map[string]string{"f.py": "2"}))
		c.Changed("f")
		if _, err := c.Get(t.Context(), "f", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b, err := os.ReadFile(filepath.Join(v1.Dir, "f.py")); err != nil || string(b) != "1" {
			t.Errorf("old code in use: %q, %v", b, err)
		}
		v1.Release()
		if _, err := os.Stat(v1.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("old code was not removed: %v", err)
		}
		if v1.Retain() {
			t.Error("a removed version was retained")
		}
	})
}

func TestGoneAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		var gone []string
		c := newCache(t, s, func(cfg *Config) { cfg.Gone = func(v *Version) { gone = append(gone, v.Name) } })
		defer c.Close()
		v, err := c.Get(t.Context(), "f", "")
		if err != nil {
			t.Fatal(err)
		}
		s.drop("f")
		c.Changed("f")
		if _, err := c.Get(t.Context(), "f", ""); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if len(gone) != 1 {
			t.Errorf("told %v", gone)
		}
		if _, err := os.Stat(v.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("code was not removed: %v", err)
		}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c.Changed("f")
		if w, err := c.Get(t.Context(), "f", ""); err != nil || w.Seq <= v.Seq {
			t.Errorf("got %v, %v", w, err)
		}
	})
}

func TestUnknownNamesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		c := newCache(t, s, nil)
		defer c.Close()
		var wg sync.WaitGroup
		for i := range 5000 {
			wg.Go(func() {
				if _, err := c.Get(t.Context(), fmt.Sprint("no", i), ""); !errors.Is(err, registry.ErrNotFound) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if len(c.entries) != 0 || len(c.unknown.when) > ringSize {
			t.Errorf("%d entries, %d remembered", len(c.entries), len(c.unknown.when))
		}
		before, _ := s.counts()
		for range 100 {
			if _, err := c.Get(t.Context(), "nobody", ""); !errors.Is(err, registry.ErrNotFound) {
				t.Errorf("got %v", err)
			}
		}
		if after, _ := s.counts(); after != before+1 {
			t.Errorf("the registry was asked %d times for one unknown name", after-before)
		}
	})
}

func TestBrokenLambda(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, blob := range map[string][]byte{
			"text":    []byte("no archive"),
			"noentry": pack(t, map[string]string{"readme": ""}),
			"yaml":    pack(t, map[string]string{"f.py": "", "ol.yaml": "limits: 3"}),
		} {
			s := &shelf{}
			s.put(name, blob)
			c := newCache(t, s, nil)
			var broken *BrokenError
			for range 3 {
				if _, err := c.Get(t.Context(), name, ""); !errors.As(err, &broken) {
					t.Errorf("%s: got %v", name, err)
				}
			}
			if _, fetches := s.counts(); fetches != 1 {
				t.Errorf("%s: %d fetches", name, fetches)
			}
			if left, _ := filepath.Glob(filepath.Join(c.cfg.Dir, "*/*")); len(left) != 0 {
				t.Errorf("%s: left %v", name, left)
			}
			s.put(name, pack(t, map[string]string{"f.py": "1"}))
			c.Changed(name)
			if _, err := c.Get(t.Context(), name, ""); err != nil {
				t.Errorf("%s mended: %v", name, err)
			}
			c.Close()
		}
	})
}

func TestRegistryOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c := newCache(t, s, nil)
		defer c.Close()
		v, err := c.Get(t.Context(), "f", "")
		if err != nil {
			t.Fatal(err)
		}
		s.fail(errors.New("network down"))
		time.Sleep(3 * time.Second)
		if w, err := c.Get(t.Context(), "f", ""); err != nil || w != v {
			t.Errorf("what was pulled stays in use: %v, %v", w, err)
		}
		if _, err := c.Get(t.Context(), "g", ""); err == nil || errors.Is(err, registry.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNoCaching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{delay: time.Millisecond}
		s.put("f", pack(t, map[string]string{"f.py": "1"}))
		c := newCache(t, s, func(cfg *Config) { cfg.Fresh = 0 })
		defer c.Close()
		for i := range 3 {
			time.Sleep(time.Second)
			if _, err := c.Get(t.Context(), "f", ""); err != nil {
				t.Error(err)
			}
			if _, err := c.Get(t.Context(), "g", ""); !errors.Is(err, registry.ErrNotFound) {
				t.Error(err)
			}
			if looks, _ := s.counts(); looks != 2*(i+1) {
				t.Errorf("%d looks", looks)
			}
		}
	})
}

func TestNames(t *testing.T) {
	c := newCache(t, &shelf{}, nil)
	defer c.Close()
	var ne *lambda.NameError
	if _, err := c.Get(t.Context(), "..", ""); !errors.As(err, &ne) {
		t.Errorf("got %v", err)
	}
}

func TestNewEmptiesTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "code")
	if err := os.MkdirAll(filepath.Join(dir, "f", archive.TempPrefix+"1"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newCache(t, &shelf{}, func(cfg *Config) { cfg.Dir = dir })
	defer c.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// What is uploaded is pulled at once, and a second upload is seen even if it
// comes while the first is being pulled.
func TestChangedPullsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{delay: time.Second}
		c := newCache(t, s, nil)
		defer c.Close()
		s.put("f", pack(t, map[string]string{"f.py": "first"}))
		c.Changed("f")
		synctest.Wait()
		if _, fetches := s.counts(); fetches != 1 {
			t.Errorf("%d fetches before anybody asked", fetches)
		}
		s.put("f", pack(t, map[string]string{"f.py": "second"}))
		c.Changed("f")
		v, err := c.Get(t.Context(), "f", "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(v.Dir, "f.py")); err != nil || string(got) != "second" {
			t.Errorf("got %q, %v", got, err)
		}
		c.Changed("../f") // not a name: ignored
	})
}

// A lambda that is being written is read again after a moment.
func TestLambdaBeingWritten(t *testing.T) {
	for _, tt := range []struct {
		writing int
		fault   error
	}{{2, nil}, {fetchTries, registry.ErrChanged}} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{writing: tt.writing}
			s.put("f", pack(t, map[string]string{"f.py": "1"}))
			c := newCache(t, s, nil)
			defer c.Close()
			v, err := c.Get(t.Context(), "f", "")
			if !errors.Is(err, tt.fault) || err == nil && v.Dir == "" {
				t.Errorf("written to %d times: %v", tt.writing, err)
			}
		})
	}
}
