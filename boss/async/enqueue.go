package async

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// ErrReused: the idempotency key belongs to another invocation.
var ErrReused = errors.New("the idempotency key was used for another request")

// pledge is what an idempotency key stands for.
type pledge struct {
	ID     string `json:"id"`
	Digest string `json:"digest"` // of the request
	Queued bool   `json:"queued"` // it is known to be in the queue
}

// leastKeyAge is the shortest time for which idempotency keys are kept.
const leastKeyAge = time.Hour

// Enqueue takes a job in and returns its id once it is durably queued. The same
// key for the same function gives the id of the first job, or ErrReused if that
// was another request; "" is no key. Without an error it will run.
func (s *Service) Enqueue(ctx context.Context, j Job, key string) (string, error) {
	ctx, cancel := s.brief(ctx)
	defer cancel()
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("queue invocation of %s: %w", j.Function, err)
	}
	j.ID, j.Created = id.String(), time.Now().UTC()
	j.Queued = j.Created
	if key == "" {
		return j.ID, s.queue(ctx, &j)
	}
	return s.enqueueOnce(ctx, &j, key)
}

// queue adds the job and shows its state. The state may be there already: a
// boss may have taken the job before.
func (s *Service) queue(ctx context.Context, j *Job) error {
	work, err := encode(j, j.Body)
	if err != nil {
		return err
	}
	if err := s.cfg.Queue.Put(ctx, j.turn(), work); err != nil {
		return fmt.Errorf("queue invocation of %s: %w", j.Function, err)
	}
	if _, err := s.save(ctx, newRecord(j, j.Queued), 0, 0); err != nil && !errors.Is(err, ErrStale) {
		return err
	}
	return nil
}

// enqueueOnce binds the key to the job first. Whoever finds the key makes sure
// that its job is queued: the one that bound it may have died before.
func (s *Service) enqueueOnce(ctx context.Context, j *Job, key string) (string, error) {
	at := keyPrefix + hash(j.Function, key)
	p := pledge{ID: j.ID, Digest: hash(j.Method, j.Target, string(j.Body))}
	revision, err := s.pledge(ctx, at, p, 0)
	if errors.Is(err, ErrStale) {
		var known pledge
		if known, revision, err = s.pledged(ctx, at); err != nil {
			return "", err
		}
		if known.Digest != p.Digest {
			return "", ErrReused
		}
		if known.Queued {
			return known.ID, nil
		}
		p, j.ID = known, known.ID
	}
	if err != nil {
		return "", err
	}
	if err := s.queue(ctx, j); err != nil {
		return "", err
	}
	p.Queued = true
	if _, err := s.pledge(ctx, at, p, revision); err != nil && !errors.Is(err, ErrStale) {
		// The job is queued. Whoever comes with the key again finds its state.
		s.cfg.Logger.Warn("note that an invocation is queued", slog.String("id", p.ID), slog.Any("error", err))
	}
	return p.ID, nil
}

func (s *Service) pledge(ctx context.Context, at string, p pledge, last uint64) (uint64, error) {
	value, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("bind idempotency key: %w", err)
	}
	revision, err := s.cfg.States.Put(ctx, at, value, last, max(s.cfg.Keep, leastKeyAge))
	if err != nil {
		return 0, fmt.Errorf("bind idempotency key: %w", err)
	}
	return revision, nil
}

func (s *Service) pledged(ctx context.Context, at string) (pledge, uint64, error) {
	var p pledge
	value, revision, err := s.cfg.States.Get(ctx, at)
	if err == nil {
		err = json.Unmarshal(value, &p)
	}
	if err != nil {
		return p, 0, fmt.Errorf("look up idempotency key: %w", err)
	}
	return p, revision, nil
}

// hash tells lists of texts apart.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}
