package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/replay"
	testregistry "github.com/open-lambda/open-lambda/test-registry"
)

// demoImports are real imports that every lambda of the demo begins with.
const demoImports = "argparse,csv,decimal,difflib,email.message,http.client,statistics"

// demoHoldShare is the part of its memory that a lambda of the demo really
// uses. The scheduler goes by what it may use; to fill all of it would measure
// the machine's page faults.
const demoHoldShare = 16

// packDemoLambda packs a lambda of the demo: how long its initialisation takes
// and what memory it may use come from the trace.
func packDemoLambda(l replay.Lambda) ([]byte, error) {
	cost := lambdaCost{builtin: "init", imports: demoImports, hold: 1.0 / demoHoldShare}
	return cost.pack(l)
}

// leastRuntimeSec is how long a replayed handler may run at least; those that
// are asked for more get twice of that besides.
const leastRuntimeSec = 30

// lambdaCost says what stands for the functions of a workload.
type lambdaCost struct {
	builtin string  // of the test registry
	imports string  // modules that its initialisation begins with, for "init"
	idle    bool    // its initialisation sleeps, for "init"
	hold    float64 // share of its memory that it really fills, for "init"
}

// pack packs a lambda that costs what the workload says.
func (k lambdaCost) pack(l replay.Lambda) ([]byte, error) {
	text, err := k.config(l)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", lambda.ConfigFile, err)
	}
	return packBuiltin(k.builtin, text)
}

// config is the lambda's ol.yaml.
func (k lambdaCost) config(l replay.Lambda) ([]byte, error) {
	environment := map[string]string{}
	if k.builtin == "init" && l.Init > 0 {
		environment["OL_INIT_MS"] = strconv.FormatFloat(float64(l.Init)/float64(time.Millisecond), 'f', 1, 64)
		environment["OL_INIT_SIGMA"] = strconv.FormatFloat(l.InitSigma, 'g', 6, 64)
		environment["OL_INIT_IMPORTS"] = k.imports
		environment["OL_HOLD_MB"] = strconv.FormatInt(int64(float64(l.MemMB)*k.hold), 10)
		if k.idle {
			environment["OL_INIT_IDLE"] = "1"
		}
	}
	return yaml.Marshal(map[string]any{
		"environment": environment,
		"limits":      map[string]int64{"mem_mb": l.MemMB, "runtime_sec": int64(l.Exec/time.Second)*2 + leastRuntimeSec},
	})
}

// packBuiltin packs one of the lambdas that ship with the program.
func packBuiltin(name string, config []byte) (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "ol-pack-")
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	source, err := unpackLambda(dir, name)
	if err != nil {
		return nil, err
	}
	if config != nil {
		if err := os.WriteFile(filepath.Join(source, lambda.ConfigFile), config, 0o644); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Pack(&packed, source, lambda.EntryFile); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// unpackLambda writes one of the lambdas that ship with the program below dir.
func unpackLambda(dir, name string) (string, error) {
	files, err := testregistry.Lambda(name)
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "lambda-"+name)
	if err := os.CopyFS(to, files); err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	// Embedded files are read-only for everybody; sandboxes run as anybody.
	return to, os.Chmod(to, 0o755)
}

// installNamed installs a built-in lambda under a name.
func (d *tempWorker) installNamed(ctx context.Context, name, builtin string) error {
	packed, err := packBuiltin(builtin, nil)
	if err != nil {
		return err
	}
	return d.install(ctx, name, packed)
}

// installMany installs a built-in lambda n times, as prefix0, prefix1 and so on.
func (d *tempWorker) installMany(ctx context.Context, prefix, builtin string, n int) error {
	packed, err := packBuiltin(builtin, nil)
	if err != nil {
		return err
	}
	for i := range n {
		if err := d.install(ctx, fmt.Sprintf("%s%d", prefix, i), packed); err != nil {
			return err
		}
	}
	return nil
}

// worker starts one for a group of bars.
func (b *bencher) worker(ctx context.Context, name, options string) (*tempWorker, error) {
	quiet := b.streams
	quiet.tty = false
	return startTempWorker(ctx, quiet, filepath.Join(b.dir, name), strings.Trim("policy.preset="+b.policy+","+options, ","))
}
