package heap

// Key orders ids: by A, then B, then C, then the id itself. Smaller is first.
type Key struct {
	A float64
	B int64
	C uint64
}

// Less reports whether k comes before o.
func (k Key) Less(o Key) bool {
	if k.A != o.A {
		return k.A < o.A
	}
	if k.B != o.B {
		return k.B < o.B
	}
	return k.C < o.C
}

type node struct {
	key Key
	id  int32
}

func (n node) less(o node) bool {
	if n.key == o.key {
		return n.id < o.id
	}
	return n.key.Less(o.key)
}

// Forest is several heaps, called trees and numbered from 0, whose ids are
// disjoint: an id is in one tree at most. They share the index of places, so
// that a thousand small heaps cost no more than one. The zero value is ready.
type Forest struct {
	trees [][]node
	pos   []int32 // by id: index in its tree + 1, 0 if absent
}

// Len returns the number of ids in a tree.
func (f *Forest) Len(tree int32) int {
	if int(tree) >= len(f.trees) {
		return 0
	}
	return len(f.trees[tree])
}

// Has reports whether id is in some tree.
func (f *Forest) Has(id int32) bool { return int(id) < len(f.pos) && f.pos[id] != 0 }

// Key returns the key of an id that is in the tree.
func (f *Forest) Key(tree, id int32) Key { return f.trees[tree][f.pos[id]-1].key }

// Min returns the first id of a tree; ok is false if the tree is empty.
func (f *Forest) Min(tree int32) (id int32, key Key, ok bool) {
	if f.Len(tree) == 0 {
		return 0, Key{}, false
	}
	n := f.trees[tree][0]
	return n.id, n.key, true
}

// Set adds id to the tree, or changes its key there. O(log n).
func (f *Forest) Set(tree, id int32, key Key) {
	for int(id) >= len(f.pos) {
		f.pos = append(f.pos, 0)
	}
	for int(tree) >= len(f.trees) {
		f.trees = append(f.trees, nil)
	}
	n := node{key, id}
	if p := f.pos[id]; p != 0 {
		f.trees[tree][p-1] = n
		f.fix(tree, int(p-1))
		return
	}
	f.trees[tree] = append(f.trees[tree], n)
	f.up(f.trees[tree], len(f.trees[tree])-1)
}

// Remove takes id out of the tree; it does nothing if id is in none. O(log n).
func (f *Forest) Remove(tree, id int32) {
	if !f.Has(id) {
		return
	}
	nodes := f.trees[tree]
	i, last := int(f.pos[id]-1), len(nodes)-1
	f.pos[id] = 0
	moved := nodes[last]
	f.trees[tree] = nodes[:last]
	if i == last {
		return
	}
	nodes[i] = moved
	f.fix(tree, i)
}

func (f *Forest) fix(tree int32, i int) {
	if !f.up(f.trees[tree], i) {
		f.down(f.trees[tree], i)
	}
}

func (f *Forest) up(nodes []node, i int) (moved bool) {
	n := nodes[i]
	for i > 0 {
		p := (i - 1) / 2
		if !n.less(nodes[p]) {
			break
		}
		nodes[i] = nodes[p]
		f.pos[nodes[i].id] = int32(i + 1)
		i, moved = p, true
	}
	nodes[i] = n
	f.pos[n.id] = int32(i + 1)
	return moved
}

func (f *Forest) down(nodes []node, i int) {
	n := nodes[i]
	for {
		c := 2*i + 1
		if c >= len(nodes) {
			break
		}
		if c+1 < len(nodes) && nodes[c+1].less(nodes[c]) {
			c++
		}
		if !nodes[c].less(n) {
			break
		}
		nodes[i] = nodes[c]
		f.pos[nodes[i].id] = int32(i + 1)
		i = c
	}
	nodes[i] = n
	f.pos[n.id] = int32(i + 1)
}

// Heap holds ids by their keys. The zero value is empty and ready.
type Heap struct{ f Forest }

// Len returns the number of ids held.
func (h *Heap) Len() int { return h.f.Len(0) }

// Has reports whether id is held.
func (h *Heap) Has(id int32) bool { return h.f.Has(id) }

// Key returns the key of an id that is held.
func (h *Heap) Key(id int32) Key { return h.f.Key(0, id) }

// Min returns the first id and its key; ok is false if the heap is empty.
func (h *Heap) Min() (id int32, key Key, ok bool) { return h.f.Min(0) }

// Set adds id with the key, or changes its key. O(log n).
func (h *Heap) Set(id int32, key Key) { h.f.Set(0, id, key) }

// Remove takes id out; it does nothing if id is not held. O(log n).
func (h *Heap) Remove(id int32) { h.f.Remove(0, id) }

// Descend visits the nodes whose key A is not above what visit returns as the
// limit, in no particular order and no more than those: a subtree is left
// out as soon as its root is above the limit. It is the search of
// branch and bound over lower bounds. visit must not change the heap.
func (h *Heap) Descend(limit float64, visit func(id int32) (newLimit float64)) {
	if h.Len() > 0 {
		descend(h.f.trees[0], 0, limit, visit)
	}
}

func descend(nodes []node, i int, limit float64, visit func(int32) float64) float64 {
	if i >= len(nodes) || nodes[i].key.A > limit {
		return limit
	}
	limit = visit(nodes[i].id)
	limit = descend(nodes, 2*i+1, limit, visit)
	return descend(nodes, 2*i+2, limit, visit)
}
