package async_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

func TestEnqueueRunGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{})
		var seen *http.Request
		b.answerWith(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			status(http.StatusTeapot, "A", "B")(w, r)
		})
		w := b.do("PUT", "/run/f/x?a=1&async=true&b=%20", "body", "Prefer", "return=minimal, Respond-Async; wait=1", "X-Mine", "1", "Connection", "X-Hop", "X-Hop", "1")
		id := w.Header().Get(api.HeaderRequestID)
		if w.Code != 202 || w.Header().Get("Location") != "/async/"+id || w.Header().Get("Preference-Applied") != "respond-async" {
			t.Fatalf("got %d %v", w.Code, w.Header())
		}
		b.expect(id, api.AsyncQueued)
		defer start(b.svc)()
		synctest.Wait()
		s := b.expect(id, api.AsyncDone)
		if s.Status != 418 || s.Body != "answer" || s.Header.Get("A") != "B" || s.Attempts != 1 || s.Bytes != 6 {
			t.Errorf("got %+v", s)
		}
		if seen.Method != "PUT" || seen.RequestURI != "/run/f/x?a=1&b=%20" || seen.Header.Get("X-Mine") != "1" ||
			seen.Header.Get("Prefer") != "" || seen.Header.Get("X-Hop") != "" || seen.Header.Get(api.HeaderRequestID) != id || seen.ContentLength != 4 {
			t.Errorf("the lambda saw %s %s %v", seen.Method, seen.RequestURI, seen.Header)
		}
		time.Sleep(time.Hour)
		wants(t, b.do("GET", api.PathAsync+id, ""), 404, "unknown-async")
	})
}

func TestBytesThatAreNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{})
		defer start(b.svc)()
		id := b.enqueue("\xff\n\x00")
		synctest.Wait()
		if s := b.expect(id, api.AsyncDone); s.Body != "" || string(s.Base64) != "\xff\n\x00" {
			t.Errorf("got %+v", s)
		}
	})
}

// What fails is tried again after pauses that double, and given up in the end.
func TestRetriesAndDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{
			Default: lambda.Async{Attempts: 7},
			Retry:   func(string) lambda.Async { return lambda.Async{Attempts: 4, BaseMS: 1000, CapMS: 3000} },
		})
		defer start(b.svc)()
		b.answerWith(status(500))
		id := b.enqueue("poison")
		synctest.Wait()
		if s := b.expect(id, api.AsyncRetrying); s.Attempts != 1 || !strings.Contains(s.Why, "attempt 1 of 4: 500") {
			t.Errorf("got %+v", s)
		}
		time.Sleep(time.Minute)
		s := b.expect(id, api.AsyncDead)
		if s.Attempts != 4 || s.Status != 500 || s.Body != "answer" || b.ran("poison") != 4 {
			t.Errorf("ran %d times: %+v", b.ran("poison"), s)
		}
		for i, most := range []time.Duration{1000, 2000, 3000} {
			if d := b.moment[i+1].Sub(b.moment[i]); d < most*time.Millisecond/2 || d > most*time.Millisecond {
				t.Errorf("pause %d was %v", i, d)
			}
		}
		if b.queue.Len() != 0 {
			t.Error("it is still in the queue")
		}
		wants(t, b.do("DELETE", api.PathAsync+id, ""), 409, "async-dead")

		var all []api.AsyncState
		if err := json.Unmarshal(b.do("GET", api.PathDead, "").Body.Bytes(), &all); err != nil || len(all) != 1 || all[0].ID != id {
			t.Errorf("got %+v, %v", all, err)
		}
		b.answerWith(status(200))
		if w := b.do("POST", api.PathDead+id+"/retry", ""); w.Code != 200 {
			t.Errorf("got %d: %s", w.Code, w.Body)
		}
		synctest.Wait()
		if s := b.expect(id, api.AsyncDone); s.Attempts != 1 || b.ran("poison") != 5 {
			t.Errorf("got %+v", s)
		}
		wants(t, b.do("POST", api.PathDead+id+"/retry", ""), 409, "async-done")
	})
}

func TestDropDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{Default: lambda.Async{Attempts: 1}})
		defer start(b.svc)()
		b.answerWith(status(502))
		id := b.enqueue("x")
		synctest.Wait()
		if w := b.do("DELETE", api.PathDead+id, ""); w.Code != 200 {
			t.Errorf("got %d: %s", w.Code, w.Body)
		}
		wants(t, b.do("GET", api.PathAsync+id, ""), 404, "unknown-async")
		wants(t, b.do("DELETE", api.PathDead+id, ""), 404, "unknown-async")
		if w := b.do("GET", api.PathDead, ""); strings.TrimSpace(w.Body.String()) != "[]" {
			t.Errorf("got %s", w.Body)
		}
	})
}

