package replay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A server that takes requests and never answers is given up as one that
// refuses them is, and as long as it takes to know: what was asked for takes
// 250 ms and at worst a second of initialisation.
func TestHungServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		hung := serverFunc(func(r *http.Request) (*http.Response, error) {
			if time.Since(begin) < 5*time.Second {
				return answer(200, "warm", "", "{}"), nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: hung}, GiveUp: 3 * time.Second}
		samples, err := r.Run(t.Context(), workload(crowd(1000)...))
		if took := time.Since(begin); !errors.Is(err, ErrGone) || took < 9*time.Second || took > 12*time.Second {
			t.Errorf("ended with %v after %v", err, took)
		}
		if u := Summarise(samples); u.Warm != 50 {
			t.Errorf("%+v", u)
		}
	})
}

// A boss that takes requests and never answers is left for the next one. What it
// has is lost; the rest is not.
func TestHungBossIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		server := serverFunc(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "b1" && time.Since(begin) >= time.Second {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return answer(200, "warm", "", "{}"), nil
		})
		var turned log
		r := &Replayer{
			URL: "http://b1", Others: []string{"http://b2"}, Client: &http.Client{Transport: server, Timeout: time.Minute}, GiveUp: 3 * time.Second, Turned: turned.add,
		}
		samples, err := r.Run(t.Context(), workload(crowd(600)...))
		if u := Summarise(samples); err != nil || len(turned.hosts) != 1 || u.Errors < 40 || u.Errors > 70 || u.Warm+u.Errors != 600 {
			t.Errorf("%v, turned to %v: %+v", err, turned.hosts, u)
		}
	})
}

// Requests that wait behind a long execution are no sign that nobody is there.
func TestLongExecutionIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := make(chan struct{}, 1)
		server := serverFunc(func(*http.Request) (*http.Response, error) {
			turn <- struct{}{}
			time.Sleep(time.Minute)
			<-turn
			return answer(200, "warm", "", "{}"), nil
		})
		w := workload(crowd(20)...)
		for i := range w.Requests {
			w.Requests[i].Exec = time.Minute
		}
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, GiveUp: 3 * time.Second}
		samples, err := r.Run(t.Context(), w)
		if u := Summarise(samples); err != nil || u.Warm != 20 {
			t.Errorf("%v, %+v", err, u)
		}
	})
}

// Where what is asked for does not say how long it takes, silence is no sign
// that nobody is there.
func TestSilenceOfUnboundedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := serverFunc(func(*http.Request) (*http.Response, error) {
			time.Sleep(30 * time.Second)
			return answer(200, "warm", "", "{}"), nil
		})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: slow}, GiveUp: 3 * time.Second, Unbounded: true}
		samples, err := r.Run(t.Context(), workload(crowd(20)...))
		if u := Summarise(samples); err != nil || u.Warm != 20 {
			t.Errorf("%v, %+v", err, u)
		}
	})
}

// Starts that differ may take much longer than the median.
func TestLongestInit(t *testing.T) {
	if got := (&Lambda{Init: time.Second}).longestInit(); got != time.Second {
		t.Error(got)
	}
	if got := (&Lambda{Init: time.Second, InitSigma: 0.5}).longestInit(); got < 4*time.Second || got > 5*time.Second {
		t.Error(got)
	}
}

// With nothing left to be sent, a boss that hangs is not left for another one.
func TestHungBossAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		server := serverFunc(func(r *http.Request) (*http.Response, error) {
			if time.Since(begin) < 4*time.Second {
				return answer(200, "warm", "", "{}"), nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		var turned log
		r := &Replayer{
			URL: "http://b1", Others: []string{"http://b2"}, Client: &http.Client{Transport: server, Timeout: time.Minute}, GiveUp: 3 * time.Second, Turned: turned.add,
		}
		samples, err := r.Run(t.Context(), workload(crowd(60)...))
		if u := Summarise(samples); !errors.Is(err, ErrGone) || len(turned.hosts) > 0 || u.Warm != 40 || time.Since(begin) > 20*time.Second {
			t.Errorf("%v after %v, turned to %v: %+v", err, time.Since(begin), turned.hosts, u)
		}
	})
}

// Who waits for one of few connections until time is up was not refused.
func TestWaitForOneOfFewConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := NewClient(5*time.Second, 1)
		client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		samples, err := (&Replayer{URL: "http://worker", Client: client}).Run(t.Context(), workload(0, 0))
		if err != nil || samples[1].Err == nil || errors.Is(samples[1].Err, ErrUnreachable) || !strings.Contains(samples[1].Err.Error(), "wait for one of 1 connections") {
			t.Errorf("%v, %v", err, samples[1].Err)
		}
		client.CloseIdleConnections()
	})
}

