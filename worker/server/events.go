package server

import (
	"encoding/json"
	"net/http"

	"github.com/open-lambda/open-lambda/src/api"
)

// eventsWaiting is how many events may wait for a reader: some seconds of a
// busy worker.
const eventsWaiting = 1 << 16

// events streams what happens to sandboxes until the client leaves, or the
// worker shuts down.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	reader := s.cfg.Events.Read(eventsWaiting)
	defer reader.Close()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	var batch []api.Event
	for {
		if err := flush.Flush(); err != nil {
			return
		}
		var err error
		if batch, err = reader.Next(r.Context(), batch); err != nil {
			return
		}
		for i := range batch {
			if err := out.Encode(&batch[i]); err != nil {
				return
			}
		}
	}
}
