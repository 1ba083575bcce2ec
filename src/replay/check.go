package replay

import (
	"fmt"
	"time"
)

// Machine is what was measured before a replay, and what it is compared with.
type Machine struct {
	Cores        int
	ColdPerSec   float64       // cold starts of lambdas without initialisation, several at once
	RequestCPU   time.Duration // processor time of a warm request, all processes together
	StartCPU     time.Duration // processor time of a cold start beside the lambda's initialisation
	InitCPUShare float64       // share of an initialisation that is processor time, 0 to 1
}

// Limits that keep the machine from being what is measured (all are shares).
const (
	maxCPUShare  = 0.60
	maxColdShare = 0.50
)

// CPUShare is the processor use to be expected on m, 0 to 1.
func (p Prediction) CPUShare(m Machine) float64 {
	if p.Span <= 0 || m.Cores <= 0 {
		return 0
	}
	used := float64(p.Requests)*float64(m.RequestCPU) + float64(p.Starts)*float64(m.StartCPU) + m.InitCPUShare*float64(p.Init)
	return used / float64(p.Span) / float64(m.Cores)
}

// ColdRate is the mean rate of sandbox starts, per second.
func (p Prediction) ColdRate() float64 {
	if p.Span <= 0 {
		return 0
	}
	return float64(p.Starts) / p.Span.Seconds()
}

// TooMuch says that a machine cannot carry a replay, and what to change.
type TooMuch struct {
	What       string
	Have, Most float64
	Factor     float64 // scaled time that would fit, relative to the one asked for
}

// Error says what is too much and what would help.
func (e *TooMuch) Error() string {
	return fmt.Sprintf("replay would measure the machine, not the policy: %s would be %.2f, at most %.2f is sound; use fewer functions, or stretch time %.1f times",
		e.What, e.Have, e.Most, e.Factor)
}

// Check returns a *TooMuch when the replay would use more of the machine than
// leaves the result to the policy.
func (p Prediction) Check(m Machine) error {
	if share := p.CPUShare(m); share > maxCPUShare {
		return &TooMuch{"processor use (share)", share, maxCPUShare, share / maxCPUShare}
	}
	if rate, most := p.ColdRate(), m.ColdPerSec*maxColdShare; rate > most {
		return &TooMuch{"cold starts per second", rate, most, rate / max(most, 0.01)}
	}
	return nil
}