func TestWhatIsRetried(t *testing.T) {
	for _, tc := range []struct {
		name  string
		h     http.HandlerFunc
		state string // after two failures that count
		runs  int
	}{
		{"400", status(400), api.AsyncDone, 1},
		{"404", status(404), api.AsyncDone, 1},
		{"429", status(429), api.AsyncDead, 2},
		{"500", status(500), api.AsyncDead, 2},
		{"504", status(504), api.AsyncDead, 2},
		{"broken", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			panic(http.ErrAbortHandler)
		}, api.AsyncDead, 2},
		{"not started", status(503, api.HeaderNotStarted, "true"), api.AsyncQueued, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, async.Config{Default: lambda.Async{Attempts: 2, BaseMS: 100, CapMS: 100}})
				b.answerWith(func(w http.ResponseWriter, r *http.Request) {
					if b.ran("x") > 5 {
						time.Sleep(time.Hour)
					}
					tc.h(w, r)
				})
				stop := start(b.svc)
				id := b.enqueue("x")
				time.Sleep(10 * time.Second)
				if tc.state == api.AsyncQueued {
					b.expect(id, api.AsyncRunning)
				} else {
					b.expect(id, tc.state)
				}
				if got := b.ran("x"); got < tc.runs || (tc.state != api.AsyncQueued && got > tc.runs) {
					t.Errorf("it ran %d times", got)
				}
				stop()
			})
		})
	}
}

// What nobody can begin with does not use up its attempts, but waits at most
// for Expire.
func TestOutageUsesUpNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{Default: lambda.Async{Attempts: 1}, Expire: time.Hour})
		defer start(b.svc)()
		b.answerWith(status(503, api.HeaderNotStarted, "true"))
		short, long := b.enqueue("short"), ""
		time.Sleep(50 * time.Minute)
		long = b.enqueue("long")
		b.expect(short, api.AsyncQueued)
		time.Sleep(12 * time.Minute)
		if s := b.expect(short, api.AsyncDead); s.Attempts != 0 || !strings.Contains(s.Why, "within 1h") {
			t.Errorf("got %+v", s)
		}
		b.answerWith(status(200))
		time.Sleep(time.Minute)
		b.expect(long, api.AsyncDone)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{})
		queued := b.enqueue("queued")
		for range 2 {
			if w := b.do("DELETE", api.PathAsync+queued, ""); w.Code != 200 {
				t.Errorf("got %d: %s", w.Code, w.Body)
			}
		}
		b.answerWith(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) })
		running := b.enqueue("running")
		defer start(b.svc)()
		synctest.Wait()
		wants(t, b.do("DELETE", api.PathAsync+running, ""), 409, "async-running")
		time.Sleep(time.Minute)
		synctest.Wait()
		wants(t, b.do("DELETE", api.PathAsync+running, ""), 409, "async-done")
		b.expect(queued, api.AsyncCanceled)
		if b.ran("queued") != 0 || b.ran("running") != 1 || b.queue.Len() != 0 {
			t.Errorf("ran %v, %d in the queue", b.calls, b.queue.Len())
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{Keep: time.Minute})
		var ids []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				id := b.enqueue("one", api.HeaderIdempotencyKey, "k")
				mu.Lock()
				defer mu.Unlock()
				ids = append(ids, id)
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("got %v", ids)
			}
		}
		wants(t, b.do("POST", "/run/f/x?a=1&async=true", "two", api.HeaderIdempotencyKey, "k"), 422, "key-reused")
		if w := b.do("POST", "/run/other?async=true", "two", api.HeaderIdempotencyKey, "k"); w.Code != 202 {
			t.Errorf("a key of another lambda: %d", w.Code)
		}
		defer start(b.svc)()
		time.Sleep(10 * time.Minute) // the answer is gone, the key is not
		if id := b.enqueue("one", api.HeaderIdempotencyKey, "k"); id != ids[0] {
			t.Errorf("got %s", id)
		}
		synctest.Wait()
		if b.ran("one") != 1 {
			t.Errorf("it ran %d times", b.ran("one"))
		}
	})
}

