package events

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/api"
)

func kinds(t *testing.T, r *Reader) []string {
	t.Helper()
	got, err := r.Next(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range got {
		out = append(out, e.Kind)
	}
	return out
}

func TestReadersGetEverythingInOrder(t *testing.T) {
	l := &Log{}
	if l.On() || (*Log)(nil).On() {
		t.Error("nobody reads")
	}
	a, b := l.Read(10), l.Read(10)
	for _, k := range []string{"1", "2", "3"} {
		l.Add(api.Event{Kind: k})
	}
	for _, r := range []*Reader{a, b} {
		if diff := cmp.Diff([]string{"1", "2", "3"}, kinds(t, r)); diff != "" {
			t.Error(diff)
		}
	}
	a.Close()
	a.Close()
	if !l.On() {
		t.Error("one still reads")
	}
	b.Close()
	if l.On() {
		t.Error("nobody reads any more")
	}
}

// A slow reader holds nobody up, and learns that it has missed something.
func TestSlowReaderIsTold(t *testing.T) {
	l := &Log{}
	r := l.Read(2)
	defer r.Close()
	for _, k := range []string{"1", "2", "3", "4"} {
		l.Add(api.Event{Kind: k})
	}
	if diff := cmp.Diff([]string{"1", "2"}, kinds(t, r)); diff != "" {
		t.Error(diff)
	}
	l.Add(api.Event{Kind: "5"})
	if diff := cmp.Diff([]string{api.EventLost, "5"}, kinds(t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Log{}
		r := l.Read(2)
		defer r.Close()
		got := make(chan []string, 1)
		go func() { got <- kinds(t, r) }() // ends with its one event
		synctest.Wait()
		l.Add(api.Event{Kind: "late"})
		if diff := cmp.Diff([]string{"late"}, <-got); diff != "" {
			t.Error(diff)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Next(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
