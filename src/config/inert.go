package config

import (
	"reflect"
	"slices"
	"strings"
)

// inertKeys are keys of OpenLambda that are accepted, so that its files can be
// used as they are, but that nothing reads yet. The key of a group stands for
// all that is below it.
func inertKeys() []string {
	return []string{
		"sandbox_config", "installer_limits.swappiness", "limits.swappiness",
		"features.downsize_paused_mem", "trace", "storage",
	}
}

// Inert lists the keys that were set to something else than their default and
// have no effect, sorted.
func (c Config) Inert(defaults Config) ([]string, error) {
	was, err := newTree(defaults)
	if err != nil {
		return nil, err
	}
	is, err := newTree(c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range was.keys() {
		before, _ := was.lookup(key)
		after, _ := is.lookup(key)
		if isInert(key) && !reflect.DeepEqual(before, after) {
			out = append(out, key)
		}
	}
	out = append(out, c.unknownKafka()...)
	slices.Sort(out)
	return out, nil
}

func isInert(key string) bool {
	return slices.ContainsFunc(inertKeys(), func(k string) bool { return key == k || strings.HasPrefix(key, k+".") })
}
