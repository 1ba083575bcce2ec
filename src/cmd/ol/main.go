package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func main() {
	os.Exit(realMain())
}

// realMain runs the command line of this process and returns its exit code.
// The first interrupt asks the command to end; a second one ends the process.
func realMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // restores the default action of the signals
	return run(ctx, processStreams(), os.Args)
}
