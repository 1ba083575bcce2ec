package main

import (
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
)

// Processor time of the mechanism, as measured with all processes counted on
// two cores: what a prediction of the demo's own use is made from.
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
func (p demoPlan) predict(name string) (replay.Prediction, error) {
	policy, err := makePolicy(demoPolicy(name, p.stretch))
	if err != nil {
		return replay.Prediction{}, err
	}
	e, err := engine.New(engine.Config{
		PoolMB: p.poolMB, StartSlots: 2 * runtime.NumCPU(), StarveMin: time.Second,
		Scaler: policy.Scaler, Evictor: policy.Evictor, Picker: policy.Picker, Prewarmer: policy.Prewarmer,
	})
	if err != nil {
		return replay.Prediction{}, err
	}
	return replay.Predict(e, p.workload, demoStartTime)
}
