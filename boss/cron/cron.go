package cron

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/pause"
)

// Config is what a Cron needs.
type Config struct {
	// Triggers are the schedules of each lambda that has some. It is asked every
	// second.
	Triggers func() map[string][]string
	// Take takes a tick in, once for all bosses that bring it.
	Take   func(ctx context.Context, t Tick) error
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: silent
}

// Cron is the triggers of one boss.
type Cron struct {
	cfg   Config
	slots chan struct{} // ticks that are brought at the same time
	table map[trigger]*entry
}

type trigger struct{ function, schedule string }

type entry struct {
	schedule lambda.Schedule
	next     time.Time // zero: never
	kept     bool      // the trigger is still there
}

// Numbers of a Cron.
const (
	look     = time.Second     // how often triggers are looked at
	lateness = time.Minute     // age up to which a tick that was slept through is made up for
	again    = 2 * time.Second // pause before a tick is brought again
	atOnce   = 32              // ticks that are brought at the same time
)

// New makes a cron. Run makes ticks.
func New(cfg Config) (*Cron, error) {
	if cfg.Triggers == nil || cfg.Take == nil {
		return nil, errors.New("make cron: triggers and whoever takes ticks are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Cron{cfg: cfg, slots: make(chan struct{}, atOnce), table: map[trigger]*entry{}}, nil
}

// Run makes ticks until ctx ends.
func (c *Cron) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for ctx.Err() == nil {
		now := c.cfg.Now()
		c.refresh(now)
		wait := look
		for t, e := range c.table {
			if e.next.IsZero() {
				continue
			}
			if left := e.next.Sub(now); left > 0 {
				wait = min(wait, left)
				continue
			}
			tick := Tick{t.function, t.schedule, e.next}
			e.next = e.schedule.Next(now)
			wait = 0 // look again for what is due next
			if late := now.Sub(tick.At); late > lateness {
				c.cfg.Logger.Warn("cron tick missed", slog.String("function", t.function), slog.String("schedule", t.schedule), slog.Duration("late", late))
				continue
			}
			limit := e.next.Sub(now)
			wg.Go(func() { c.bring(ctx, tick, limit) })
		}
		pause.For(ctx, wait)
	}
}

// refresh makes the table like the triggers of the lambdas.
func (c *Cron) refresh(now time.Time) {
	for function, schedules := range c.cfg.Triggers() {
		for _, text := range schedules {
			t := trigger{function, text}
			if c.table[t] == nil {
				c.table[t] = c.newEntry(t, now)
			}
			c.table[t].kept = true
		}
	}
	for t, e := range c.table {
		if !e.kept {
			delete(c.table, t)
		}
		e.kept = false
	}
}

// newEntry is that of a trigger that is due from now on.
func (c *Cron) newEntry(t trigger, now time.Time) *entry {
	s, err := lambda.ParseSchedule(t.schedule)
	if err != nil { // it was checked when the lambda was installed
		c.cfg.Logger.Warn("understand cron trigger", slog.String("function", t.function), slog.Any("error", err))
		return &entry{}
	}
	return &entry{schedule: s, next: s.Next(now)}
}

// bring has a tick taken in within limit, the time until the next one.
func (c *Cron) bring(ctx context.Context, t Tick, limit time.Duration) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return
	}
	begun := time.Now()
	for {
		err := c.cfg.Take(ctx, t)
		if err == nil || ctx.Err() != nil {
			return
		}
		if limit > 0 && time.Since(begun)+again >= limit {
			c.cfg.Logger.Warn("cron tick dropped", slog.String("function", t.Function), slog.String("schedule", t.Schedule), slog.Time("at", t.At), slog.Any("error", err))
			return
		}
		pause.For(ctx, again)
	}
}
