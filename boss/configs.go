package boss

import (
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// configs are the lambdas' configurations, each decoded once for a revision.
type configs struct {
	registry *registry.Registry // nil: there is none
	log      *slog.Logger

	mu    sync.Mutex
	known map[string]decoded
}

type decoded struct {
	revision uint64
	config   lambda.Config
}

// of is what the ol.yaml of a lambda says; the defaults if it is unknown.
func (c *configs) of(name string) lambda.Config {
	if c.registry == nil {
		return lambda.Default()
	}
	f, ok := c.registry.Get(name)
	if !ok {
		return lambda.Default()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.decode(f)
}

// decode decodes an entry, or remembers it. mu is held.
func (c *configs) decode(f api.Function) lambda.Config {
	if d, ok := c.known[f.Name]; ok && d.revision == f.Revision {
		return d.config
	}
	cfg := lambda.Default()
	if err := json.Unmarshal(f.Config, &cfg); err != nil {
		c.log.Warn("understand configuration", slog.String("function", f.Name), slog.Any("error", err))
		cfg = lambda.Default()
	}
	c.known[f.Name] = decoded{f.Revision, cfg}
	return cfg
}

// each calls do for every lambda, and forgets those that are gone.
func (c *configs) each(do func(name string, cfg lambda.Config)) {
	if c.registry == nil {
		return
	}
	all := c.registry.All()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > len(all) {
		clear(c.known)
	}
	for _, f := range all {
		do(f.Name, c.decode(f))
	}
}

// schedules are those of the cron triggers of every lambda that has some.
func (c *configs) schedules() map[string][]string {
	out := map[string][]string{}
	c.each(func(name string, cfg lambda.Config) {
		for _, t := range cfg.Triggers.Cron {
			out[name] = append(out[name], t.Schedule)
		}
	})
	return out
}
