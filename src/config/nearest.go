package config

import (
	"fmt"
	"strings"

	"github.com/open-lambda/open-lambda/policies/nearest"
)

func unknownKey(key string, known []string) error {
	if near := Nearest(key, known); near != "" {
		return fmt.Errorf("config key %q does not exist: did you mean %q?", key, near)
	}
	return fmt.Errorf("config key %q does not exist", key)
}

// Nearest returns the known word with the smallest edit distance to word, the
// shortest and then the first of equals, or "" if known is empty. For words with dots a match of
// the last part counts as well, so that mem_mb finds limits.mem_mb.
func Nearest(word string, known []string) string {
	best, bestD := "", -1
	for _, k := range known {
		d := nearest.Distance(word, k)
		if i := strings.LastIndexByte(k, '.'); i >= 0 && !strings.Contains(word, ".") {
			d = min(d, 1+nearest.Distance(word, k[i+1:]))
		}
		if bestD < 0 || d < bestD || (d == bestD && len(k) < len(best)) {
			best, bestD = k, d
		}
	}
	return best
}
