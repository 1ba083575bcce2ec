//go:build !cgo

package sock_test

const haveCgo = false
