package sock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// drainTime bounds the wait for the last lines of a child whose processes are
// gone, should somebody else hold its output pipe.
const drainTime = time.Second

var errEnded = errors.New("process has ended")

// Guest is the first process of a sandbox as seen from the worker, whichever
// mechanism starts it: a control socket over which it is told what to become,
// a pipe for what it prints, and its place on the host.
type Guest struct {
	control *control
	output  *output
	place   *place
	calls   *calls // nil unless it has become a lambda that may call others
	wg      *sync.WaitGroup
	log     *slog.Logger
}

// GuestFiles are for the process. They are closed here once it has them.
type GuestFiles struct {
	Control, Output *os.File
	Listener        *os.File // listening socket that the lambda is served on
	Scratch         *os.File // detached file system with that socket, for /host
}

// childEnds are what goes to the child; we close ours once it has them.
type childEnds struct{ control, output *os.File }

func (e childEnds) close() {
	e.control.Close()
	e.output.Close()
}

// NewGuest prepares everything but the process. wg covers the goroutine that
// reads what the process prints, and those that serve its calls. The caller
// calls HandedOver when it is running, and Close in any case.
func NewGuest(users *Users, tmpMB int64, wg *sync.WaitGroup, log *slog.Logger) (*Guest, GuestFiles, error) {
	pl, err := newPlace(users, tmpMB)
	if err != nil {
		return nil, GuestFiles{}, err
	}
	g, ends, err := newGuest(pl, wg, log)
	if err != nil {
		pl.close()
		users.slices.Put(pl.ids)
		return nil, GuestFiles{}, err
	}
	return g, GuestFiles{ends.control, ends.output, pl.listener, pl.scratch}, nil
}

// newGuest takes over the place, unless it fails.
func newGuest(pl *place, wg *sync.WaitGroup, log *slog.Logger) (*Guest, childEnds, error) {
	ctl, ctlEnd, err := newControl()
	if err != nil {
		return nil, childEnds{}, err
	}
	out, outEnd, err := newOutput(wg)
	if err != nil {
		ctl.close()
		ctlEnd.Close()
		return nil, childEnds{}, err
	}
	return &Guest{control: ctl, output: out, place: pl, wg: wg, log: log}, childEnds{ctlEnd, outEnd}, nil
}

// UID is the user that the process must run as.
func (g *Guest) UID() int { return lambdaID(g.place.ids) }

// HandedOver closes what only the process needs.
func (g *Guest) HandedOver(f GuestFiles) {
	childEnds{f.Control, f.Output}.close()
	g.place.handedOver()
}

// AwaitParked returns when the process has set itself up and can become any
// lambda.
func (g *Guest) AwaitParked(ctx context.Context) error {
	answer, err := g.answer(ctx)
	if err != nil {
		return err
	}
	if answer.Op != "parked" {
		return fmt.Errorf("park child: %s", answer.Text)
	}
	return nil
}

// Become turns the process into the lambda of spec and returns when it serves.
// code are the mounts of the lambda's directories if the process is to hang
// them in itself. A failure is a *StartError; the process has ended then, or
// ctx has.
func (g *Guest) Become(ctx context.Context, spec Spec, proc Process, code ...*os.File) error {
	calls, err := g.serveCalls(spec.Calls)
	if err != nil {
		return HostFault(err)
	}
	g.calls = calls
	g.output.attach(spec.Output)
	if err := g.control.send(message{Op: "start", Spec: childSpecOf(spec)}, code...); err != nil {
		return HostFault(err)
	}
	defer g.control.close()
	answer, dir, err := g.answerWithFile(ctx)
	switch {
	case errors.Is(err, errEnded):
		return g.deathError(ctx, proc)
	case err != nil:
		return g.gaveUp(ctx)
	case answer.Op == "program" && dir != nil:
		return g.awaitProgram(ctx, spec, proc, dir)
	case answer.Op != "ready":
		return g.refusal(ctx, proc, answer)
	}
	return nil
}

