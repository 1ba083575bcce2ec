package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// The page on cidre+ shows what the command says of the runs that it cites.
func TestBarOnThePage(t *testing.T) {
	const root = "../../.."
	page, err := os.ReadFile(root + "/docs/cidre-plus.md")
	if err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	s := streams{out: &out, err: &talk, dir: root}
	if code := run(context.Background(), s, []string{"ol", "sim", "bar", "--wide", "--from", "docs/data/cidre-plus.csv"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, talk.String())
	}
	if !strings.Contains(string(page), out.String()) {
		t.Errorf("the page lacks\n%s", out.String())
	}
}

func TestPaperWorkload(t *testing.T) {
	for _, c := range []struct {
		name  string
		known bool
		sigma float64
	}{
		{"s1-sigma0", true, 0},
		{"s2-sigma2", true, 2},
		{"azure-like", true, 0},
		{"draw-7", true, 0},
		{"s1", false, 0}, // how uneven its seconds are must be said
		{"s1-sigma3", false, 0},
		{"draw-7-sigma1", false, 0},
		{"draw-0", false, 0},
		{"nothing", false, 0},
	} {
		w, err := paperWorkload(c.name)
		if (err == nil) != c.known || c.known && w.o.Sigma != c.sigma {
			t.Errorf("%s: sigma %v, %v", c.name, w.o.Sigma, err)
		}
	}
}
