package pause

import "time"

// slack is how late a timer of a process may be that gets the processor when it
// wants it, with a lot to spare.
const slack = 100 * time.Millisecond

// Late tells whether whoever waited until due learns so late that it is over
// that this machine is at fault: what others did meanwhile may not have been
// seen yet, and their silence means nothing.
func Late(due time.Time) bool { return time.Since(due) > slack }
