package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Load says which requests are sent, how fast and for how long.
type Load struct {
	Next   func() Target // of the next request; called by one goroutine
	Length time.Duration
	// Tasks is how many requests are sent at once in a closed loop: each as
	// soon as another is answered.
	Tasks int
	// Rate is the requests a second of an open loop, which does not wait for
	// answers; 0 is a closed loop. A latency is then measured from the moment
	// that the request was due, so that lateness counts.
	Rate float64
	// Each is told about every answer, if set; it may be called concurrently.
	Each func(err error)
}

// mostInFlight bounds an open loop that nobody keeps up with. What would go
// beyond fails at once.
const mostInFlight = 10_000

// Run sends the load and waits for every answer.
func (l Load) Run(ctx context.Context) Outcome {
	if l.Each == nil {
		l.Each = func(error) {}
	}
	if l.Rate > 0 {
		return l.open(ctx)
	}
	return l.closed(ctx)
}

func (l Load) closed(ctx context.Context) Outcome {
	c := client(l.Tasks)
	defer c.CloseIdleConnections()
	next := make(chan Target)
	parts := make([]Outcome, l.Tasks)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for t := range next {
				took, err := send(ctx, c, t)
				parts[i].add(took, err)
				l.Each(err)
			}
		})
	}
	over := time.NewTimer(l.Length)
	defer over.Stop()
	for going := true; going; {
		select {
		case next <- l.Next():
		case <-over.C:
			going = false
		case <-ctx.Done():
			going = false
		}
	}
	close(next)
	wg.Wait()
	return join(parts, time.Since(begin))
}

// open sends the i-th request at i / Rate.
func (l Load) open(ctx context.Context) Outcome {
	flight := openFlight{load: l, client: client(1024), room: make(chan struct{}, mostInFlight)}
	defer flight.client.CloseIdleConnections()
	begin := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		due := time.Duration(float64(i) / l.Rate * float64(time.Second))
		if due >= l.Length {
			break
		}
		timer.Reset(time.Until(begin.Add(due)))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		flight.send(ctx, begin.Add(due))
	}
	flight.wg.Wait()
	flight.out.Elapsed = time.Since(begin)
	return flight.out
}

// openFlight are the requests of an open loop that wait for their answers.
type openFlight struct {
	load   Load
	client *http.Client
	room   chan struct{}
	wg     sync.WaitGroup

	mu  sync.Mutex
	out Outcome
}

func (f *openFlight) send(ctx context.Context, due time.Time) {
	t := f.load.Next()
	select {
	case f.room <- struct{}{}:
	default:
		f.note(0, fmt.Errorf("call %s: %d requests wait for their answers already", t.URL, mostInFlight))
		return
	}
	f.wg.Go(func() {
		_, err := send(ctx, f.client, t)
		f.note(time.Since(due), err)
		<-f.room
	})
}

func (f *openFlight) note(took time.Duration, err error) {
	f.load.Each(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.add(took, err)
}
