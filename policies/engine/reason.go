package engine

// String returns the word used in logs and records.
func (r Reason) String() string {
	words := [...]string{
		"none", "queue-full", "too-large", "forgotten", "lambda", "host", "pressure", "expired",
		"revision", "unusable", "cancelled", "resize", "starved", "full",
	}
	if int(r) < len(words) {
		return words[r]
	}
	return "unknown"
}
