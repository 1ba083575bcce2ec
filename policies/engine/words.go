package engine

// String returns the words used in messages, logs and metrics.
func (r Reason) String() string {
	switch r {
	case ReasonNone:
		return "none"
	case ReasonQueueFull:
		return "queue full"
	case ReasonTooLarge:
		return "too large"
	case ReasonForgotten:
		return "forgotten"
	case ReasonLambda:
		return "lambda failed"
	case ReasonHost:
		return "host failed"
	case ReasonPressure:
		return "pressure"
	case ReasonExpired:
		return "expired"
	case ReasonRevision:
		return "revision"
	case ReasonUnusable:
		return "unusable"
	case ReasonCancelled:
		return "cancelled"
	case ReasonResize:
		return "resize"
	case ReasonStarved:
		return "starved"
	case ReasonFull:
		return "full"
	}
	return "unknown"
}

// String says whose fault it is.
func (f Fault) String() string {
	if f == FaultLambda {
		return "by the lambda's fault"
	}
	return "by the host's fault"
}
