package indextest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Index serves wheels.
type Index struct {
	URL string // what pip is given

	mu      sync.Mutex
	wheels  []Wheel
	fetched map[string]int // file name -> times
}

// Serve starts an index that ends with the test.
func Serve(t testing.TB, wheels ...Wheel) *Index {
	t.Helper()
	x := &Index{wheels: wheels, fetched: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /simple/{name}/{$}", x.list)
	mux.HandleFunc("GET /files/{name}", x.file)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	x.URL = server.URL + "/simple"
	return x
}

// Add offers one more wheel.
func (x *Index) Add(w Wheel) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wheels = append(x.wheels, w)
}

// Fetched tells how often wheels of a package were fetched.
func (x *Index) Fetched(name string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for file, times := range x.fetched {
		if strings.HasPrefix(file, moduleOf(name)+"-") {
			n += times
		}
	}
	return n
}

// list answers what files there are of one package.
func (x *Index) list(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var links strings.Builder
	for _, wheel := range x.wheels {
		if wheel.Name == r.PathValue("name") {
			fmt.Fprintf(&links, "<a href=\"/files/%s\">%s</a>\n", wheel.FileName(), wheel.FileName())
		}
	}
	if links.Len() == 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!DOCTYPE html><html><body>\n%s</body></html>\n", links.String())
}

func (x *Index) file(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, wheel := range x.wheels {
		if wheel.FileName() != r.PathValue("name") {
			continue
		}
		data, err := wheel.Bytes()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		x.fetched[wheel.FileName()]++
		_, _ = w.Write(data) // pip has left
		return
	}
	http.NotFound(w, r)
}
