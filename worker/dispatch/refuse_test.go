package dispatch

import (
	"testing"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

func TestReshapesAreRefused(t *testing.T) {
	got := refuse(&engine.Action{Kind: engine.ActReshape, Sandbox: 3, Form: policies.FormShrunk, MB: 200})
	if got.Kind != engine.EvReshaped || got.Form != policies.FormFull || got.MB != 200 || got.Sandbox != 3 {
		t.Errorf("compression is answered by %+v: the sandbox stays as it is", got)
	}
	got = refuse(&engine.Action{Kind: engine.ActReshape, Sandbox: 3, Form: policies.FormLayer + 1, MB: 200})
	if got.Kind != engine.EvDied || got.Sandbox != 3 {
		t.Errorf("a layer is answered by %+v: the sandbox is given up", got)
	}
}
