package sock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// When the kernel refuses a step of a start, the start fails with the host's
// error and not the lambda's, nothing is left of it, and the next one succeeds.
func TestFaultsOfTheHost(t *testing.T) {
	refusals := map[FaultPoint]syscall.Errno{
		FaultCgroup: unix.EBUSY, FaultScratch: unix.ENOSPC, FaultControl: unix.EMFILE, FaultFork: unix.EAGAIN, FaultMount: unix.ENOMEM,
	}
	for _, at := range FaultPoints() {
		for _, zygote := range []bool{true, false} {
			if zygote && at == FaultFork {
				continue // a zygote forks by itself
			}
			t.Run(fmt.Sprintf("%s,zygote=%t", at, zygote), func(t *testing.T) {
				var on atomic.Bool
				cfg := settings(t)
				cfg.Pool, cfg.Zygote = 0, zygote
				cfg.Fault = func(p FaultPoint) error {
					if on.Load() && p == at {
						return refusals[at]
					}
					return nil
				}
				failsAndRecovers(t, cfg, &on, refusals[at])
			})
		}
	}
}

func failsAndRecovers(t *testing.T, cfg Config, on *atomic.Bool, want syscall.Errno) {
	t.Helper()
	p := newProvider(t, cfg)
	warm(t, p)
	destroy(t, create(t, p, code(t, "before", echo)))
	files, before := openFiles(t), count(t, cfg.Instance, cfg.Dir).Processes
	on.Store(true)
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_, err := p.Create(ctx, code(t, "refused", echo))
		cancel()
		var start *StartError
		if !errors.Is(err, want) || (errors.As(err, &start) && start.Lambda) {
			t.Errorf("create gives %v, want the host's %v", err, want)
		}
	}
	if now := openFiles(t); now > files+5 {
		t.Errorf("%d files are open, before %d", now, files)
	}
	on.Store(false)
	s := create(t, p, code(t, "after", echo))
	call(t, s, "{}")
	destroy(t, s)
	if now := count(t, cfg.Instance, cfg.Dir).Processes; now > before {
		t.Errorf("%d processes, before %d", now, before)
	}
}
