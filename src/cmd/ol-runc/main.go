package main

import (
	"os"

	"github.com/open-lambda/open-lambda/sock/runc/oci"
)

func main() { os.Exit(oci.Main(os.Args[1:], complete)) }
