package ids

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestBlocksDoNotOverlap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "ids")
	r := Range{100_000, 3 * blockSize}
	var held []*Block
	for i := range 3 {
		b, err := claim(path, r)
		if err != nil {
			t.Fatal(err)
		}
		if b.Index != i || b.First != r.First+uint32(i)*blockSize || b.Count != blockSize {
			t.Errorf("block %d is %+v", i, b)
		}
		held = append(held, b)
	}
	if _, err := claim(path, r); !errors.Is(err, ErrExhausted) {
		t.Errorf("a fourth claim gives %v", err)
	}
	if err := held[1].Release(); err != nil {
		t.Fatal(err)
	}
	b, err := claim(path, r)
	if err != nil || b.Index != 1 {
		t.Fatalf("after a release there is %+v, %v", b, err)
	}
	held[1] = b
	for _, b := range held {
		if err := b.Release(); err != nil {
			t.Error(err)
		}
	}
}

// claimPath makes the test binary a process that claims a block and is killed.
const claimPath = "IDS_TEST_CLAIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(claimPath); path != "" {
		if _, err := claim(path, Range{100_000, blockSize}); err != nil {
			os.Exit(1)
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
	os.Exit(m.Run())
}

func TestKilledOwnerGivesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), claimPath+"="+path)
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.Exited() {
		t.Fatalf("it was to be killed: %v", err)
	}
	b, err := claim(path, Range{100_000, blockSize})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Release(); err != nil {
		t.Error(err)
	}
}

func TestSlices(t *testing.T) {
	s := NewSlices(&Block{First: 100_000, Count: 4 * SliceSize})
	seen := map[uint32]bool{}
	var last Slice
	for range 3 {
		one, err := s.Get()
		if err != nil {
			t.Fatal(err)
		}
		if one.First != 100_000+one.Offset || one.First < 100_000+SliceSize || seen[one.First] {
			t.Errorf("slice is %+v after %v", one, seen)
		}
		seen[one.First] = true
		last = one
	}
	if _, err := s.Get(); !errors.Is(err, ErrExhausted) {
		t.Errorf("a fourth slice gives %v", err)
	}
	s.Put(last)
	if again, err := s.Get(); err != nil || again != last {
		t.Errorf("after a return there is %+v, %v", again, err)
	}
}

func TestGranted(t *testing.T) {
	tests := map[string]struct {
		text string
		want Range
		ok   bool
	}{
		"absent":  {"root:100000:65536\n", Range{}, false},
		"there":   {"root:1:2\nopenlambda:300000:131072\n", Range{300_000, 131_072}, true},
		"broken":  {"openlambda:x:65536\nopenlambda:5\n", Range{}, false},
		"too low": {"openlambda:0:65536\n", Range{}, false},
		"too far": {"openlambda:2147483000:65536\n", Range{}, false},
	}
	for name, tt := range tests {
		if got, ok := granted(tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %t", name, got, ok)
		}
	}
	if n := (Range{300_000, 131_072}).blocks(); n != 1 {
		t.Errorf("a small range has %d blocks", n)
	}
	if n := (Range{300_000, 100}).blocks(); n != 0 {
		t.Errorf("a tiny range has %d blocks", n)
	}
}
