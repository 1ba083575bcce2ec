package engine

// makeRoom is what Config.DropFull does for a start that lacks memory: idle
// sandboxes go until those gone hold as much as it needs, whatever was free
// before. If it still lacks memory then, it is refused; what was evicted stays
// so. It reports whether the start can go on.
func (e *Engine) makeRoom(s *start, need int64) bool {
	st := s.wish()
	for evicted := int64(0); evicted < need; {
		b := e.victim(&st)
		if b == nil {
			break
		}
		evicted += b.MB
		e.evict(b, s.seq, ReasonPressure)
	}
	if need <= e.node.FreeMB+e.node.DyingMB {
		return true
	}
	e.refuse(s, ReasonFull)
	return false
}
