package lambda

import (
	"strings"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, tc := range []struct{ schedule, after, want string }{
		{"* * * * *", "2026-01-01T10:00:00Z", "2026-01-01T10:01:00Z"},
		{"* * * * *", "2026-01-01T12:00:30+02:00", "2026-01-01T10:01:00Z"},
		{"30 4 * * *", "2026-01-01T10:00:00Z", "2026-01-02T04:30:00Z"},
		{"CRON_TZ=Europe/Berlin 30 4 * * *", "2026-01-01T10:00:00Z", "2026-01-02T03:30:00Z"},
		{"*/10 * * * * *", "2026-01-01T10:00:01Z", "2026-01-01T10:00:10Z"},
		{"@hourly", "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"},
		{"@every 90s", "2026-01-01T00:00:10Z", "2026-01-01T00:01:30Z"},
		{"@every 90s", "2026-01-01T00:01:29.9Z", "2026-01-01T00:01:30Z"},
		// Thursday the 1st: either is enough.
		{"0 0 15 * MON", "2026-01-01T10:00:00Z", "2026-01-05T00:00:00Z"},
	} {
		s, err := ParseSchedule(tc.schedule)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Next(at(tc.after)); !got.Equal(at(tc.want)) || got.Location() != time.UTC {
			t.Errorf("%s after %s: got %v, want %s", tc.schedule, tc.after, got, tc.want)
		}
	}
	if s, err := ParseSchedule("0 0 30 2 *"); err != nil || !s.Next(at("2026-01-01T00:00:00Z")).IsZero() {
		t.Errorf("the 30th of February: %v", err)
	}
	for _, bad := range []string{"", "x", "* * * *", "61 * * * *", "@x", "@every soon", "CRON_TZ=Nowhere/X * * * * *"} {
		if _, err := ParseSchedule(bad); err == nil || !strings.Contains(err.Error(), "schedule") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
