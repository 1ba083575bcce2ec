package custompolicy

import "github.com/open-lambda/open-lambda/policies"

// Patient is a scaler: one request may wait for each busy sandbox and for each
// start on its way, and only those beyond get a start. It has no state.
type Patient struct{}

// Blocked is asked about a request that found nobody free. It is counted in
// Waiting already, and waits for whoever is free first (policies.Late).
func (Patient) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	return policies.Verdict{Start: missing(v.Func(r.Fn))}, nil
}

// Recheck replaces starts that failed.
func (Patient) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	return policies.Verdict{Start: missing(v.Func(fn))}
}

// missing is how many waiting requests have neither a busy sandbox nor a start
// to wait for.
func missing(f *policies.Func) int {
	return max(0, f.Waiting-f.BusyCount-f.Provisioning-f.Queued)
}
