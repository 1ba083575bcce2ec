//go:build !cgo

package main

const complete = false