// A boss that dies after it has bound a key, or has queued the job, is made up
// for by whoever comes with the key again.
func TestKeyOfADeadBoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{})
		b.queue.SetDown(true)
		wants(t, b.do("POST", "/run/f?async=true", "x", api.HeaderIdempotencyKey, "k"), 503, "async-unavailable")
		b.queue.SetDown(false)
		id := b.enqueueAt("/run/f?async=true", "x", "k")
		defer start(b.svc)()
		synctest.Wait()
		b.expect(id, api.AsyncDone)
	})
}

func (b *bench) enqueueAt(path, body, key string) string {
	b.t.Helper()
	w := b.do("POST", path, body, api.HeaderIdempotencyKey, key)
	if w.Code != 202 {
		b.t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	return w.Header().Get(api.HeaderRequestID)
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{MaxBody: 10, MaxResult: 20, Exists: func(n string) bool { return n == "f" }})
		const id = "01a2297b-835e-70ae-9ace-49153b1467f2"
		wants(t, b.do("POST", "/run/f?async=true", "12345678901"), 413, "body-too-large")
		wants(t, b.do("POST", "/run/g?async=true", ""), 404, "unknown-lambda")
		wants(t, b.do("POST", "/run/a%20b?async=true", ""), 400, "bad-name")
		wants(t, b.do("POST", "/run/f?async=true", "", api.HeaderIdempotencyKey, strings.Repeat("k", 256)), 400, "bad-key")
		for _, method := range []string{"GET", "DELETE"} {
			wants(t, b.do(method, api.PathAsync+"nonsense", ""), 400, "bad-id")
			wants(t, b.do(method, api.PathAsync+"{"+id+"}", ""), 400, "bad-id")
			wants(t, b.do(method, api.PathAsync+id, ""), 404, "unknown-async")
		}
		wants(t, b.do("POST", api.PathDead+id+"/retry", ""), 404, "unknown-async")
		for i := range 100 {
			b.enqueue(fmt.Sprint(i))
		}
		w := b.do("POST", "/run/f?async=true", "")
		wants(t, w, 429, "async-queue-full")
		if w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		b.states.SetDown(true)
		wants(t, b.do("GET", api.PathAsync+id, ""), 503, "async-unavailable")
		b.states.SetDown(false)

		b.answerWith(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 21)) })
		defer start(b.svc)()
		time.Sleep(time.Minute)
		large := b.enqueue("large")
		synctest.Wait()
		if s := b.expect(large, api.AsyncDone); !s.TooLarge || s.Bytes != 21 || s.Body != "" || s.Status != 200 {
			t.Errorf("got %+v", s)
		}
	})
}

// A store that is out of reach when an answer is there keeps it from being
// written down; the job runs again at worst, and nothing is lost.
func TestStoreComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{})
		defer start(b.svc)()
		accepted := make(chan struct{})
		b.answerWith(func(w http.ResponseWriter, _ *http.Request) {
			<-accepted // it may begin before whoever sent it has an answer
			b.states.SetDown(true)
			b.queue.SetDown(true)
		})
		id := b.enqueue("x")
		close(accepted)
		synctest.Wait()
		b.answerWith(status(200))
		time.Sleep(time.Minute)
		b.states.SetDown(false)
		b.queue.SetDown(false)
		time.Sleep(time.Minute)
		if s := b.expect(id, api.AsyncDone); b.ran("x") != 2 || s.Lost != 1 {
			t.Errorf("it ran %d times: %+v", b.ran("x"), s)
		}
	})
}

// A boss that stops lets run what runs, for a time; the rest goes to another.
func TestStopHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, async.Config{Drain: 10 * time.Second})
		b.answerWith(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			d, bad := time.ParseDuration(string(body))
			if err = errors.Join(err, bad); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(d):
			case <-r.Context().Done():
				w.WriteHeader(499)
			}
		})
		stop := start(b.svc)
		short, long := b.enqueue("5s"), b.enqueue("30s")
		synctest.Wait()
		begun := time.Now()
		stop()
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("it stopped after %v", took)
		}
		b.expect(short, api.AsyncDone)
		b.expect(long, api.AsyncQueued)
		other, _ := b.service(async.Config{})
		defer start(other)()
		time.Sleep(31 * time.Second)
		if s := b.expect(long, api.AsyncDone); s.Attempts != 1 || s.Lost != 0 || b.ran("5s") != 1 {
			t.Errorf("got %+v", s)
		}
	})
}
