package async

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// verdict is what becomes of a job after an attempt.
type verdict int

const (
	final     verdict = iota // the answer is kept
	failed                   // it counts as an attempt, and another may follow
	postponed                // nothing was begun: it does not count
)

// judge decides over an attempt. A lambda's own 5xx counts as a failure like
// the platform's: an exception in it is a 500.
func judge(a *answer) verdict {
	switch {
	case a.broken:
		return failed
	case api.NotStarted(a.status, a.header):
		return postponed
	case a.status >= http.StatusInternalServerError, a.status == http.StatusTooManyRequests:
		return failed
	}
	return final
}

// backoff is the pause after the n-th failure (from 1): the base doubled each
// time up to the cap, half of it by chance, so that what failed together does
// not come back together.
func backoff(p lambda.Async, n int) time.Duration {
	d := time.Duration(p.BaseMS) * time.Millisecond
	most := time.Duration(p.CapMS) * time.Millisecond
	for range n - 1 {
		if d >= most {
			break
		}
		d *= 2
	}
	d = max(min(d, most), time.Millisecond)
	return d/2 + rand.N(d/2+1)
}