// Execute has the process run another Python program in its own place, and
// returns when that has ended by itself, or ctx has. A program that ran and
// failed is a *JobError.
func (g *Guest) Execute(ctx context.Context, job Job, proc Process, code ...*os.File) error {
	g.output.attach(job.Output)
	if err := g.control.send(message{Op: "exec", Spec: childSpecOf(job.Spec()), Args: job.Args}, code...); err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	answer, err := g.answer(ctx)
	if err == nil { // it says something only if it could not begin
		return fmt.Errorf("begin job: %s", answer.Text)
	}
	if !errors.Is(err, errEnded) {
		return fmt.Errorf("run job: %w", context.Cause(ctx))
	}
	// The end of the socket is the beginning of the program, or the child's end.
	select {
	case <-proc.Ended():
	case <-ctx.Done():
		return fmt.Errorf("run job: %w", context.Cause(ctx))
	}
	g.drain()
	info := proc.Inspect()
	if info.ExitText == (Exit{}).String() {
		return nil
	}
	return &JobError{Reason: info.ExitText, Code: info.ExitCode, Output: g.output.last()}
}

func childSpecOf(spec Spec) *childSpec {
	env := spec.Env
	if env == nil {
		env = map[string]string{}
	}
	return &childSpec{
		Hostname: spec.ID, Packages: packageNames(spec.Packages), Entry: spec.Entry, Handler: spec.Handler,
		Env: env, Slots: spec.Slots, MaxBody: spec.MaxBody,
		About: about{Function: spec.Function, MemMB: spec.MemMB, RuntimeMS: spec.Runtime.Milliseconds()},
	}
}

// answer reads what a child has to say; that it has ended is an errEnded.
func (g *Guest) answer(ctx context.Context) (message, error) {
	m, file, err := g.answerWithFile(ctx)
	if file != nil {
		file.Close()
	}
	return m, err
}

// answerWithFile is for an answer that brings an open file; it is nil if none
// came.
func (g *Guest) answerWithFile(ctx context.Context) (message, *os.File, error) {
	m, fd, err := g.control.receive(ctx)
	if err != nil && ctx.Err() == nil {
		return m, nil, errors.Join(errEnded, err)
	}
	if err != nil || fd < 0 {
		return m, nil, err
	}
	return m, os.NewFile(uintptr(fd), "from child"), nil
}

func (g *Guest) gaveUp(ctx context.Context) *StartError {
	return &StartError{Reason: "gave up", Output: g.output.last(), Err: context.Cause(ctx)}
}

// deathError says why a child ended instead of answering.
func (g *Guest) deathError(ctx context.Context, proc Process) error {
	if err := g.end(ctx, proc); err != nil {
		return err
	}
	return &StartError{Lambda: true, Reason: proc.Inspect().ExitText, Output: g.output.last()}
}

// refusal makes an error of a child's own explanation.
func (g *Guest) refusal(ctx context.Context, proc Process, answer message) error {
	if err := g.end(ctx, proc); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(answer.Text), "\n")
	return &StartError{
		Lambda: answer.Lambda,
		Reason: strings.TrimSpace(lines[len(lines)-1]),
		Output: g.output.last() + answer.Text,
	}
}

// end kills a child that is of no use any more and waits until all that it
// printed is there.
func (g *Guest) end(ctx context.Context, proc Process) error {
	proc.Kill()
	select {
	case <-proc.Ended():
		g.drain()
		return nil
	case <-ctx.Done():
		return g.gaveUp(ctx)
	}
}

// Printed returns the last of what the process has printed.
func (g *Guest) Printed() string { return g.output.last() }

// drain lets the last lines of a child that has ended through.
func (g *Guest) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-g.output.done:
	case <-timer.C:
		g.output.close()
	}
}

// Close lets the last lines of a process that has ended, or never began,
// through, and gives back its scratch space and then, when nobody can have them
// any more, its user ids.
func (g *Guest) Close(users *Users) {
	g.control.close()
	g.drain()
	g.calls.close()
	g.place.close()
	users.slices.Put(g.place.ids)
}
