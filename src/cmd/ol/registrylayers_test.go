package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/open-lambda/open-lambda/min-image/debian"
)

// scienceCalls need the layer sci, visionCalls the layer cv.
func scienceCalls() []registryCall {
	return []registryCall{
		{lambda: "numpy-test", body: "[1, 2, 3.5]", check: fieldIs("result", 6.5)},
		{lambda: "pandas-test", body: "[[1, 2], [3, 4]]", check: func(t *testing.T, a reply) {
			if fmt.Sprint(field(t, a, "columns"), field(t, a, "result")) != "[4 6] 10" {
				t.Errorf("pandas-test: %v", a)
			}
		}},
		{lambda: "linpack", body: `{"size": 60}`, check: fieldIs("exact", true)},
		{lambda: "image-processing", body: `{"size": 200}`, check: func(t *testing.T, a reply) {
			want := "map[mean:[128 0 128] mode:RGB size:[128 128]] map[mean:[53] mode:L size:[200 200]]"
			if got := fmt.Sprint(field(t, a, "thumbnail"), field(t, a, "grey")); got != want {
				t.Errorf("image-processing: %s, want %s", got, want)
			}
			if png, _ := field(t, a, "png").(map[string]any); png["same"] != true {
				t.Errorf("image-processing: PNG %v", png)
			}
		}},
		{lambda: "model-training", body: `{"size": 300}`, check: func(t *testing.T, a reply) {
			if accuracy, _ := field(t, a, "accuracy").(float64); accuracy < 0.85 || fmt.Sprint(field(t, a, "matter")) != "[0 3]" {
				t.Errorf("model-training: %v", a)
			}
		}},
	}
}

func visionCalls() []registryCall {
	return []registryCall{
		{lambda: "video-processing", body: `{"size": 3}`, check: func(t *testing.T, a reply) {
			if got := fmt.Sprint(field(t, a, "path")); field(t, a, "frames") != 3.0 || got != "[[0 19] [70 89] [140 159]]" {
				t.Errorf("video-processing: %v", a)
			}
		}},
		{lambda: "face-detection", body: `{"size": 5}`, check: fieldIs("right", 5.0)},
	}
}

func fieldIs(name string, want any) func(*testing.T, reply) {
	return func(t *testing.T, a reply) {
		t.Helper()
		if got := field(t, a, name); got != want {
			t.Errorf("%s is %v in %v, want %v", name, got, a, want)
		}
	}
}

// Lambdas that need packages answer from the layers of the base image.
// OL_TEST_DEBIAN=1 builds the layer sci; with OL_TEST_DEBIAN_CV=1 it is cv, which
// takes a gigabyte. OL_TEST_DEBIAN_IMAGE names an image that was built before.
func TestRegistryLayers(t *testing.T) {
	image, vision := os.Getenv("OL_TEST_DEBIAN_IMAGE"), os.Getenv("OL_TEST_DEBIAN_CV") != ""
	switch {
	case image != "":
	case os.Getenv("OL_TEST_DEBIAN") == "":
		t.Skip("SKIPPED: set OL_TEST_DEBIAN=1 to build the layers of the base image (downloads packages)")
	default:
		image = buildImage(t, map[bool]string{true: "cv", false: "sci"}[vision])
	}
	w := startRegistryWorker(t, image, "limits.runtime_sec=60")
	calls := append(webCalls(), scienceCalls()...)
	if vision {
		calls = append(calls, visionCalls()...)
	}
	for _, c := range append(calls, plainCalls()[:3]...) {
		w.runTwice(t, c)
	}
}

// buildImage builds a layer with a cache of packages that OL_TEST_DEBIAN_CACHE
// may name.
func buildImage(t *testing.T, layer string) string {
	t.Helper()
	cache := os.Getenv("OL_TEST_DEBIAN_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	dir := filepath.Join(t.TempDir(), "image")
	step := ""
	progress := func(now string, done, total int) {
		if now != step {
			t.Logf("%s (%d of %d)", now, done, total)
		}
		step = now
	}
	if err := debian.NewBuilder(cache, progress).Build(t.Context(), dir, layer); err != nil {
		t.Fatal(err)
	}
	return dir
}
