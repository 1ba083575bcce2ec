package catalog

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/open-lambda/open-lambda/policies/nearest"
)

// UnknownError is a name that the catalog does not have.
type UnknownError struct {
	Kind, Name string // Kind: "preset", "scaler", "evictor", "parameter", or a parameter with a list of values
	Known      []string
}

// Error names the kind, the name, the nearest known one and what is known.
func (e *UnknownError) Error() string {
	hint := ""
	if near := e.Nearest(); near != "" {
		hint = fmt.Sprintf(", did you mean %q?", near)
	}
	known := strings.Join(e.Known, ", ")
	if known == "" {
		known = "none"
	}
	return fmt.Sprintf("unknown %s %q%s known: %s", e.Kind, e.Name, cmp.Or(hint, ";"), known)
}

// Nearest returns the known name that differs least, "" if none is near: at
// most a third of the letters, and at least one, may differ.
func (e *UnknownError) Nearest() string {
	best, least := "", max(1, len(e.Name)/3)+1
	for _, k := range e.Known {
		if d := nearest.Distance(e.Name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// ValueError is a parameter's value that cannot be read.
type ValueError struct {
	Param, Value, Want string
}

// Error names the parameter, the value and what was expected.
func (e *ValueError) Error() string {
	return fmt.Sprintf("parameter %s: %q is not %s", e.Param, e.Value, e.Want)
}
