package cidre

import "github.com/open-lambda/open-lambda/policies"

// BSS is basic speculative scaling (section 3.2): one start for every request
// that finds nobody available, which meanwhile waits for any sandbox of its
// function. A start is not given up when its request is served by a sandbox
// that came free first; the sandbox becomes idle. It has no state.
type BSS struct{}

// Blocked races a start against the busy sandboxes.
func (BSS) Blocked(policies.View, policies.Request) (policies.Verdict, policies.Outcome) {
	return policies.Verdict{Start: 1}, nil
}

// Recheck replaces starts that failed or were given up while requests wait.
func (BSS) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	return policies.Verdict{Start: short(v.Func(fn))}
}

// short returns how many waiting requests have no start on its way.
func short(f *policies.Func) int {
	return max(0, f.Waiting-f.Provisioning-f.Queued)
}
