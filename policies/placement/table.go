package placement

import "hash/fnv"

// LeastTable is the size of a boss' smallest table of nodes. Tables double so
// that at most a quarter of the places is taken: a walk soon meets a node.
const LeastTable = 16

// Code is what a boss knows a name by: FNV-1a, mixed because its low bits alone
// are weak. The place of a node and the id of a function follow from it.
func Code(name string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	return uint32(x >> 32)
}
