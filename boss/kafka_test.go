package boss_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// consumers are the workers that run the Kafka consumers of a lambda.
func consumers(workers []*emulate.Worker, name string) []string {
	var out []string
	for _, w := range workers {
		if slices.Contains(w.Consumers(), name) {
			out = append(out, w.Name())
		}
	}
	return out
}

// The consumers of a lambda run on two workers, the same for both bosses; if one
// of the two goes another takes over; without a trigger nobody consumes.
func TestKafkaConsumersAreAssigned(t *testing.T) {
	s := memory.New()
	a, b := startBoss(t, boss.Config{Registry: newRegistry(t, s)}), startBoss(t, boss.Config{Registry: newRegistry(t, s)})
	workers := startWorkers(t, 4, emulate.Config{}, a, b)
	const yaml = "triggers: {kafka: [{bootstrap_servers: ['k:9092'], topics: [t]}]}"
	names := []string{"one", "two", "three", "four", "five", "six"}
	for _, n := range names {
		installYAML(t, a, n, yaml)
	}
	installYAML(t, a, "none", "")
	await(t, "two workers for each", func() bool {
		for _, n := range names {
			if len(consumers(workers, n)) != 2 {
				return false
			}
		}
		return true
	})
	used := map[string]bool{}
	for _, n := range names {
		for _, w := range consumers(workers, n) {
			used[w] = true
		}
	}
	if len(used) < 3 || len(consumers(workers, "none")) != 0 {
		t.Errorf("six lambdas use %v", used)
	}

	first := consumers(workers, "one")[0]
	i := slices.IndexFunc(workers, func(w *emulate.Worker) bool { return w.Name() == first })
	workers[i].Kill()
	rest := slices.Delete(slices.Clone(workers), i, i+1)
	await(t, "another one takes over", func() bool { return len(consumers(rest, "one")) == 2 })

	installYAML(t, b, "one", "")
	if resp, body := get(t, http.MethodDelete, b.url+api.PathRegistry+"two", nil, nil); resp.StatusCode != 200 {
		t.Fatalf("got %s: %s", resp.Status, body)
	}
	await(t, "nobody to consume", func() bool { return len(consumers(rest, "one"))+len(consumers(rest, "two")) == 0 })
}
