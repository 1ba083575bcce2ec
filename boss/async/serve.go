package async

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// maxKey bounds an idempotency key, bytes.
const maxKey = 255

// ServeHTTP takes in an invocation, a request to /run/ for which Wanted holds.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	j, p := s.read(w, r)
	if p != nil {
		p.Write(w, r)
		return
	}
	key := r.Header.Get(api.HeaderIdempotencyKey)
	if key != "" {
		key = "client/" + key
	}
	id, err := s.Enqueue(r.Context(), *j, key)
	if err != nil {
		p := problem(err)
		p.Function = j.Function
		p.Write(w, r)
		return
	}
	h := w.Header()
	h.Set("Location", api.PathAsync+id)
	h.Set(api.HeaderRequestID, id)
	if preferred(r.Header) {
		h.Set("Preference-Applied", "respond-async")
	}
	api.WriteJSON(w, http.StatusAccepted, map[string]string{"id": id, "location": api.PathAsync + id})
}

// read makes a job of a request.
func (s *Service) read(w http.ResponseWriter, r *http.Request) (*Job, *api.Problem) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, api.PathRun), "/")
	if err := lambda.CheckName(name); err != nil {
		return nil, api.NewProblem(http.StatusBadRequest, "bad-name", err.Error())
	}
	if s.cfg.Exists != nil && !s.cfg.Exists(name) {
		return nil, api.NewProblem(http.StatusNotFound, "unknown-lambda", "no such lambda: \"ol list --boss URL\" shows those that exist")
	}
	if len(r.Header.Get(api.HeaderIdempotencyKey)) > maxKey {
		return nil, api.NewProblem(http.StatusBadRequest, "bad-key", "an idempotency key has at most "+strconv.Itoa(maxKey)+" bytes")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, api.NewProblem(http.StatusRequestEntityTooLarge, "body-too-large",
			"the body has more than the "+strconv.FormatInt(large.Limit, 10)+" bytes that an asynchronous invocation may have")
	}
	if err != nil {
		return nil, api.NewProblem(http.StatusBadRequest, "bad-body", "read request: "+err.Error())
	}
	u := *r.URL
	u.RawQuery = withoutQuery(u.RawQuery)
	return &Job{
		Function: name, Method: r.Method, Target: u.RequestURI(), Host: r.Host, Remote: r.RemoteAddr, Header: keptHeader(r.Header), Body: body,
	}, nil
}

// Routes adds what is below api.PathAsync. guard protects what only those who
// run the cluster may do.
func (s *Service) Routes(mux *http.ServeMux, guard func(http.HandlerFunc) http.HandlerFunc) {
	mux.HandleFunc("GET "+api.PathAsync+"{id}", s.byID(s.get))
	mux.HandleFunc("DELETE "+api.PathAsync+"{id}", s.byID(s.cancel))
	mux.HandleFunc("GET "+api.PathDead+"{$}", guard(s.listDead))
	mux.HandleFunc("POST "+api.PathDead+"{id}/retry", guard(s.byID(s.retryDead)))
	mux.HandleFunc("DELETE "+api.PathDead+"{id}", guard(s.byID(s.dropDead)))
}

// byID answers with what h returns for the id in the path.
func (s *Service) byID(h func(r *http.Request, id string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if len(id) != 36 || uuid.Validate(id) != nil {
			api.NewProblem(http.StatusBadRequest, "bad-id", "an asynchronous invocation has a UUID as its id, as in the Location that it was answered with").Write(w, r)
			return
		}
		v, err := h(r, strings.ToLower(id))
		if err != nil {
			problem(err).Write(w, r)
			return
		}
		api.WriteJSON(w, http.StatusOK, v)
	}
}

func (s *Service) get(r *http.Request, id string) (any, error) {
	rec, _, err := s.load(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, ErrNotFound
	}
	return rec.view(), nil
}

// stateError is a wish that the state of an invocation does not allow.
type stateError struct{ state, why string }

func (e *stateError) Error() string { return "the invocation is " + e.state + ": " + e.why }

func (s *Service) cancel(r *http.Request, id string) (any, error) {
	for {
		rec, revision, err := s.load(r.Context(), id)
		switch {
		case err != nil:
			return nil, err
		case rec == nil:
			return nil, ErrNotFound
		case rec.State == api.AsyncCanceled:
			return rec.view(), nil
		case rec.State == api.AsyncRunning:
			return nil, &stateError{rec.State, "what has begun is not stopped"}
		case rec.State == api.AsyncDead:
			return nil, &stateError{rec.State, "drop it from the dead-letter list: \"ol async dead drop\""}
		case rec.State == api.AsyncDone:
			return nil, &stateError{rec.State, "there is nothing left to cancel"}
		}
		rec.State, rec.Changed = api.AsyncCanceled, time.Now()
		if _, err = s.save(r.Context(), rec, revision, s.cfg.Keep); !errors.Is(err, ErrStale) {
			return rec.view(), err
		}
	}
}

// problem says what the client is told about an error.
func problem(err error) *api.Problem {
	var state *stateError
	switch {
	case errors.As(err, &state):
		return api.NewProblem(http.StatusConflict, "async-"+state.state, state.Error())
	case errors.Is(err, ErrNotFound):
		return api.NewProblem(http.StatusNotFound, "unknown-async", "no such asynchronous invocation, or its answer has expired")
	case errors.Is(err, ErrReused):
		return api.NewProblem(http.StatusUnprocessableEntity, "key-reused", "this Idempotency-Key came with another method, path or body before")
	case errors.Is(err, ErrTooLarge):
		return api.NewProblem(http.StatusRequestEntityTooLarge, "body-too-large", "the request has more bytes than the store takes")
	case errors.Is(err, ErrFull):
		p := api.NewProblem(http.StatusTooManyRequests, "async-queue-full", ErrFull.Error())
		p.RetryAfter = 5 * time.Second
		return p
	}
	p := api.NewProblem(http.StatusServiceUnavailable, "async-unavailable",
		"the store of asynchronous invocations does not answer, others go on: "+err.Error()+"; the request may still take effect: an Idempotency-Key makes it safe to send it again")
	p.RetryAfter = 2 * time.Second
	return p
}
