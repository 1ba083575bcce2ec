package main

import (
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/jetstream"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// asyncConfig is what a boss needs for asynchronous invocations that are kept
// in its store.
func asyncConfig(store *jetstream.Store, c config.Async) *async.Config {
	return &async.Config{
		Queue: store.Queue(jetstream.QueueConfig{
			Limit: c.QueueLimit, Bytes: int64(c.QueueMB) << 20, Lease: time.Duration(c.LeaseSec) * time.Second,
		}),
		States: store.States(), Slots: c.Slots, MaxBody: int64(c.MaxBodyKB) << 10, MaxResult: int64(c.MaxResultKB) << 10,
		Keep: time.Duration(c.KeepSec) * time.Second, KeepDead: time.Duration(c.KeepDeadSec) * time.Second,
		Expire:  time.Duration(c.ExpireSec) * time.Second,
		Default: lambda.Async{Attempts: c.Attempts, BaseMS: c.BaseMS, CapMS: c.CapMS},
	}
}
