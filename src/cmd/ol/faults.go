package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/worker/fault"
)

// sandboxFaults makes that share of the steps of sandboxes fail, nil for none.
func sandboxFaults(percent int) func(sock.FaultPoint) error {
	if percent == 0 {
		return nil
	}
	return func(at sock.FaultPoint) error { return byChance(percent, string(at), sandboxRefusal(at)) }
}

// workerFaults makes that share of the worker's steps fail, nil for none.
func workerFaults(percent int) fault.Injector {
	if percent == 0 {
		return nil
	}
	return func(at fault.Point) error { return byChance(percent, string(at), workerRefusal(at)) }
}

func byChance(percent int, at string, why syscall.Errno) error {
	if rand.IntN(100) >= percent {
		return nil
	}
	return fmt.Errorf("%s (features.fault_percent): %w", at, why)
}

// sandboxRefusal is with which error a kernel that is short of something
// refuses a step.
func sandboxRefusal(at sock.FaultPoint) syscall.Errno {
	switch at {
	case sock.FaultScratch:
		return unix.ENOSPC
	case sock.FaultControl, sock.FaultDial:
		return unix.EMFILE
	case sock.FaultFork, sock.FaultZygote:
		return unix.EAGAIN
	case sock.FaultCgroup, sock.FaultFreeze:
		return unix.EBUSY
	}
	return unix.ENOMEM
}

func workerRefusal(at fault.Point) syscall.Errno {
	if at == fault.Accept {
		return unix.EMFILE
	}
	return unix.ENOSPC
}
