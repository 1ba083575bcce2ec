package jetstream

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/open-lambda/open-lambda/boss/registry"
)

// entry is one of a bucket; what no test asks for is not there.
type entry struct {
	jetstream.KeyValueEntry
	name     string
	revision uint64
}

func (e entry) Key() string                     { return keyOf(e.name) }
func (e entry) Value() []byte                   { return []byte(e.name) }
func (e entry) Revision() uint64                { return e.revision }
func (e entry) Operation() jetstream.KeyValueOp { return jetstream.KeyValuePut }

// watcher finds what it is given.
type watcher struct {
	jetstream.KeyWatcher
	updates chan jetstream.KeyValueEntry
}

func (w watcher) Updates() <-chan jetstream.KeyValueEntry { return w.updates }
func (w watcher) Stop() error                             { return nil }

// A store that lags behind lists fewer entries than were acknowledged: a watch
// is not complete before they have come, or a boss would take them for removed.
func TestWatchOfALaggingStoreIsNotComplete(t *testing.T) {
	one, two, three := entry{name: "one", revision: 1}, entry{name: "two", revision: 5}, entry{name: "three", revision: 6}
	foreign := entry{name: "", revision: 5}
	for _, tc := range []struct {
		name  string
		last  uint64
		found []jetstream.KeyValueEntry
		want  []string
	}{
		{"up to date", 5, []jetstream.KeyValueEntry{one, two, nil, three}, []string{"one", "two", "", "three"}},
		{"lags behind", 5, []jetstream.KeyValueEntry{one, nil, two, three}, []string{"one", "two", "", "three"}},
		{"has nothing yet", 5, []jetstream.KeyValueEntry{nil, one, two}, []string{"one", "two", ""}},
		{"is ahead", 1, []jetstream.KeyValueEntry{two, nil, three}, []string{"two", "", "three"}},
		{"is empty", 0, []jetstream.KeyValueEntry{nil, one}, []string{"", "one"}},
		{"never comes that far", 6, []jetstream.KeyValueEntry{one, nil, two}, []string{"one", "two"}},
		{"the last is not ours", 5, []jetstream.KeyValueEntry{one, foreign, nil}, []string{"one", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := watcher{updates: make(chan jetstream.KeyValueEntry, len(tc.found))}
			for _, e := range tc.found {
				w.updates <- e
			}
			close(w.updates)
			out := make(chan registry.Change, len(tc.found)+1)
			pump(context.Background(), w, tc.last, out)
			var got []string
			for c := range out {
				got = append(got, c.Name)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Fatalf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}
