package policies

import "time"

// Evictor orders idle sandboxes. Pinned and busy ones are never shown to it.
type Evictor interface {
	// Insert says that a sandbox became idle.
	Insert(View, SandboxID)
	// Remove says that an idle sandbox is used, or on its way out.
	Remove(View, SandboxID)
	// Next names the next victim for a start, false if there is none. The
	// engine calls it until the start fits, removing each victim before it
	// asks again, and only if free and idle memory suffice. When the pool was
	// made smaller, Start.Fn is NoFunc and Start.Seq 0.
	Next(View, Start) (SandboxID, bool)
	// Expire names an idle sandbox whose time has come, with the form that
	// it shall take (FormGone destroys it), or NoSandbox with the moment to
	// ask again (Never: do not). It obeys Func.KeepUntil. The engine asks
	// until it gets NoSandbox, and again after an Insert. A demoted sandbox
	// is removed, and inserted again when the mechanism has reshaped it.
	Expire(View) (SandboxID, Form, Time)
}

// Reuser is an optional part of an Evictor: it names an idle sandbox, of any
// function and form, that a start of fn can be built from (RainbowCake's
// layers, CodeCrunch's compressed sandboxes), or NoSandbox. The start uses it
// up.
type Reuser interface {
	Reuse(View, FuncID) SandboxID
}

// Shaper is an optional part of an Evictor that answers with a Form. It says
// what a simulated mechanism shall make of it; a real one measures.
type Shaper interface {
	// HeldMB is the memory that a sandbox of mb MB holds in the form.
	HeldMB(mb int64, form Form) int64
	// ColdFrom is what a start takes that uses up a sandbox in the form,
	// where one from nothing takes cold and the sandbox is of mb MB.
	ColdFrom(mb int64, cold time.Duration, form Form) time.Duration
}

// Want is a prewarmer's wish.
type Want struct {
	Fn        FuncID
	N         int  // sandboxes that shall be live in all
	KeepUntil Time // becomes Func.KeepUntil
	MayEvict  bool // false: only if memory is free
}

// Prewarmer starts sandboxes before they are asked for. Plan is called at
// the moment that it returned last, the first time at the first Tick.
type Prewarmer interface {
	Plan(View) ([]Want, Time)
}

// Waker is an optional part of a Prewarmer whose plans change with what it
// observes.
type Waker interface {
	// Wake returns the moment when Plan shall be called even if that is
	// before the one that Plan returned, or Never.
	Wake() Time
}
