package keepalive

import (
	"testing"

	"github.com/open-lambda/open-lambda/policies"
)

func TestRefusedIsWhatComesBackFull(t *testing.T) {
	var d Demotions
	full, less := &policies.Sandbox{ID: 3}, &policies.Sandbox{ID: 4, Form: policies.FormShrunk}
	d.Inserted(full)
	if d.Refused(3) {
		t.Error("refused though nobody asked")
	}
	d.Ask(3)
	d.Ask(4)
	d.Inserted(full)
	d.Inserted(less)
	if !d.Refused(3) || d.Refused(4) {
		t.Errorf("refused %v and %v, want true and false", d.Refused(3), d.Refused(4))
	}
	d.Forget(3)
	if d.Refused(3) {
		t.Error("a new sandbox inherits the refusal")
	}
}
