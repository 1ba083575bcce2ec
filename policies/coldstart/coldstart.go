package coldstart

import "github.com/open-lambda/open-lambda/policies"

// Scaler starts one sandbox per blocked request. It has no state.
type Scaler struct{}

// Blocked wants one start and binds the request to it.
func (Scaler) Blocked(policies.View, policies.Request) (policies.Verdict, policies.Outcome) {
	return policies.Verdict{Start: 1, Bind: policies.ToStart}, nil
}

// Recheck wants nothing: what waits is bound.
func (Scaler) Recheck(policies.View, policies.FuncID) policies.Verdict {
	return policies.Verdict{}
}
