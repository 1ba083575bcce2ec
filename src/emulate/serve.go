package emulate

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

func (w *Worker) serve(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == api.PathStatus {
		_, _ = io.WriteString(rw, api.StatusReady)
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, api.PathRun), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	id := r.Header.Get(api.HeaderRequestID)
	h := rw.Header()
	h.Set(api.HeaderRequestID, id)
	h.Set(api.HeaderWorker, w.cfg.Name)
	cold, fault := w.begin(name, id)
	if fault == Refuse {
		h.Set(api.HeaderNotStarted, "true")
		api.NewProblem(http.StatusServiceUnavailable, "no-capacity", "this worker was told to refuse").Write(rw, r)
		return
	}
	defer w.end(name)
	if w.cfg.Journal != nil {
		if _, err := io.WriteString(w.cfg.Journal, id+"\n"); err != nil {
			panic(http.ErrAbortHandler) // what is not written down was not executed
		}
	}
	if fault == BreakHead || !w.execute(r, cold) {
		panic(http.ErrAbortHandler)
	}
	h.Set(api.HeaderStart, "warm")
	if cold {
		h.Set(api.HeaderStart, "cold")
	}
	if name == w.cfg.Poison {
		rw.WriteHeader(http.StatusInternalServerError)
	}
	w.answer(rw, body, fault)
}

// answer echoes the body.
func (w *Worker) answer(rw http.ResponseWriter, body []byte, fault Fault) {
	if fault != BreakBody {
		_, _ = rw.Write(body) // a client that is gone cannot be told so
		return
	}
	rw.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(rw, "half of it")
	_ = http.NewResponseController(rw).Flush()
	panic(http.ErrAbortHandler)
}

// begin gives the request a sandbox, a new one if none is idle.
func (w *Worker) begin(name, id string) (cold bool, fault Fault) {
	w.mu.Lock()
	defer w.wakeUp()
	defer w.mu.Unlock()
	if w.fault == Refuse {
		return false, Refuse
	}
	f := w.funcs[name]
	if f == nil {
		f = &function{}
		w.funcs[name] = f
	}
	if f.busy == f.sandboxes {
		f.sandboxes++
		cold = true
	}
	f.busy++
	w.inFlight++
	if w.cfg.Record {
		w.ran[id]++
	}
	return cold, w.fault
}

func (w *Worker) end(name string) {
	w.mu.Lock()
	w.funcs[name].busy--
	w.inFlight--
	w.mu.Unlock()
	w.wakeUp()
}

// execute takes as long as it shall; false if the worker or the client ended
// meanwhile.
func (w *Worker) execute(r *http.Request, cold bool) bool {
	d := w.cfg.Delay
	if cold {
		d += w.cfg.Cold
	}
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	case <-w.killed:
		return false
	}
}
