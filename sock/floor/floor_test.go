package floor

import (
	"os"
	"path/filepath"
	"testing"
)

func open(t testing.TB, imports ...string) *Zygote {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: forking into cgroups needs root")
	}
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("NOT RUN: there is no /usr/bin/python3")
	}
	dir := filepath.Join(t.TempDir(), "floor")
	z, err := Open("test-floor", dir, imports...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := z.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the directory is left")
		}
	})
	return z
}

func TestFloors(t *testing.T) {
	z := open(t)
	for range 3 {
		parked, err := z.Parked()
		if err != nil {
			t.Fatal(err)
		}
		forked, err := z.Forked()
		if err != nil {
			t.Fatal(err)
		}
		t.Log("parked", parked, "forked", forked)
	}
	for _, z.Constant = range []bool{false, true} {
		rate, err := z.Rate(8, 2)
		if err != nil || rate <= 0 {
			t.Fatalf("rate is %f, %v", rate, err)
		}
		t.Logf("%.0f forks a second, constant answers %t", rate, z.Constant)
	}
}

func BenchmarkParked(b *testing.B) {
	z := open(b)
	var total float64
	n := 0
	for b.Loop() {
		took, err := z.Parked()
		if err != nil {
			b.Fatal(err)
		}
		total += float64(took.Microseconds())
		n++
	}
	b.ReportMetric(total/float64(n), "us/start")
}

func BenchmarkForked(b *testing.B) {
	z := open(b)
	for b.Loop() {
		if _, err := z.Forked(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRate(b *testing.B) {
	z := open(b, "json", "http.client", "traceback", "threading", "random", "datetime", "urllib.parse", "hashlib", "base64")
	rate, err := z.Rate(100, 2)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(rate, "starts/s")
}
