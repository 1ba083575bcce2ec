package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// exchangeOnce sends a request and reads the answer.
func exchangeOnce(t *testing.T, tr *Transport) error {
	t.Helper()
	resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, nil))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}

// remote is a server whose connections can be closed from its side.
func remote(t *testing.T, k Keep) (*httptest.Server, *Transport, *int) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	t.Cleanup(s.Close)
	dials := new(int)
	tr := NewKeeping(func(ctx context.Context) (net.Conn, error) {
		*dials++
		return (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
	}, k)
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, tr, dials
}

// A server that has closed a connection while it was idle costs no request.
func TestCheckFindsClosedConnections(t *testing.T) {
	s, tr, dials := remote(t, Keep{Check: true})
	for range 2 {
		if err := exchangeOnce(t, tr); err != nil {
			t.Fatal(err)
		}
	}
	if *dials != 1 {
		t.Errorf("%d connections for two requests", *dials)
	}
	s.CloseClientConnections()
	if err := exchangeOnce(t, tr); err != nil || *dials != 2 {
		t.Errorf("%d connections, %v", *dials, err)
	}
}

func TestKeepMost(t *testing.T) {
	_, tr, _ := remote(t, Keep{Most: 1})
	var open []*http.Response
	for range 3 {
		resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, nil))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	for _, resp := range open {
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	if len(tr.idle) != 1 || tr.inUse != 0 {
		t.Errorf("%d are idle, %d in use", len(tr.idle), tr.inUse)
	}
}

// Nothing stays open when nobody calls any more.
func TestKeepTime(t *testing.T) {
	_, tr, _ := remote(t, Keep{Time: 20 * time.Millisecond})
	if err := exchangeOnce(t, tr); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !tr.Unused(); {
		if time.Now().After(deadline) {
			t.Fatal("the connection is still there after a minute")
		}
		time.Sleep(5 * time.Millisecond) // the kernel's and the runtime's time, nothing to wait on
	}
}

func TestConnectErrorIsNotSent(t *testing.T) {
	tr := NewKeeping(func(context.Context) (net.Conn, error) { return nil, io.ErrClosedPipe }, Keep{Check: true})
	err := exchangeOnce(t, tr)
	var unconnected *ConnectError
	if !errors.Is(err, ErrNotSent) || !errors.Is(err, io.ErrClosedPipe) || !errors.As(err, &unconnected) || !tr.Unused() {
		t.Errorf("%v, unused %v", err, tr.Unused())
	}
}
