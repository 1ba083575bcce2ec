package main

import (
	"container/heap"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"testing"
)

// computeCalls are the lambdas in the style of SeBS and FunctionBench that need
// nothing but Python. What they must answer is computed here in another way.
func computeCalls() []registryCall {
	return []registryCall{
		{lambda: "fibonacci", body: `{"size": 22}`, want: "17711"},
		{lambda: "float-operation", body: `{"size": 5000}`, check: floatSums(5000)},
		{lambda: "pyaes", body: `{"size": 40, "key": "000102030405060708090a0b0c0d0e0f", "counter": "ffffffffffffffffffffffffffffffff"}`, want: `"` + encrypted(40, 1) + `"`},
		{lambda: "pyaes", body: `{"size": 3000, "rounds": 2, "key": "000102030405060708090a0b0c0d0e0f", "counter": "ffffffffffffffffffffffffffffffff"}`, want: `"` + encrypted(3000, 2) + `"`},
		{lambda: "matmul", body: `{"size": 31}`, want: product(31)},
		{lambda: "graph", body: `{"size": 500}`, check: jsonIs(fmt.Sprint(distances(500)))},
		{lambda: "graph", body: `{"size": 500, "algorithm": "mst"}`, want: fmt.Sprint(lightest(500))},
		{lambda: "graph", body: `{"size": 300, "algorithm": "pagerank"}`, check: ranked(300, 20)},
		{lambda: "chameleon", body: `{"size": 3, "page": true}`, check: jsonIs(fmt.Sprintf("%q", page(3)))},
		{lambda: "chameleon", body: `{"size": 40}`, check: jsonIs(fmt.Sprintf(`{"length": %d, "sha256": "%x"}`, len(page(40)), sha256.Sum256([]byte(page(40)))))},
		{lambda: "logistic-regression", body: `{"size": 300, "points": [[0, 0.5], [0.5, 0]]}`, check: func(t *testing.T, a reply) {
			if accuracy, _ := field(t, a, "accuracy").(float64); accuracy < 0.95 || fmt.Sprint(field(t, a, "kinds")) != "[1 0]" {
				t.Errorf("logistic-regression: %v", a)
			}
		}},
		{lambda: "mapreduce", body: `{"size": 1234, "reducers": 3}`, check: jsonIs(divisible(1234))},
		{lambda: "rnn", body: `{"size": 60, "start": "ol"}`, check: func(t *testing.T, a reply) {
			text := strings.Trim(a.body, `"`)
			if len(text) != 60 || !strings.HasPrefix(text, "ol") || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz ") != "" {
				t.Errorf("rnn: %v", a)
			}
		}},
		{lambda: "rnn", body: `{"size": 60, "hidden": 16}`, check: startsWith(`"a`)},
	}
}

func floatSums(n int) func(*testing.T, reply) {
	var sums [3]float64
	for i := range n {
		x := float64(i)
		sums[0], sums[1], sums[2] = sums[0]+math.Sin(x), sums[1]+math.Cos(x), sums[2]+math.Sqrt(x)
	}
	return func(t *testing.T, a reply) {
		t.Helper()
		got, _ := decodeJSON(t, a.body).([]any)
		for i, want := range sums {
			if v, _ := got[i].(float64); len(got) != 3 || math.Abs(v-want) > 1e-5 {
				t.Errorf("sum %d of %v, want %v", i, a, want)
			}
		}
	}
}

