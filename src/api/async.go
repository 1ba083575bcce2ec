package api

import (
	"net/http"
	"time"
)

// Headers and routes of asynchronous invocations.
const (
	// HeaderTrigger says what made an invocation that no client sent: "cron" or
	// "kafka". Bosses take it away from what clients send.
	HeaderTrigger = "X-Ol-Trigger"
	// HeaderSchedule and HeaderTick are the schedule of a cron trigger and the
	// moment (RFC 3339) that it is about.
	HeaderSchedule = "X-Ol-Schedule"
	HeaderTick     = "X-Ol-Tick"
	// HeaderIdempotencyKey makes the same invocation sent twice one invocation.
	HeaderIdempotencyKey = "Idempotency-Key"

	PathAsync = "/async/"      // GET, DELETE ID
	PathDead  = "/async/dead/" // GET: list of AsyncState; POST ID/retry; DELETE ID
)

// Triggers, values of HeaderTrigger.
const (
	TriggerCron  = "cron"
	TriggerKafka = "kafka"
)

// States of an asynchronous invocation.
const (
	AsyncQueued   = "queued"   // not started
	AsyncRunning  = "running"  // on a worker
	AsyncRetrying = "retrying" // failed, and waits for another attempt
	AsyncDone     = "done"     // answered
	AsyncCanceled = "canceled" // by DELETE, before it was answered
	AsyncDead     = "dead"     // given up: in the dead-letter list
)

// AsyncState is an asynchronous invocation as GET /async/ID shows it.
type AsyncState struct {
	ID       string    `json:"id"`
	Function string    `json:"function"`
	Method   string    `json:"method"`
	Target   string    `json:"target"` // path and query
	State    string    `json:"state"`
	Created  time.Time `json:"created"`           // when it was accepted
	Changed  time.Time `json:"changed"`           // when it came into its state
	Attempts int       `json:"attempts"`          // that were answered
	Lost     int       `json:"lost,omitempty"`    // attempts whose boss died
	Trigger  string    `json:"trigger,omitempty"` // as in HeaderTrigger
	// Why says what went wrong last.
	Why string `json:"why,omitempty"`
	// Status, Header and the body are the answer of the last attempt, once
	// there is one. A body that is no text is in Base64, not in Body.
	Status int         `json:"status,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Body   string      `json:"body,omitempty"`
	Base64 []byte      `json:"body_base64,omitempty"`
	// TooLarge: the body had more bytes than are kept, and was not kept.
	TooLarge bool  `json:"body_too_large,omitempty"`
	Bytes    int64 `json:"body_bytes,omitempty"` // of the body, kept or not
}

// NotStarted tells whether an answer says that nothing was begun, so that the
// request may be sent elsewhere.
func NotStarted(status int, h http.Header) bool {
	return h.Get(HeaderNotStarted) != "" && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests)
}
