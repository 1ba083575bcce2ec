package sock

import "sync"

// UIDs hands out user ids, the lowest that is free.
type UIDs struct {
	mu   sync.Mutex
	base int
	used []bool
}

// NewUIDs returns the ids from base on.
func NewUIDs(base int) *UIDs { return &UIDs{base: base} }

func (u *UIDs) get() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, used := range u.used {
		if !used {
			u.used[i] = true
			return u.base + i
		}
	}
	u.used = append(u.used, true)
	return u.base + len(u.used) - 1
}

func (u *UIDs) put(id int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[id-u.base] = false
}
