package sock

import "slices"

// undo is a list of steps that take back what was built, last first.
type undo []func()

func (u *undo) add(f func()) { *u = append(*u, f) }

// run takes everything back.
func (u *undo) run() {
	for _, f := range slices.Backward(*u) {
		f()
	}
	*u = nil
}

// release keeps what was built.
func (u *undo) release() { *u = nil }
