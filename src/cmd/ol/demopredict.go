package main

import (
	"context"
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
)

// Processor time of the mechanism, all processes counted: what a prediction of
// the demo's own use is made from. Estimates on the safe side: a start was
// measured at some 16 ms (docs/performance.md), a request well below 1 ms.
const (
	demoRequestCPU = 2 * time.Millisecond
	demoStartCPU   = 20 * time.Millisecond
	demoStartTime  = 15 * time.Millisecond // a start beside the initialisation
)

func demoMachine(coldPerSec float64) replay.Machine {
	return replay.Machine{
		Cores: runtime.NumCPU(), ColdPerSec: coldPerSec,
		RequestCPU: demoRequestCPU, StartCPU: demoStartCPU, InitCPUShare: 1,
	}
}

// demoPolicy is the configuration of a preset in time stretched by a factor.
func demoPolicy(name string, stretch float64) config.Policy {
	p := config.New("/", 0).Policy
	p.Preset = name
	p.TTLSec = max(1, int(demoTTL.Seconds()*stretch))
	p.WindowSec = max(1, int(demoWindow.Seconds()*stretch))
	return p
}

// predict runs the engine through the workload in virtual time.
func (p demoPlan) predict(ctx context.Context, name string) (replay.Prediction, error) {
	return replay.Predict(ctx, replay.Node{
		PoolMB: p.poolMB, StartSlots: 2 * runtime.NumCPU(), StarveMin: time.Second, Overhead: demoStartTime,
		Policy: func() (catalog.Policy, error) { return makePolicy(demoPolicy(name, p.stretch)) },
	}, p.workload)
}
