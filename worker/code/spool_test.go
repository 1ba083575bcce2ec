package code

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func TestSpool(t *testing.T) {
	for _, size := range []int{0, 1, inMemory, inMemory + 1, 3 * inMemory} {
		dir := t.TempDir()
		s := &spool{dir: dir}
		want := bytes.Repeat([]byte("archive"), size/7+1)[:size]
		for rest := want; len(rest) > 0; rest = rest[min(len(rest), 100_000):] {
			if _, err := s.Write(rest[:min(len(rest), 100_000)]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.rewind(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s.reader())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		if (s.file != nil) != (size > inMemory) {
			t.Errorf("%d bytes: in a file: %t", size, s.file != nil)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%d bytes: %v is left, %v", size, left, err)
		}
		s.close()
	}
}

func TestSpoolWithoutRoom(t *testing.T) {
	s := &spool{dir: t.TempDir() + "/absent"}
	if _, err := s.Write(make([]byte, inMemory+1)); err == nil {
		t.Error("an archive too large for memory was taken")
	}
	s.close()
}