// brokenBody ends before the answer does.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("reset") }
func (brokenBody) Close() error             { return nil }

// An answer that breaks off is one: somebody is there.
func TestAnswersThatBreakOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverFunc(func(*http.Request) (*http.Response, error) {
			a := answer(200, "warm", "", "")
			a.Body = brokenBody{}
			return a, nil
		})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, GiveUp: 3 * time.Second}
		samples, err := r.Run(t.Context(), workload(crowd(60)...))
		if u := Summarise(samples); err != nil || u.Errors != 60 || samples[0].Status != 200 {
			t.Errorf("%v, %+v", err, u)
		}
	})
}

// Who goes away shortly before the end has gone away as well.
func TestGoneAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		server := bosses(func(string) error {
			if time.Since(begin) >= 4*time.Second {
				return refused()
			}
			return nil
		}, &log{})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, GiveUp: 10 * time.Second}
		samples, err := r.Run(t.Context(), workload(crowd(60)...))
		if u := Summarise(samples); !errors.Is(err, ErrGone) || u.Errors != 20 {
			t.Errorf("%v, %+v", err, u)
		}
	})
}

// Too many open files are the replayer's own fault: no boss is left for them, and
// nothing more is sent.
func TestTooManyFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, turned log
		r := &Replayer{
			URL: "http://b1", Others: []string{"http://b2"}, GiveUp: time.Second, Turned: turned.add,
			Client: &http.Client{Transport: bosses(func(string) error { return exhausted() }, &asked)},
		}
		samples, err := r.Run(t.Context(), workload(crowd(60)...))
		if !errors.Is(err, ErrFiles) || !errors.Is(samples[0].Err, ErrFiles) || len(asked.hosts) > 2 || len(turned.hosts) > 0 {
			t.Errorf("%v; asked %v, turned to %v", err, asked.hosts, turned.hosts)
		}
	})
}

// fullListener is an address that takes no connection: what it has room for is
// taken, and nobody accepts.
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	refusals := 0
	for range 16 {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			if refusals++; refusals == 2 { // once may be a busy machine
				return addr
			}
			continue
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Skip("SKIPPED: this kernel takes connections beyond the backlog")
	return ""
}

// Where nobody takes the connection, waiting ends, and the next boss is asked.
func TestConnectionThatNobodyTakes(t *testing.T) {
	full := fullListener(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server-Timing", "exec;dur=0")
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it ends with the test
	}()
	defer func() {
		_ = server.Close() // all was answered
		<-served
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, tt := range []struct {
		others []string
		want   error
	}{{nil, ErrUnreachable}, {[]string{"http://" + l.Addr().String()}, nil}} {
		client := NewClient(time.Hour, 0)
		r := &Replayer{URL: "http://" + full, Others: tt.others, Client: client}
		samples, err := r.Run(ctx, workload(0))
		client.CloseIdleConnections()
		if err != nil || !errors.Is(samples[0].Err, tt.want) {
			t.Fatalf("%v: %v, %v", tt.others, err, samples[0].Err)
		}
		if s := &samples[0]; s.Err == nil && s.Overhead() < connectLimit {
			t.Errorf("the time lost is not in the overhead: %v", s.Overhead())
		}
	}
}

// silentServer takes what comes and never answers.
func silentServer(context.Context, string, string) (net.Conn, error) {
	c, other := net.Pipe()
	go func() {
		buf := make([]byte, 1024)
		for {
			if _, err := other.Read(buf); err != nil {
				return
			}
		}
	}()
	return c, nil
}

// A wait for a connection that ends without one has left nothing behind; a wait
// for an answer may have.
func TestTimeoutBeforeAndAfterTheConnection(t *testing.T) {
	tests := map[string]struct {
		dial   func(context.Context, string, string) (net.Conn, error)
		unsent bool
	}{
		"before": {func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }, true},
		"after":  {silentServer, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := NewClient(time.Minute, 0)
				client.Transport.(*http.Transport).DialContext = tt.dial
				samples, err := (&Replayer{URL: "http://worker", Client: client}).Run(t.Context(), workload(0))
				if err != nil || samples[0].Err == nil || errors.Is(samples[0].Err, ErrUnreachable) != tt.unsent {
					t.Errorf("%v, %v", err, samples[0].Err)
				}
				client.CloseIdleConnections()
			})
		})
	}
}
