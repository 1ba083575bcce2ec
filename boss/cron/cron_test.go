package cron_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/async/memory"
	"github.com/open-lambda/open-lambda/boss/cron"
	"github.com/open-lambda/open-lambda/src/api"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is some bosses, as far as cron concerns them, on one store.
type cluster struct {
	t      *testing.T
	queue  *memory.Queue
	states *memory.States

	mu       sync.Mutex
	triggers map[string][]string
	ran      map[string]int // by function, schedule and tick
}

func newCluster(t *testing.T) *cluster {
	return &cluster{
		t: t, queue: memory.NewQueue(100_000, time.Minute), states: memory.NewStates(), triggers: map[string][]string{}, ran: map[string]int{},
	}
}

func (c *cluster) set(function string, schedules ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.triggers[function] = schedules
}

func (c *cluster) list() map[string][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string][]string{}
	for k, v := range c.triggers {
		out[k] = v
	}
	return out
}

func (c *cluster) run(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := r.Header
	if h.Get(api.HeaderTrigger) != api.TriggerCron || r.Method != http.MethodPost {
		c.t.Errorf("got %s %v", r.Method, h)
	}
	c.ran[r.URL.Path+" "+h.Get(api.HeaderSchedule)+" "+h.Get(api.HeaderTick)]++
}

// boss starts one whose clock is off by skew.
func (c *cluster) boss(skew time.Duration) (stop func()) {
	svc, err := async.New(async.Config{Queue: c.queue, States: c.states, Run: http.HandlerFunc(c.run), Slots: 2})
	if err != nil {
		c.t.Fatal(err)
	}
	cr, err := cron.New(cron.Config{
		Triggers: c.list, Now: func() time.Time { return time.Now().Add(skew) },
		Take: func(ctx context.Context, t cron.Tick) error {
			job, key := t.Job()
			_, err := svc.Enqueue(ctx, job, key)
			return err
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { svc.Run(ctx) })
	wg.Go(func() { cr.Run(ctx) })
	return func() { cancel(); wg.Wait() }
}

// once checks that so many ticks ran, each once.
func (c *cluster) once(want int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ran) != want {
		c.t.Errorf("%d ticks, want %d", len(c.ran), want)
	}
	for tick, n := range c.ran {
		if n != 1 {
			c.t.Errorf("%s ran %d times", tick, n)
		}
	}
}

// With three bosses each tick is made once, whatever their clocks say. Virtual
// time begins at midnight.
func TestEachTickOnce(t *testing.T) {
	for _, tc := range []struct {
		skew []time.Duration
		want int // ticks within 10.5 min of a trigger that is due every minute
	}{
		{[]time.Duration{0}, 10},
		{[]time.Duration{0, 0, 0}, 10},
		{[]time.Duration{0, 3 * time.Second, -5 * time.Second}, 11}, // it is 23:59:55 for the last one
		// The fastest clock is three minutes ahead, the slowest five behind: they
		// begin at 0:03 and end at 0:13, and begin at 23:55.
		{[]time.Duration{0, 3 * time.Minute, -5 * time.Minute}, 18},
	} {
		t.Run(fmt.Sprint(tc.skew), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				c.set("f", "* * * * *", "* * * * *")
				for _, skew := range tc.skew {
					defer c.boss(skew)()
				}
				time.Sleep(10*time.Minute + 30*time.Second)
				c.once(tc.want)
			})
		})
	}
}

func TestTriggersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		for range 3 {
			defer c.boss(0)()
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		c.once(0)
		c.set("f", "@every 1m", "0 0 30 2 *")
		c.set("g", "*/5 * * * *")
		c.set("wrong", "nonsense")
		time.Sleep(10 * time.Minute)
		c.once(12)
		c.set("f")
		time.Sleep(10 * time.Minute)
		c.once(14)
	})
}

// A boss that dies takes nothing along while another one lives.
func TestBossDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.set("f", "*/10 * * * * *")
		for i := range 6 {
			stop := c.boss(0)
			time.Sleep(35 * time.Second)
			next := c.boss(time.Duration(i) * time.Second / 10)
			stop()
			time.Sleep(25 * time.Second)
			defer next()
		}
		synctest.Wait()
		c.once(36)
	})
}

// A store that is away for less than the time between two ticks costs none;
// one that is away for longer costs those that were due.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.set("f", "* * * * *")
		for range 3 {
			defer c.boss(0)()
		}
		away := func(d time.Duration) {
			c.queue.SetDown(true)
			c.states.SetDown(true)
			time.Sleep(d)
			c.queue.SetDown(false)
			c.states.SetDown(false)
		}
		time.Sleep(50 * time.Second)
		away(40 * time.Second)
		time.Sleep(15 * time.Second)
		c.once(1)
		time.Sleep(5 * time.Second) // 0:01:50
		away(3 * time.Minute)
		time.Sleep(15 * time.Second)
		c.once(3) // that of 0:04, and 0:05
	})
}

// What a boss slept through is made up for once if it is not old.
func TestSleptThrough(t *testing.T) {
	for _, tc := range []struct {
		asleep time.Duration
		want   []string
	}{
		{50 * time.Second, []string{"00:00:10", "00:00:20", "00:01:10"}},
		{10 * time.Minute, []string{"00:00:10", "00:10:20"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var skew time.Duration
			var got []string
			c, err := cron.New(cron.Config{
				Triggers: func() map[string][]string { return map[string][]string{"f": {"*/10 * * * * *"}} },
				Now: func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Add(skew)
				},
				Take: func(_ context.Context, t cron.Tick) error {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, t.At.Format(time.TimeOnly))
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
			defer cancel()
			var wg sync.WaitGroup
			wg.Go(func() { c.Run(ctx) })
			time.Sleep(15 * time.Second)
			mu.Lock()
			skew = tc.asleep
			mu.Unlock()
			wg.Wait()
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("asleep for %v: got %v, want %v", tc.asleep, got, tc.want)
			}
		})
	}
}

func TestBadConfig(t *testing.T) {
	if _, err := cron.New(cron.Config{}); err == nil {
		t.Error("accepted")
	}
	var once sync.Once
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c, err := cron.New(cron.Config{
			Triggers: func() map[string][]string { return map[string][]string{"f": {"@every 1m"}} },
			Take: func(context.Context, cron.Tick) error {
				calls++
				var err error
				once.Do(func() { err = errors.New("once") })
				return err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		c.Run(ctx)
		if calls != 2 {
			t.Errorf("a tick was brought %d times", calls)
		}
	})
}
