package boss

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
)

// Scaler has so many workers as it is told.
type Scaler interface {
	// Scale starts or stops workers until there are n of its own. It returns
	// once that has begun.
	Scale(n int) error
}

// maxWorkers bounds what a typing error can start.
const maxWorkers = 1000

// scale answers /scaling/worker_count: the body is a number, bare or as
// {"worker_count": N}.
func (b *Boss) scale(w http.ResponseWriter, r *http.Request) {
	if b.cfg.Scaler == nil {
		api.NewProblem(http.StatusNotImplemented, "no-platform",
			"this boss starts no workers: start it with -o platform=local, or start workers with \"ol worker up --boss URL\"").Write(w, r)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		api.NewProblem(http.StatusBadRequest, "bad-count", err.Error()).Write(w, r)
		return
	}
	n, ok := count(text)
	if !ok {
		api.NewProblem(http.StatusBadRequest, "bad-count", "the body must be a number of workers from 0 to "+strconv.Itoa(maxWorkers)).Write(w, r)
		return
	}
	if err := b.cfg.Scaler.Scale(n); err != nil {
		api.NewProblem(http.StatusInternalServerError, "scaling-failed", err.Error()).Write(w, r)
		return
	}
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, strconv.Itoa(n)+"\n") // a client that is gone cannot be told so
}

func count(text []byte) (int, bool) {
	var named struct {
		Count *int `json:"worker_count"`
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		if json.Unmarshal(text, &named) != nil || named.Count == nil {
			return 0, false
		}
		n = *named.Count
	}
	return n, n >= 0 && n <= maxWorkers
}
