package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := serve(os.Getenv("OL_SOCKET")); err != nil {
		fmt.Fprintln(os.Stderr, "native:", err)
		os.Exit(1)
	}
}

// serve answers on the socket until the process is killed.
func serve(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen on OL_SOCKET: %w", err)
	}
	server := &http.Server{Handler: handler(), ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}
