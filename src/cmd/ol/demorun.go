package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/replay"
)

// answerLimit is how long the demo waits for one answer.
const answerLimit = 60 * time.Second

// demoWorker is a worker that lives as long as one part of the demo.
type demoWorker struct {
	node node
	pid  int
}

// startDemoWorker makes a worker in dir and waits until it serves.
func startDemoWorker(ctx context.Context, s streams, dir string, options string) (*demoWorker, error) {
	quiet := s
	quiet.err = io.Discard
	if _, err := initialise(ctx, quiet, dir, ""); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	log := filepath.Join(dir, outputFile)
	pid, err := spawn(s, dir, "worker_port="+port+","+options, log)
	if err != nil {
		return nil, err
	}
	n, err := awaitReady(ctx, s, dir, pid)
	if err != nil {
		endChild(pid)
		s.say("%s", tailOf(log, lastLines))
		return nil, fail(codeFailed, "start the demo's worker", err, "see what this machine lacks: ol doctor")
	}
	return &demoWorker{n, pid}, nil
}

// stop ends the worker and whatever it left. It works without a live context,
// because an interrupted demo cleans up too.
func (d *demoWorker) stop(s streams) error {
	endChild(d.pid)
	return cleanNode(context.Background(), s, d.node)
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	return strconv.Itoa(port), nil
}

// install uploads a packed lambda.
func (d *demoWorker) install(ctx context.Context, name string, packed []byte) error {
	resp, err := d.node.call(ctx, http.MethodPost, api.PathRegistry+name, bytes.NewReader(packed), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("install %s: %w", name, err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("install %s: %w", name, answerError(resp, text))
	}
	return nil
}

// measureColdRate calls lambdas that cost nothing to initialise, each for the
// first time, as many at once as there are start slots.
func (p demoPlan) measureColdRate(ctx context.Context, s streams, dir string) (_ float64, err error) {
	const lambdas = 24
	d, err := startDemoWorker(ctx, s, filepath.Join(dir, "probe"), "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop(s)) }()
	var w replay.Workload
	for i := range lambdas {
		l := replay.Lambda{Name: fmt.Sprintf("probe%02d", i), MemMB: 50}
		packed, err := packDemoLambda(l)
		if err != nil {
			return 0, err
		}
		if err := d.install(ctx, l.Name, packed); err != nil {
			return 0, err
		}
		w.Lambdas = append(w.Lambdas, l)
		w.Requests = append(w.Requests, replay.Request{Lambda: i})
	}
	begin := time.Now()
	samples, err := (&replay.Replayer{URL: d.node.url(""), Client: replay.NewClient(answerLimit)}).Run(ctx, w)
	if err != nil {
		return 0, err
	}
	elapsed := time.Since(begin)
	for _, sample := range samples {
		if sample.Err != nil {
			return 0, fail(codeFailed, "measure cold starts", sample.Err, "see what this machine lacks: ol doctor")
		}
	}
	return lambdas / elapsed.Seconds(), nil
}

// replay runs the workload under one policy on a worker of its own.
func (p demoPlan) replay(ctx context.Context, s streams, dir, name string) (_ demoResult, err error) {
	result := demoResult{Policy: name}
	if result.Predicted, err = p.predict(name); err != nil {
		return result, err
	}
	policy := demoPolicy(name, p.stretch)
	d, err := startDemoWorker(ctx, s, dir, fmt.Sprintf(
		"policy.preset=%s,policy.ttl_sec=%d,policy.window_sec=%d,mem_pool_mb=%d",
		policy.Preset, policy.TTLSec, policy.WindowSec, p.poolMB))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, d.stop(s)) }()
	for _, l := range p.workload.Lambdas {
		packed, err := packDemoLambda(l)
		if err != nil {
			return result, err
		}
		if err := d.install(ctx, l.Name, packed); err != nil {
			return result, err
		}
	}
	begin := time.Now()
	samples, err := p.send(ctx, s, d, name)
	if err != nil {
		return result, err
	}
	result.Seconds = time.Since(begin).Seconds()
	result.Summary = replay.Summarise(samples)
	var stats api.Stats
	if err := d.node.getJSON(ctx, api.PathStats, &stats); err != nil {
		return result, err
	}
	result.Evictions = int(stats[api.StatEvict+".cnt"])
	result.PeakMB = int(stats[api.StatPeakMB])
	return result, nil
}

// send replays the workload and shows how far it is.
func (p demoPlan) send(ctx context.Context, s streams, d *demoWorker, name string) ([]replay.Sample, error) {
	s.say("replaying under %s", name)
	r := &replay.Replayer{URL: d.node.url(""), Client: replay.NewClient(answerLimit)}
	if s.tty {
		r.Progress = func(now replay.Progress) {
			fmt.Fprintf(s.err, "\r%-10s %3.0f of %.0f s  %5d sent  %4d in flight  %d errors ",
				name, now.Elapsed.Seconds(), p.workload.Span().Seconds(), now.Sent, now.InFlight, now.Errors)
		}
		defer s.say("")
	}
	return r.Run(ctx, p.workload)
}
