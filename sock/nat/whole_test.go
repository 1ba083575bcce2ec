package nat

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"
)

// A list that changed while it was read is read again, any other error is
// returned, and a list that never stands still ends.
func TestWhole(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		errs  int // times that the list changes
		then  error
		want  error
		reads int
	}{
		{"it stands still", 0, nil, nil, 1},
		{"it changes twice", 2, nil, nil, 3},
		{"another error", 1, boom, boom, 2},
		{"it never stands still", 1000, nil, netlink.ErrDumpInterrupted, maxReads},
	} {
		reads := 0
		_, err := whole(func() ([]int, error) {
			if reads++; reads <= c.errs {
				return nil, netlink.ErrDumpInterrupted
			}
			return nil, c.then
		})
		if !errors.Is(err, c.want) || reads != c.reads {
			t.Errorf("%s: %v after %d reads", c.name, err, reads)
		}
	}
}
