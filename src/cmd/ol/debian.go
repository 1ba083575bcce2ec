package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/open-lambda/open-lambda/min-image/debian"
)

// buildDebian makes the base "debian" in dir anew. An older one stays until
// the new one is whole.
func buildDebian(ctx context.Context, s streams, dir, layer string) error {
	temporary := dir + ".new"
	if err := os.RemoveAll(temporary); err != nil {
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
	err := debian.Build(ctx, temporary, layer, progress)
	if s.tty {
		s.say("")
	}
	if err != nil {
		return fail(codeFailed, "make base debian", err, "use this machine's own files instead: ol worker init -i host")
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(temporary, dir)); err != nil {
		return fmt.Errorf("make base: %w", err)
	}
	return nil
}
