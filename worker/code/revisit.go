package code

import "time"

// A lambda that nobody asks for may have gone from the registry without a word:
// its code would stay for good. So each look is the occasion for another, at
// one that was not looked at for a while. An idle worker looks at nothing.
const (
	revisitAfter = 10 * time.Minute
	revisitTries = 8 // entries that are considered, for the mutex is held
)

func (c *Cache) revisit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	tries, now := 0, time.Now()
	for name, e := range c.entries { // in any order
		if e.flight == nil && now.Sub(e.checked) > max(revisitAfter, c.cfg.Fresh) {
			c.launch(name, e)
			return
		}
		if tries++; tries == revisitTries {
			return
		}
	}
}