func encrypted(size, rounds int) string {
	key, start := make([]byte, 16), make([]byte, 16)
	for i := range key {
		key[i], start[i] = byte(i), 0xff
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only a key of another length
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i)
	}
	for range rounds {
		cipher.NewCTR(block, start).XORKeyStream(data, data)
	}
	if size <= 64 {
		return hex.EncodeToString(data)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func product(n int) string {
	sum, trace := 0, 0
	for i := range n {
		for j := range n {
			for k := range n {
				x := (i + k) * (k - j)
				sum += x
				if i == j {
					trace += x
				}
			}
		}
	}
	return fmt.Sprintf(`{"sum": %d, "trace": %d}`, sum, trace)
}

type edge struct{ a, b, weight int }

// graphEdges makes the graph that graphs.py describes.
func graphEdges(size int) []edge {
	state := uint64(1)
	var edges []edge
	for node := 1; node < size; node++ {
		for range 3 {
			state = state*6364136223846793005 + 1442695040888963407
			edges = append(edges, edge{node, int(state >> 33 % uint64(node)), 1 + int(state>>20%1000)})
		}
	}
	return edges
}

// distances counts the nodes at each distance from 0, by relaxing every edge
// until nothing changes.
func distances(size int) string {
	far := make([]int, size)
	for i := range far {
		far[i] = size
	}
	far[0] = 0
	for changed := true; changed; {
		changed = false
		for _, e := range graphEdges(size) {
			for _, p := range [][2]int{{e.a, e.b}, {e.b, e.a}} {
				if far[p[0]]+1 < far[p[1]] {
					far[p[1]] = far[p[0]] + 1
					changed = true
				}
			}
		}
	}
	counts := make([]int, slices.Max(far)+1)
	for _, d := range far {
		counts[d]++
	}
	return strings.ReplaceAll(fmt.Sprint(counts), " ", ",")
}

// lightest is the weight of the spanning tree, by Kruskal's algorithm.
func lightest(size int) int {
	edges := edgeHeap(graphEdges(size))
	heap.Init(&edges)
	parent := make([]int, size)
	for i := range parent {
		parent[i] = i
	}
	find := func(x int) int {
		for parent[x] != x {
			x = parent[x]
		}
		return x
	}
	weight := 0
	for len(edges) > 0 {
		e := heap.Pop(&edges).(edge)
		if a, b := find(e.a), find(e.b); a != b {
			parent[a] = b
			weight += e.weight
		}
	}
	return weight
}

type edgeHeap []edge

func (h edgeHeap) Len() int           { return len(h) }
func (h edgeHeap) Less(i, j int) bool { return h[i].weight < h[j].weight }
func (h edgeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *edgeHeap) Push(x any)        { *h = append(*h, x.(edge)) }
func (h *edgeHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func ranked(size, rounds int) func(*testing.T, reply) {
	degree, rank := make([]float64, size), make([]float64, size)
	for i := range rank {
		rank[i] = 1 / float64(size)
	}
	for _, e := range graphEdges(size) {
		degree[e.a]++
		degree[e.b]++
	}
	for range rounds {
		next := make([]float64, size)
		for i := range next {
			next[i] = 0.15 / float64(size)
		}
		for _, e := range graphEdges(size) {
			next[e.a] += 0.85 * rank[e.b] / degree[e.b]
			next[e.b] += 0.85 * rank[e.a] / degree[e.a]
		}
		rank = next
	}
	return func(t *testing.T, a reply) {
		t.Helper()
		best, _ := field(t, a, "best").([]any)
		ranks, _ := field(t, a, "ranks").([]any)
		if field(t, a, "sum") != 1.0 || len(best) != 3 || len(ranks) != 3 {
			t.Fatalf("pagerank: %v", a)
		}
		if top, _ := best[0].(float64); math.Abs(rank[int(top)]-slices.Max(rank)) > 1e-12 || math.Abs(ranks[0].(float64)-slices.Max(rank)) > 1e-8 {
			t.Errorf("pagerank: %v, want rank %v", a, slices.Max(rank))
		}
	}
}

// page is what the template of the lambda chameleon makes of so many rows.
func page(rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><body><h1>%s</h1>\n<table>", html.EscapeString("Rows & <columns>"))
	for i := range rows {
		b.WriteString("<tr>")
		for j := range 10 {
			if i*j%2 == 1 {
				fmt.Fprintf(&b, "<td><b>%d</b></td>", i*j)
			} else {
				fmt.Fprintf(&b, "<td>%d</td>", i*j)
			}
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>\n</body></html>")
	return b.String()
}

func divisible(lines int) string {
	var counts []string
	for d := 1; d < 10; d++ {
		counts = append(counts, fmt.Sprintf(`"word%d": %d`, d, lines/d))
	}
	return "{" + strings.Join(counts, ", ") + "}"
}
