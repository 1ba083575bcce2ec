package async

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// listDead answers with the dead letters, oldest first, without their bodies.
func (s *Service) listDead(w http.ResponseWriter, r *http.Request) {
	all, err := s.dead(r.Context())
	if err != nil {
		problem(err).Write(w, r)
		return
	}
	api.WriteJSON(w, http.StatusOK, all)
}

func (s *Service) dead(ctx context.Context) ([]api.AsyncState, error) {
	keys, err := s.cfg.States.List(ctx, deadPrefix)
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	all := []api.AsyncState{}
	for _, key := range keys {
		r, _, err := s.load(ctx, strings.TrimPrefix(key, deadPrefix))
		if err != nil {
			return nil, err
		}
		if r != nil && r.State == api.AsyncDead { // else it is being revived
			all = append(all, r.AsyncState)
		}
	}
	slices.SortFunc(all, func(a, b api.AsyncState) int {
		return cmp.Or(a.Changed.Compare(b.Changed), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// letter finds a dead letter: its state and its request, and their revisions.
func (s *Service) letter(ctx context.Context, id string) (r *record, j *Job, state, request uint64, err error) {
	if r, state, err = s.load(ctx, id); err != nil {
		return nil, nil, 0, 0, err
	}
	switch {
	case r == nil:
		return nil, nil, 0, 0, ErrNotFound
	case r.State != api.AsyncDead:
		return nil, nil, 0, 0, &stateError{r.State, "it is not in the dead-letter list"}
	}
	value, request, err := s.cfg.States.Get(ctx, deadPrefix+id)
	if err != nil {
		return nil, nil, 0, 0, fmt.Errorf("read request of %s: %w", id, err)
	}
	j, err = decodeJob(value)
	return r, j, state, request, err
}

// retryDead queues a dead letter again, with all its attempts. The new round
// is in the queue before the state says so: whoever takes it knows from its
// number that it is new.
func (s *Service) retryDead(in *http.Request, id string) (any, error) {
	ctx, cancel := s.brief(in.Context())
	defer cancel()
	r, j, state, request, err := s.letter(ctx, id)
	if err != nil {
		return nil, err
	}
	j.Round, j.Queued = r.Round+1, time.Now().UTC()
	work, err := encode(j, j.Body)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Queue.Put(ctx, j.turn(), work); err != nil {
		return nil, fmt.Errorf("queue %s again: %w", id, err)
	}
	fresh := newRecord(j, j.Queued)
	if _, err := s.save(ctx, fresh, state, 0); err != nil && !errors.Is(err, ErrStale) {
		return nil, err
	}
	if err := s.cfg.States.Delete(ctx, deadPrefix+id, request); err != nil && !errors.Is(err, ErrStale) {
		return nil, fmt.Errorf("take %s from the dead-letter list: %w", id, err)
	}
	return fresh.view(), nil
}

// dropDead removes a dead letter for good.
func (s *Service) dropDead(in *http.Request, id string) (any, error) {
	ctx, cancel := s.brief(in.Context())
	defer cancel()
	r, _, state, request, err := s.letter(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.States.Delete(ctx, jobPrefix+id, state); err != nil {
		return nil, fmt.Errorf("drop %s: %w", id, err)
	}
	if err := s.cfg.States.Delete(ctx, deadPrefix+id, request); err != nil && !errors.Is(err, ErrStale) {
		return nil, fmt.Errorf("drop %s: %w", id, err)
	}
	return r.view(), nil
}
