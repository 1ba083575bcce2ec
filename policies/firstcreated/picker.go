package firstcreated

import "github.com/open-lambda/open-lambda/policies"

// Picker is the picker.
type Picker struct{}

// Pick looks at all available sandboxes of the function.
func (Picker) Pick(v policies.View, fn policies.FuncID) policies.SandboxID {
	best := v.Func(fn).FirstAvailable
	for id := best; id != policies.NoSandbox; id = v.Sandbox(id).Next {
		if v.Sandbox(id).Born < v.Sandbox(best).Born {
			best = id
		}
	}
	return best
}
