package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/replay"
)

// registryThat answers every call to a registry alike.
func registryThat(status int, err error) caller {
	return func(context.Context, string, string, io.Reader, http.Header) (*http.Response, error) {
		if err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

// nobody is an address that refuses connections.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// A target that goes away is told from one that fails, whenever it does.
func TestTargetThatGoesAway(t *testing.T) {
	w := replay.Workload{Lambdas: []replay.Lambda{{Name: "replay-000", MemMB: 50}}}
	gone := &url.Error{Op: "Post", URL: "http://worker", Err: io.ErrUnexpectedEOF}
	install := func(at caller) func() error {
		return func() error {
			return (&replayTarget{at: at}).install(t.Context(), w, lambdaCost{builtin: "echo"})
		}
	}
	tests := map[string]struct {
		do   func() error
		code int
	}{
		"installing, well":      {install(registryThat(200, nil)), 0},
		"installing, refused":   {install(registryThat(400, nil)), codeFailed},
		"installing, no answer": {install(registryThat(0, gone)), codeNotRunning},
		"installing, no boss":   {install(registryThat(0, fail(codeNotRunning, "reach boss", nil, ""))), codeNotRunning},
		"probing, nobody is there": {func() error {
			target := &replayTarget{at: registryThat(200, nil), url: nobody(t)}
			_, err := target.probe(t.Context(), lambdaCost{builtin: "echo"}, "replay-alone-%02d", 1, 0)
			return err
		}, codeNotRunning},
		"removing, no answer": {func() error {
			return (&replayTarget{at: registryThat(0, gone)}).remove(t.Context(), w)
		}, codeNotRunning},
	}
	for name, tt := range tests {
		if got := exitCode(t.Context(), tt.do()); got != tt.code {
			t.Errorf("%s: %d, want %d", name, got, tt.code)
		}
	}
}

// Requests that fail are a failure, unless nobody takes them any more.
func TestVerdictOfTheLastRequests(t *testing.T) {
	good, bad, lost := replay.Sample{}, replay.Sample{Err: errors.New("status 500")}, replay.Sample{Err: replay.ErrUnreachable}
	unsent := replay.Sample{Err: replay.ErrNotSent}
	for name, tt := range map[string]struct {
		sent []replay.Sample
		code int
	}{
		"all well":         {[]replay.Sample{good, good}, 0},
		"one failed":       {[]replay.Sample{bad, good}, codeFailed},
		"one was not sent": {[]replay.Sample{lost, bad, unsent}, codeFailed},
		"nobody is there":  {[]replay.Sample{good, bad, lost, unsent}, codeNotRunning},
	} {
		r := replayRun{sent: tt.sent}
		r.result.Summary = replay.Summarise(sentOnly(tt.sent))
		if got := exitCode(t.Context(), r.verdict()); got != tt.code {
			t.Errorf("%s: %d, want %d", name, got, tt.code)
		}
	}
}
