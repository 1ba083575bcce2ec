package async

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/open-lambda/open-lambda/src/api"
)

// Job is an invocation to be run.
type Job struct {
	ID       string      `json:"id"`
	Round    int         `json:"round,omitempty"` // grows when it leaves the dead-letter list
	Function string      `json:"function"`
	Method   string      `json:"method"`
	Target   string      `json:"target"` // path and query
	Host     string      `json:"host,omitempty"`
	Header   http.Header `json:"header,omitempty"`
	Remote   string      `json:"remote,omitempty"` // the client's address and port
	Created  time.Time   `json:"created"`
	Queued   time.Time   `json:"queued"` // in this round
	Body     []byte      `json:"-"`
}

// turn names one round of a job in the queue.
func (j *Job) turn() string { return fmt.Sprintf("%s.%d", j.ID, j.Round) }

// record is the state of a job as it is stored. The body of the answer stands
// behind it.
type record struct {
	api.AsyncState
	Round     int    `json:"round,omitempty"`
	Postponed int    `json:"postponed,omitempty"` // times in a row that nobody could begin with it
	body      []byte // of the answer
}

// newRecord is the state of a job that nobody has touched.
func newRecord(j *Job, now time.Time) *record {
	return &record{
		Round: j.Round,
		AsyncState: api.AsyncState{
			ID: j.ID, Function: j.Function, Method: j.Method, Target: j.Target, State: api.AsyncQueued,
			Created: j.Created, Changed: now, Trigger: j.Header.Get(api.HeaderTrigger),
		},
	}
}

// view is what clients see.
func (r *record) view() api.AsyncState {
	s := r.AsyncState
	if utf8.Valid(r.body) {
		s.Body = string(r.body)
	} else {
		s.Base64 = r.body
	}
	return s
}

// A stored value is a line of JSON, and a body as it is.
func encode(v any, body []byte) ([]byte, error) {
	head, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode asynchronous invocation: %w", err)
	}
	return append(append(head, '\n'), body...), nil
}

var errNoLine = errors.New("it has no line of JSON")

func decode(value []byte, v any) ([]byte, error) {
	head, body, ok := bytes.Cut(value, []byte{'\n'})
	if !ok {
		return nil, fmt.Errorf("decode asynchronous invocation: %w", errNoLine)
	}
	if err := json.Unmarshal(head, v); err != nil {
		return nil, fmt.Errorf("decode asynchronous invocation: %w", err)
	}
	return body, nil
}

func decodeJob(value []byte) (*Job, error) {
	j := &Job{}
	var err error
	j.Body, err = decode(value, j)
	return j, err
}

func decodeRecord(value []byte) (*record, error) {
	r := &record{}
	var err error
	r.body, err = decode(value, r)
	return r, err
}

// Keys of States.
const (
	jobPrefix  = "job."  // and the id: a record
	deadPrefix = "dead." // and the id: the job of a dead record
	keyPrefix  = "key."  // and a digest: a claim
)
