package cron

import (
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/src/api"
)

// Tick is one moment of one trigger.
type Tick struct {
	Function string
	Schedule string
	At       time.Time // UTC
}

// Job is the invocation that a tick makes, and the key that is the same
// whichever boss makes it.
func (t Tick) Job() (async.Job, string) {
	at := t.At.Format(time.RFC3339)
	return async.Job{
		Function: t.Function, Method: http.MethodPost, Target: api.PathRun + t.Function + "/",
		Header: http.Header{api.HeaderTrigger: {api.TriggerCron}, api.HeaderSchedule: {t.Schedule}, api.HeaderTick: {at}},
	}, "cron/" + t.Schedule + "/" + at
}
