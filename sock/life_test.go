package sock

import "testing"

func TestZygoteDeath(t *testing.T) {
	p := newProvider(t, settings(t))
	warm(t, p)
	s := create(t, p, code(t, "survivor", echo))
	z, changed := p.nursery.get()
	z.proc.kill()
	await(t, changed)
	if status, _ := call(t, s, "{}"); status != 200 {
		t.Errorf("status is %d", status)
	}
	warm(t, p)
	next := create(t, p, code(t, "next", echo))
	if status, _ := call(t, next, "{}"); status != 200 {
		t.Errorf("status is %d", status)
	}
}
