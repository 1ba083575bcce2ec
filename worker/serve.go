package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/open-lambda/open-lambda/worker/server"
	"golang.org/x/sync/errgroup"
)

// Run serves until ctx ends, Shutdown is called or a listener fails, then
// drains for at most drain_sec, destroys every sandbox and returns.
func (w *Worker) Run(ctx context.Context) error {
	defer close(w.done)
	front := server.HTTP(server.Guard(w.cfg.Token, w.handler()), w.cfg.Logger)
	local := server.HTTP(w.localHandler(), w.cfg.Logger)
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(front, w.tcp) })
	group.Go(func() error { return serve(local, w.local) })
	group.Go(func() error { return w.prewarm(gctx) })
	select {
	case <-gctx.Done():
	case <-w.stop:
	}
	w.cfg.Logger.Info("worker stops", slog.Int("drain_sec", w.cfg.Settings.DrainSec))
	err := w.close(front, local)
	return errors.Join(group.Wait(), err)
}

func serve(s *http.Server, l net.Listener) error {
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// close ends everything in the order in which it depends on each other.
func (w *Worker) close(front, local *http.Server) error {
	w.closing.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.cfg.Settings.DrainSec)*time.Second)
	defer cancel()
	// New requests get 503 from the dispatcher while those in progress end:
	// closing the port first would drop connections that are being used.
	w.functions.kafka.Close()
	w.dispatcher.Drain(ctx)
	err := w.shutdownHTTP(front, local)
	if w.bare != nil {
		err = errors.Join(err, w.bare.Close(ctx))
	}
	w.functions.cache.Close()
	err = errors.Join(err, w.functions.packages.Close(), w.dispatcher.Close(ctx))
	w.server.Close()
	if w.logs != nil {
		err = errors.Join(err, w.logs.Close())
	}
	return errors.Join(err, w.registry.Close(), ignoreMissing(os.RemoveAll(w.cfg.dir("code"))))
}

// lastWords is how long answers that are being written may take once nothing
// runs any more.
const lastWords = 2 * time.Second

func (w *Worker) shutdownHTTP(servers ...*http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	var errs []error
	for _, s := range servers {
		if err := s.Shutdown(ctx); err != nil {
			errs = append(errs, s.Close()) // whoever still does not read is cut
		}
	}
	return errors.Join(errs...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// prewarm looks at every lambda once, so that those with min_sandboxes are
// started before anybody calls them.
func (w *Worker) prewarm(ctx context.Context) error {
	if w.bare != nil {
		return nil
	}
	names, err := w.registry.List(ctx)
	if err != nil {
		w.cfg.Logger.Warn("list registry", slog.Any("error", err))
	}
	for _, name := range names {
		if ctx.Err() != nil || w.closing.Load() {
			break
		}
		if err := w.functions.Prepare(ctx, name); err != nil {
			w.cfg.Logger.Warn("look at lambda", slog.String("function", name), slog.Any("error", err))
		}
	}
	return nil
}
