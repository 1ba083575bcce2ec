package oci

import (
	"fmt"
	"os"

	"github.com/opencontainers/runc/libcontainer"
	"github.com/sirupsen/logrus"
)

// socketFD is where the worker leaves its socket.
const socketFD = 3

// Exit codes, those of ol.
const (
	codeFailed = 1
	codeUsage  = 2
	codeUnfit  = 5
)

// Main is the program, given what follows its name; complete says that the C
// code is linked that a container's first process begins with. It returns the
// exit code.
func Main(args []string, complete bool) int {
	if len(args) > 0 && args[0] == "init" {
		libcontainer.Init() // never returns
	}
	logrus.SetLevel(logrus.WarnLevel) // of libcontainer
	logrus.SetFormatter(&logrus.TextFormatter{DisableColors: true, DisableTimestamp: true})
	switch {
	case len(args) != 1 || args[0] != "serve":
		fmt.Fprintln(os.Stderr, "ol-runc: a worker starts this program by itself: ol worker up -o sandbox=runc")
		return codeUsage
	case !complete:
		fmt.Fprintln(os.Stderr, "ol-runc: built without cgo, so it cannot enter namespaces; build it again with a C compiler: make build")
		return codeUnfit
	}
	if err := Serve(os.NewFile(socketFD, "worker")); err != nil {
		fmt.Fprintln(os.Stderr, "ol-runc:", err)
		return codeFailed
	}
	return 0
}
