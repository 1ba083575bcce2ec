//go:build cgo

package sock_test

// The C code that runs before Go does, in a container's first process.
import _ "github.com/opencontainers/runc/libcontainer/nsenter"

const haveCgo = true
