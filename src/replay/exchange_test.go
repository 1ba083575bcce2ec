package replay

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// refused is what a client gets where nobody listens.
func refused() error { return &net.OpError{Op: "dial", Err: errors.New("connection refused")} }

// exhausted is what a client gets that has too many files open itself.
func exhausted() error {
	return &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
}

// crowd makes n moments, 100 ms apart.
func crowd(n int) []time.Duration {
	at := make([]time.Duration, n)
	for i := range at {
		at[i] = time.Duration(i) * 100 * time.Millisecond
	}
	return at
}

// log is what was asked.
type log struct {
	mu    sync.Mutex // of what follows
	hosts []string
}

func (l *log) add(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts = append(l.hosts, host)
}

// bosses answers for several hosts; down tells why one does not.
func bosses(down func(host string) error, asked *log) serverFunc {
	return func(r *http.Request) (*http.Response, error) {
		asked.add(r.URL.Host)
		if err := down(r.URL.Host); err != nil {
			return nil, err
		}
		return answer(200, "warm", "", "{}"), nil
	}
}

// A request that nobody took goes to the next boss; the ones after it go there at
// once. One that was sent and not answered has failed, and is not sent twice.
func TestReplayTurnsToTheNextBoss(t *testing.T) {
	for _, c := range []struct {
		name  string
		why   error
		asked []string
		lost  int
	}{
		{"refused", refused(), []string{"b1", "b1", "b2", "b2"}, 0},
		{"broken off", io.ErrUnexpectedEOF, []string{"b1", "b1", "b2"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var asked log
				var turned []string
				server := bosses(func(host string) error {
					if host == "b1" && time.Since(begin) >= time.Second {
						return c.why
					}
					return nil
				}, &asked)
				r := &Replayer{
					URL: "http://b1", Others: []string{"http://b2"}, Client: &http.Client{Transport: server},
					Turned: func(to string) { turned = append(turned, to) },
				}
				samples, err := r.Run(t.Context(), workload(0, time.Second, 2*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				if lost := Summarise(samples).Errors; lost != c.lost || !slices.Equal(asked.hosts, c.asked) {
					t.Errorf("%d lost, want %d; asked %v, want %v", lost, c.lost, asked.hosts, c.asked)
				}
				if !slices.Equal(turned, []string{"http://b2"}) {
					t.Errorf("turned to %v", turned)
				}
			})
		})
	}
}

// A boss that comes back is found again by going round; when all are gone the replay
// gives up as it does with one.
func TestReplayWithoutAnyBoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, turned log
		r := &Replayer{
			URL: "http://b1", Others: []string{"http://b2", "http://b3"}, GiveUp: 2 * time.Second, Turned: turned.add,
			Client: &http.Client{Transport: bosses(func(string) error { return refused() }, &asked)},
		}
		samples, err := r.Run(t.Context(), workload(crowd(60)...))
		if !errors.Is(err, ErrGone) {
			t.Fatalf("got %v", err)
		}
		sent := 0
		for _, s := range samples {
			if s.Sent() {
				sent++
			}
		}
		if len(asked.hosts) != 3*sent || sent == 0 || sent == len(samples) {
			t.Errorf("%d requests sent, %d times asked: each asks every boss once", sent, len(asked.hosts))
		}
		if !slices.Equal(turned.hosts, []string{"http://b2", "http://b3"}) {
			t.Errorf("told of %v", turned.hosts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var asked log
		server := bosses(func(host string) error {
			if away := time.Since(begin).Round(time.Second) == time.Second; away == (host == "b1") {
				return refused()
			}
			return nil
		}, &asked)
		r := &Replayer{URL: "http://b1", Others: []string{"http://b2"}, Client: &http.Client{Transport: server}}
		samples, err := r.Run(t.Context(), workload(0, time.Second, 2*time.Second))
		if err != nil || Summarise(samples).Errors != 0 {
			t.Errorf("%v, %v", err, asked.hosts)
		}
	})
}
