package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// zygoteStarts is how many starts are measured on each side.
const zygoteStarts = 20

// zygoteTree has what scienceLambda imports.
const zygoteTree = `import_cache_tree='{"packages": ["numpy"], "children": [{"packages": ["pandas"]}]}'`

// scienceLambda imports what takes long and proves that it works.
const scienceLambda = `import numpy
import pandas


def f(event):
    return int(pandas.DataFrame(numpy.arange(10).reshape(5, 2)).sum().sum())
`

// zygotes compares cold starts of a lambda that imports numpy and pandas: from a
// zygote of the import cache tree that has imported them, and from the pool.
func (b *bencher) zygotes(ctx context.Context) (err error) {
	base, err := b.scienceBase(ctx)
	if err != nil {
		return err
	}
	packed, err := packSource(scienceLambda)
	if err != nil {
		return err
	}
	const options = "limits.mem_mb=250,registry_cache_ms=600000,sock_base_path="
	with, err := b.worker(ctx, "zygote", zygoteTree+","+options+base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, with.stop()) }()
	without, err := b.worker(ctx, "nozygote", "import_cache_tree=,"+options+base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, without.stop()) }()
	if err := primeZygote(ctx, with, packed); err != nil {
		return err
	}
	var fast, slow []time.Duration
	for i := range zygoteStarts { // in turns, for both to see the same machine
		for _, side := range []struct {
			worker *tempWorker
			times  *[]time.Duration
		}{{with, &fast}, {without, &slow}} {
			took, err := startOnce(ctx, side.worker, fmt.Sprintf("science%d", i), packed)
			if err != nil {
				return err
			}
			*side.times = append(*side.times, took)
		}
	}
	have, other := bench.Describe(fast), bench.Describe(slow)
	b.add(bench.AtLeast("start with numpy and pandas, from its zygote, p50", bench.Ratio(other.Median, have.Median), 5, "x").
		With(have, fmt.Sprintf("against %s without the tree, p99 %s", other.Median.Round(100*time.Microsecond), other.P99.Round(100*time.Microsecond))))
	return nil
}

// scienceBase finds or builds a base whose Python has numpy and pandas.
func (b *bencher) scienceBase(ctx context.Context) (string, error) {
	if b.base != "" {
		return b.streams.abs(b.base), nil
	}
	if exec.CommandContext(ctx, "/usr/bin/python3", "-I", "-c", "import numpy, pandas").Run() == nil {
		return imageHost, nil
	}
	dir := filepath.Join(b.dir, "science")
	b.streams.say("building a base image with numpy and pandas (--base DIR takes one that is there)")
	return dir, buildDebian(ctx, b.streams, dir, "sci")
}

// packSource packs a lambda that is one file.
func packSource(source string) (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "ol-pack-")
	if err != nil {
		return nil, fmt.Errorf("pack lambda: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, lambda.EntryFile), []byte(source), 0o644); err != nil {
		return nil, fmt.Errorf("pack lambda: %w", err)
	}
	var packed bytes.Buffer
	err = archive.Pack(&packed, dir, lambda.EntryFile)
	return packed.Bytes(), err
}

// zygotePatience bounds the wait for a zygote that was wished for.
const zygotePatience = time.Minute

// primeZygote calls a lambda, so that its zygote is wished for, and waits until
// the worker's log says that it was made.
func primeZygote(ctx context.Context, w *tempWorker, packed []byte) error {
	if _, err := startOnce(ctx, w, "prime", packed); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, zygotePatience)
	defer cancel()
	for {
		log, err := os.ReadFile(filepath.Join(w.node.dir, outputFile))
		switch {
		case err != nil:
			return err
		case strings.Contains(string(log), `msg="made zygote" modules=pandas`):
			return nil
		case strings.Contains(string(log), "cannot make zygote"):
			return errors.New("the zygote cannot be made: see its reason with ol bench bars --only zygote and the worker's log: " + tailOf(filepath.Join(w.node.dir, outputFile), 1))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for zygote: %w", ctx.Err())
		}
	}
}

// startPause lets a worker fill its pool again.
const startPause = 200 * time.Millisecond

// startOnce installs a lambda under a new name and times its first call.
func startOnce(ctx context.Context, w *tempWorker, name string, packed []byte) (time.Duration, error) {
	if err := w.install(ctx, name, packed); err != nil {
		return 0, err
	}
	select {
	case <-time.After(startPause):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	out := bench.Burst(ctx, []bench.Target{{Method: http.MethodPost, URL: w.node.url("/run/" + name), Body: "{}"}})
	return out.Elapsed, out.FirstFail
}
