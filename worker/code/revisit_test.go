package code

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Lambdas that went from the registry without a word, and that nobody asks for,
// go from the cache as well, as long as somebody asks for anything.
func TestGoneWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gone := &shelf{}, 0
		c := newCache(t, s, func(cfg *Config) { cfg.Gone = func(*Version) { gone++ } })
		defer c.Close()
		const others = 50
		for i := range others {
			name := fmt.Sprint("other", i)
			s.put(name, pack(t, map[string]string{"f.py": name}))
			if _, err := c.Get(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
			s.drop(name)
		}
		s.put("asked", pack(t, map[string]string{"f.py": "1"}))
		for range 60 {
			if _, err := c.Get(t.Context(), "asked", ""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		c.mu.Lock()
		left := len(c.entries)
		c.mu.Unlock()
		dirs, err := os.ReadDir(c.cfg.Dir)
		if err != nil || left != 1 || len(dirs) != 1 || gone != others {
			t.Errorf("%d lambdas and %d directories are left, %d are gone: %v", left, len(dirs), gone, err)
		}
	})
}
