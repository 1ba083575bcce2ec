package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/bench"
)

// idle checks what sandboxes cost that nobody calls.
func (b *bencher) idle(ctx context.Context) (err error) {
	const sandboxes = 100
	const watch = 10 * time.Second
	w, err := b.worker(ctx, "idle", fmt.Sprintf("mem_pool_mb=%d", sandboxes*60))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := w.installMany(ctx, "idle", "echo", sandboxes); err != nil {
		return err
	}
	if out := bench.Spread(ctx, calls(w, "idle", sandboxes, true, benchBody), 4); out.FirstFail != nil {
		return out.FirstFail
	}
	if err := w.awaitFrozen(ctx, sandboxes); err != nil {
		return err
	}
	pss, n, err := w.meanPSS(ctx)
	if err != nil {
		return err
	}
	before, err := cpuTime(w.pid)
	if err != nil {
		return err
	}
	select {
	case <-time.After(watch):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := cpuTime(w.pid)
	if err != nil {
		return err
	}
	rss, err := procKB(fmt.Sprintf("/proc/%d/status", w.pid), "VmRSS:")
	if err != nil {
		return err
	}
	b.add(
		bench.AtMost("idle sandbox, memory (PSS)", pss, 3, "MB").With(bench.Times{N: n}, "mean"),
		bench.AtMost("worker with 100 frozen sandboxes, memory", float64(rss)/1024, 60, "MB"),
		bench.AtMost("worker with 100 frozen sandboxes, CPU", 100*float64(after-before)/float64(watch), 0.5, "% of a core"),
	)
	return nil
}

// awaitFrozen waits until so many sandboxes are frozen.
func (w *tempWorker) awaitFrozen(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var d api.Debug
		if err := w.node.getJSON(ctx, api.PathDebug, &d); err != nil {
			return err
		}
		frozen := 0
		for _, box := range d.Sandboxes {
			if box.Frozen {
				frozen++
			}
		}
		if frozen >= want {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d frozen sandboxes, have %d: %w", want, frozen, ctx.Err())
		}
	}
}

// meanPSS is the proportional memory of a sandbox's processes, in MB.
func (w *tempWorker) meanPSS(ctx context.Context) (float64, int, error) {
	var d api.Debug
	if err := w.node.getJSON(ctx, api.PathDebug, &d); err != nil {
		return 0, 0, err
	}
	pid := regexp.MustCompile(`\bpid (\d+)`)
	sum, n := 0, 0
	for _, box := range d.Sandboxes {
		m := pid.FindStringSubmatch(box.Detail)
		if m == nil {
			continue
		}
		kb, err := procKB("/proc/"+m[1]+"/smaps_rollup", "Pss:")
		if err != nil {
			return 0, 0, err
		}
		sum += kb
		n++
	}
	if n == 0 {
		return 0, 0, errors.New("measure memory: /debug names no process")
	}
	return float64(sum) / 1024 / float64(n), n, nil
}

// procKB reads the value of one line of a file of proc, in kB.
func procKB(path, name string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("measure memory: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == name {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, fmt.Errorf("measure memory: %s has no %s", path, name)
}

// clockTick is the unit of times in /proc/PID/stat (USER_HZ), on every
// architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// cpuTime is what a process has used.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("measure processor time: %w", err)
	}
	// The second field is the name in parentheses, which may hold anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const utime, stime = 11, 12 // fields 14 and 15, counted behind the name
	if len(fields) <= stime {
		return 0, errors.New("measure processor time: /proc/PID/stat is short")
	}
	user, err1 := strconv.Atoi(fields[utime])
	system, err2 := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * clockTick, errors.Join(err1, err2)
}
