package lambda

import (
	"fmt"
	"time"

	"github.com/netresearch/go-cron"
)

// Schedule says when a cron trigger is due. It is a function of time alone:
// everybody who asks gets the same moments.
type Schedule struct {
	next  cron.Schedule
	every time.Duration // of "@every": multiples of it, counted from year 1, UTC
}

// ParseSchedule reads a schedule: five fields (minute, hour, day of the month,
// month, day of the week), six with seconds before them, "@hourly" and the like,
// or "@every 90s". Without CRON_TZ=ZONE before it, it is about UTC. If both kinds
// of day are given, either is enough, as in crontab(5).
func ParseSchedule(text string) (Schedule, error) {
	parser, err := cron.TryNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom)
	if err != nil {
		return Schedule{}, fmt.Errorf("parse schedule: %w", err)
	}
	next, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w; five fields are needed, as in \"*/5 * * * *\", or \"@every 90s\"", text, err)
	}
	if every, ok := next.(cron.ConstantDelaySchedule); ok {
		return Schedule{every: every.Delay}, nil
	}
	return Schedule{next: next}, nil
}

// Next is the first moment after t; zero if there is none within years.
func (s Schedule) Next(t time.Time) time.Time {
	t = t.UTC()
	if s.every > 0 {
		return t.Truncate(s.every).Add(s.every)
	}
	return s.next.Next(t).UTC()
}
