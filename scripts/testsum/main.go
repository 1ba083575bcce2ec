package main

import (
	"fmt"
	"os"
)

func main() {
	sum := newSummary(os.Stdout)
	if err := sum.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	sum.close()
	if sum.bad() {
		os.Exit(1)
	}
}
