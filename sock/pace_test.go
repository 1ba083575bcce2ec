package sock

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	p := newPace(now)
	if wait := p.after(now, paceBurst); wait != 0 {
		t.Errorf("the burst waits %v", wait)
	}
	total := 0
	for begin := now; now.Sub(begin) < 10*time.Second; total += 16 << 10 {
		wait := p.after(now, 16<<10)
		if wait > 0 && wait < paceStep {
			t.Fatalf("a pause of %v", wait)
		}
		now = now.Add(wait + time.Microsecond)
	}
	if rate := total / 10; rate < paceRate*9/10 || rate > paceRate*11/10 {
		t.Errorf("%d bytes a second, want %d", rate, paceRate)
	}
	// Silence fills the bucket, and no further.
	now = now.Add(time.Hour)
	if wait := p.after(now, paceBurst); wait != 0 {
		t.Errorf("after an hour a burst waits %v", wait)
	}
	if wait := p.after(now, paceRate); wait < 900*time.Millisecond {
		t.Errorf("a second's bytes beyond the burst wait %v", wait)
	}
}

// A flood is read slowly, whole, and its reader ends when it is told to.
func TestOutputIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		o := &output{pace: newPace(time.Now()), stop: make(chan struct{}), done: make(chan struct{})}
		var got bytes.Buffer
		o.attach(&got)
		flood := bytes.Repeat([]byte("x\n"), paceRate) // two seconds' worth
		begin := time.Now()
		wg.Go(func() { o.copy(bytes.NewReader(flood)) })
		wg.Wait()
		if took := time.Since(begin); took < 1500*time.Millisecond || took > 2500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if !bytes.Equal(got.Bytes(), flood) {
			t.Errorf("%d of %d bytes came through", got.Len(), len(flood))
		}
		wg.Go(func() { o.copy(endless{}) })
		synctest.Wait() // it waits for its pace
		close(o.stop)
		wg.Wait()
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("x\n"), len(p)/2+1)), nil
}
