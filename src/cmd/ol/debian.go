package main

import (
	"context"
	"fmt"
	"os"

	"github.com/open-lambda/open-lambda/min-image/debian"
)

// buildDebian makes the base "debian" in dir anew.
func buildDebian(ctx context.Context, s streams, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("make base: %w", err)
	}
	last := ""
	progress := func(step string, done, total int) {
		if s.tty {
			fmt.Fprintf(s.err, "\r\033[K%s %d of %d", step, done, total)
			return
		}
		if step != last {
			s.say("%s", step)
		}
		last = step
	}
	err := debian.Build(ctx, dir, progress)
	if s.tty {
		s.say("")
	}
	if err != nil {
		return fail(codeFailed, "make base debian", err, "use this machine's own files instead: ol worker init -i host")
	}
	return nil
}
