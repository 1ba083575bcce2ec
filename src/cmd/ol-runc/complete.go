//go:build cgo

package main

// The C code that runs before Go does, in a container's first process.
import _ "github.com/opencontainers/runc/libcontainer/nsenter"

// complete says that the program can do what it is for.
const complete = true
