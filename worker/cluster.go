package worker

import (
	"io"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/server"
)

// Registry is where a worker finds lambdas: its own, or that of a cluster.
// The worker closes it.
type Registry interface {
	server.Registry
	code.Source
	io.Closer
}

// Load is what the worker has to do. It is part of link.Node.
func (w *Worker) Load() api.Load {
	l := w.dispatcher.Load()
	l.Draining = l.Draining || w.draining.Load() || w.closing.Load()
	return l
}

// Drain asks bosses to send nothing more, or to send again; whoever asks the
// worker itself is served all the same. It is part of link.Node.
func (w *Worker) Drain(on bool) { w.draining.Store(on) }

// Changed makes the next call of each lambda look for new code. It is part of
// link.Node.
func (w *Worker) Changed(names []string) {
	for _, name := range names {
		w.functions.Changed(name)
	}
}
