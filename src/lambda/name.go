package lambda

import (
	"fmt"
)

// MaxName is the longest name, bytes: file systems stop at 255, and suffixes
// must fit.
const MaxName = 200

// NameError is a name that no lambda can have.
type NameError struct{ Name string }

// Error says what is wrong and what is allowed.
func (e *NameError) Error() string {
	return fmt.Sprintf("bad lambda name %q: use letters, digits, '.', '-' and '_', at most %d of them, but not \".\" or \"..\"", e.Name, MaxName)
}

// CheckName returns a *NameError unless name can name a lambda.
func CheckName(name string) error {
	if !ValidName(name) {
		return &NameError{Name: name}
	}
	return nil
}

// ValidName tells whether name can name a lambda: OpenLambda's rule
// ^[A-Za-z0-9.\-_]+$, except "." and "..".
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_'
}
