package bucket

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	_ "gocloud.dev/blob/memblob"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, where := range []string{"bare/path", "file://" + dir + "/with%20space", dir + "/absolute", "mem://"} {
		b, err := Open(t.Context(), where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if err := b.WriteAll(t.Context(), "key", []byte("value"), nil); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"bare/path", "with space", "absolute"} {
		entries, err := os.ReadDir(filepath.Join(dir, path))
		if err != nil || len(entries) != 1 || entries[0].Name() != "key" {
			t.Errorf("%s holds %v, %v", path, entries, err)
		}
	}
	var unknown *SchemeError
	if _, err := Open(t.Context(), "s9://bucket"); !errors.As(err, &unknown) || unknown.Scheme != "s9" {
		t.Errorf("got %v", err)
	}
}
