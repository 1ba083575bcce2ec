package lambda

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-lambda/open-lambda/src/config"
	"go.yaml.in/yaml/v3"
)

// MaxConfigBytes is the largest ol.yaml that is read.
const MaxConfigBytes = 1 << 20

// Parse reads the text of an ol.yaml. The warnings name keys that have
// no effect; an error names the line.
func Parse(text []byte) (Config, []string, error) {
	c := Default()
	if len(text) > MaxConfigBytes {
		return c, nil, fmt.Errorf("parse %s: %d bytes are more than the limit of %d", ConfigFile, len(text), MaxConfigBytes)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return c, nil, fmt.Errorf("parse %s: %w", ConfigFile, err)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return c, nil, nil
	}
	p := &parser{}
	p.object("", doc.Content[0], p.root(&c))
	if p.err == nil {
		p.err = c.check()
	}
	if p.err != nil {
		return Default(), nil, fmt.Errorf("parse %s: %w", ConfigFile, p.err)
	}
	return c, p.warnings, nil
}

// field reads the node of one key.
type field func(key string, n *yaml.Node)

type parser struct {
	warnings []string
	err      error // the first one
}

func (p *parser) fail(n *yaml.Node, key, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %q must be %s", n.Line, key, want)
	}
}

func (p *parser) root(c *Config) map[string]field {
	return map[string]field{
		"triggers":      func(k string, n *yaml.Node) { p.object(k, n, p.triggers(&c.Triggers)) },
		"environment":   func(k string, n *yaml.Node) { c.Environment = p.stringMap(k, n) },
		"reuse-sandbox": func(k string, n *yaml.Node) { c.ReuseSandbox = p.boolean(k, n) },
		"limits":        func(k string, n *yaml.Node) { p.object(k, n, p.limits(&c.Limits)) },
		"concurrency":   p.integer(&c.Concurrency),
		"handler":       p.text(&c.Handler),
		"min_sandboxes": p.integer(&c.MinSandboxes),
		"max_sandboxes": p.integer(&c.MaxSandboxes),
		"network":       p.text(&c.Network),
		"calls":         p.texts(&c.Calls),
		"async":         func(k string, n *yaml.Node) { p.object(k, n, p.async(&c.Async)) },
	}
}

func (p *parser) limits(l *config.Limits) map[string]field {
	return map[string]field{
		"mem_mb":      p.integer(&l.MemMB),
		"cpu_percent": p.integer(&l.CPUPercent),
		"procs":       p.integer(&l.Procs),
		"runtime_sec": p.integer(&l.RuntimeSec),
		"swappiness":  p.integer(&l.Swappiness),
	}
}

func (p *parser) async(a *Async) map[string]field {
	return map[string]field{"attempts": p.integer(&a.Attempts), "base_ms": p.integer(&a.BaseMS), "cap_ms": p.integer(&a.CapMS)}
}

func (p *parser) triggers(t *Triggers) map[string]field {
	return map[string]field{
		"http": func(k string, n *yaml.Node) {
			t.HTTP = []HTTPTrigger{}
			p.list(k, n, func(k string, n *yaml.Node) {
				var h HTTPTrigger
				p.object(k, n, map[string]field{"method": p.text(&h.Method)})
				h.Method = strings.ToUpper(h.Method)
				t.HTTP = append(t.HTTP, h)
			})
		},
		"cron": func(k string, n *yaml.Node) {
			p.list(k, n, func(k string, n *yaml.Node) {
				var c CronTrigger
				p.object(k, n, map[string]field{"schedule": p.text(&c.Schedule)})
				t.Cron = append(t.Cron, c)
			})
		},
		"kafka": func(k string, n *yaml.Node) {
			p.list(k, n, func(k string, n *yaml.Node) {
				var x KafkaTrigger
				p.object(k, n, map[string]field{
					"bootstrap_servers": p.texts(&x.BootstrapServers),
					"topics":            p.texts(&x.Topics),
					"auto_offset_reset": p.text(&x.AutoOffsetReset),
				})
				t.Kafka = append(t.Kafka, x)
			})
		},
	}
}

// object feeds each key of a mapping to its field.
func (p *parser) object(key string, n *yaml.Node, fields map[string]field) {
	n = resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, orFile(key), "a mapping")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		path := strings.TrimPrefix(key+"."+name, ".")
		if f, ok := fields[name]; ok {
			f(path, resolve(n.Content[i+1]))
			continue
		}
		p.warn(path, n.Content[i].Line, name, fields)
	}
}

func (p *parser) warn(path string, line int, name string, fields map[string]field) {
	known := make([]string, 0, len(fields))
	for k := range fields {
		known = append(known, k)
	}
	slices.Sort(known)
	p.warnings = append(p.warnings, fmt.Sprintf("%s line %d: key %q is not known and has no effect (nearest: %q)",
		ConfigFile, line, path, config.Nearest(name, known)))
}

func (p *parser) list(key string, n *yaml.Node, item field) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n, key, "a list")
		return
	}
	for i, c := range n.Content {
		item(key+"["+strconv.Itoa(i)+"]", resolve(c))
	}
}

func (p *parser) integer(dst *int) field {
	return func(key string, n *yaml.Node) {
		if n.Tag != "!!int" || n.Decode(dst) != nil || *dst < 0 {
			p.fail(n, key, "a whole number, 0 or more")
		}
	}
}

func (p *parser) text(dst *string) field {
	return func(key string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || isNull(n) {
			p.fail(n, key, "a text")
			return
		}
		*dst = n.Value
	}
}

func (p *parser) texts(dst *[]string) field {
	return func(key string, n *yaml.Node) {
		p.list(key, n, func(key string, n *yaml.Node) {
			var s string
			p.text(&s)(key, n)
			*dst = append(*dst, s)
		})
	}
}

func (p *parser) boolean(key string, n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || isNull(n) || n.Decode(&b) != nil {
		p.fail(n, key, "true or false")
	}
	return b
}

func (p *parser) stringMap(key string, n *yaml.Node) map[string]string {
	out := map[string]string{}
	if isNull(n) {
		return out
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, key, "a mapping of names to texts")
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		v := resolve(n.Content[i+1])
		if v.Kind != yaml.ScalarNode || name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(v.Value, "\x00") {
			p.fail(v, key+"."+name, "a text")
			continue
		}
		out[name] = v.Value
	}
	return out
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func orFile(key string) string {
	if key == "" {
		return ConfigFile
	}
	return key
}
