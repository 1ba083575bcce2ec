package config

import (
	"fmt"
	"strings"
)

// splitOverrides splits "a=1,b.c=x" on the commas outside quotes, then each
// part on its first "=". A value that is quoted as a whole loses its quotes.
func splitOverrides(s string) ([][2]string, error) {
	parts, err := splitUnquoted(s)
	if err != nil {
		return nil, err
	}
	var out [][2]string
	for _, p := range parts {
		if strings.TrimSpace(p) == "" {
			continue
		}
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("%q has no value: write key=value, and quote a value that holds a comma", p)
		}
		out = append(out, [2]string{strings.TrimSpace(key), unquote(strings.TrimSpace(value))})
	}
	return out, nil
}

func splitUnquoted(s string) ([]string, error) {
	var out []string
	quote, start := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ',':
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is never closed in %q", quote, s)
	}
	return append(out, s[start:]), nil
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '\'' || v[0] == '"') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	return v
}
