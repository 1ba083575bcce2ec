package keepalive

import "github.com/open-lambda/open-lambda/policies"

// Demotions remembers what became of the wish to have less of each sandbox,
// for the evictors that demote instead of destroying. A mechanism that cannot
// do it brings the sandbox back full; it is not asked again. The zero value
// has asked for nothing.
type Demotions struct{ of []demotion }

// demotion is what became of one wish.
type demotion uint8

const (
	untouched demotion = iota
	asked              // Expire named it
	refused            // it came back full: the mechanism cannot do it
)

func (d *Demotions) at(id policies.SandboxID) *demotion {
	for int(id) >= len(d.of) {
		d.of = append(d.of, untouched)
	}
	return &d.of[id]
}

// Ask notes that Expire names the sandbox to be demoted.
func (d *Demotions) Ask(id policies.SandboxID) { *d.at(id) = asked }

// Inserted notes that the sandbox is idle, perhaps again after a demotion.
func (d *Demotions) Inserted(b *policies.Sandbox) {
	if s := d.at(b.ID); *s == asked && b.Form == policies.FormFull {
		*s = refused
	}
}

// Refused reports whether the mechanism could not demote the sandbox.
func (d *Demotions) Refused(id policies.SandboxID) bool { return *d.at(id) == refused }

// Forget is for a new sandbox, whose id may have been another's.
func (d *Demotions) Forget(id policies.SandboxID) { *d.at(id) = untouched }
