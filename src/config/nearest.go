package config

import (
	"fmt"
	"strings"
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
		d := distance(word, k)
		if i := strings.LastIndexByte(k, '.'); i >= 0 && !strings.Contains(word, ".") {
			d = min(d, 1+distance(word, k[i+1:]))
		}
		if bestD < 0 || d < bestD || (d == bestD && len(k) < len(best)) {
			best, bestD = k, d
		}
	}
	return best
}

// distance is Levenshtein's edit distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur := min(row[j+1]+1, row[j]+1, prev+cost)
			prev, row[j+1] = row[j+1], cur
		}
	}
	return row[len(b)]
}
