package fleet

import "container/heap"

// loadHeap is the nodes that are up, the one with the fewest requests in
// flight first. Guarded by Fleet.mu.
type loadHeap struct{ nodes []*node }

// place puts a node where it belongs now, and keeps the sum of what is in
// flight.
func (h *loadHeap) place(n *node, in bool, total *int) {
	switch {
	case in && n.heap < 0:
		n.key = n.inFlight()
		*total += n.key
		heap.Push(h, n)
	case in && n.key != n.inFlight():
		*total += n.inFlight() - n.key
		n.key = n.inFlight()
		heap.Fix(h, n.heap)
	case !in && n.heap >= 0:
		*total -= n.key
		heap.Remove(h, n.heap)
	}
}

// Len is part of heap.Interface.
func (h *loadHeap) Len() int { return len(h.nodes) }

// Less orders by load, then by place so that bosses agree.
func (h *loadHeap) Less(i, j int) bool {
	a, b := h.nodes[i], h.nodes[j]
	if a.key != b.key {
		return a.key < b.key
	}
	return a.place < b.place
}

// Swap is part of heap.Interface.
func (h *loadHeap) Swap(i, j int) {
	h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i]
	h.nodes[i].heap, h.nodes[j].heap = i, j
}

// Push is part of heap.Interface.
func (h *loadHeap) Push(x any) {
	n := x.(*node)
	n.heap = len(h.nodes)
	h.nodes = append(h.nodes, n)
}

// Pop is part of heap.Interface.
func (h *loadHeap) Pop() any {
	last := len(h.nodes) - 1
	n := h.nodes[last]
	h.nodes[last] = nil
	h.nodes = h.nodes[:last]
	n.heap = -1
	return n
}
