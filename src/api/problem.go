package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is the body of a platform error (RFC 9457).
type Problem struct {
	Type       string        `json:"type"`                 // about:blank: the status says it
	Title      string        `json:"title"`                // short, the same for every occurrence
	Status     int           `json:"status"`               // HTTP status
	Detail     string        `json:"detail,omitempty"`     // what happened, why, what to do
	Function   string        `json:"function,omitempty"`   // the lambda
	RequestID  string        `json:"request_id,omitempty"` // as in X-Ol-Request-Id
	Reason     string        `json:"reason,omitempty"`     // word for programs: queue-full, out-of-memory
	Output     string        `json:"output,omitempty"`     // last lines that the lambda printed
	RetryAfter time.Duration `json:"-"`                    // header Retry-After if positive, rounded up to seconds
}

// Error returns the detail, so that a Problem can travel as an error.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Detail
}

// NewProblem returns a problem whose title is the status' text.
func NewProblem(status int, reason, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Reason: reason, Detail: detail}
}

// Write answers r with the problem, as plain text if r prefers that.
func (p *Problem) Write(w http.ResponseWriter, r *http.Request) {
	if p.RetryAfter > 0 {
		secs := (p.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(secs)))
	}
	body, contentType := p.encode(WantsText(r.Header.Get("Accept")))
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	// A client that is gone cannot be told so.
	_, _ = w.Write(body)
}

func (p *Problem) encode(text bool) (body []byte, contentType string) {
	if text {
		return p.text(), "text/plain; charset=utf-8"
	}
	b, err := json.Marshal(p)
	if err != nil {
		return p.text(), "text/plain; charset=utf-8"
	}
	return append(b, '\n'), "application/problem+json"
}

func (p *Problem) text() []byte {
	s := p.Error() + "\n"
	if p.Output != "" {
		s += fmt.Sprintf("\n%s\n", strings.TrimRight(p.Output, "\n"))
	}
	return []byte(s)
}

// WantsText tells whether an Accept header prefers plain text to JSON: it
// names text/plain (or text/*) before anything that JSON satisfies.
func WantsText(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		mt, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(mt)) {
		case "text/plain", "text/*":
			return true
		case "application/json", "application/problem+json", "application/*", "*/*":
			return false
		}
	}
	return false
}
