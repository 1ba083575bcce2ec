package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// invokeSocket is where other lambdas can be called.
const invokeSocket = "/host/invoke.sock"

// handler finds the function behind /run/<name>/<function>.
func handler() http.Handler {
	functions := map[string]func(*http.Request) (any, error){
		"": noop, "noop": noop, "hash": hash, "multiply": multiply, "call": call,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
		name := ""
		if len(parts) == 3 {
			name = parts[2]
		}
		function, ok := functions[name]
		if !ok {
			http.Error(w, "there is no function "+name, http.StatusNotFound)
			return
		}
		answer(w, r, function)
	})
}

func answer(w http.ResponseWriter, r *http.Request, function func(*http.Request) (any, error)) {
	result, err := function(r)
	var bad *badEvent
	switch {
	case errors.As(err, &bad):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result) // the caller has gone, if anything
	}
}

// badEvent is an event that cannot be read.
type badEvent struct{ err error }

func (e *badEvent) Error() string { return "read event: " + e.err.Error() }

// event reads the JSON body into v; an empty one leaves it as it is.
func event(r *http.Request, v any) error {
	err := json.NewDecoder(r.Body).Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		return &badEvent{err}
	}
	return nil
}

func noop(*http.Request) (any, error) { return "noop", nil }

func hash(r *http.Request) (any, error) {
	in := struct {
		Text   string `json:"text"`
		Rounds int    `json:"rounds"`
	}{Rounds: 1}
	if err := event(r, &in); err != nil {
		return nil, err
	}
	digest := []byte(in.Text)
	for range in.Rounds {
		sum := sha256.Sum256(digest)
		digest = sum[:]
	}
	return hex.EncodeToString(digest), nil
}

func multiply(r *http.Request) (any, error) {
	in := struct{ A, B float64 }{1, 1}
	if err := event(r, &in); err != nil {
		return nil, err
	}
	return in.A * in.B, nil
}

// call invokes another lambda and hands on what it answers.
func call(r *http.Request) (any, error) {
	var in struct {
		Lambda string          `json:"lambda"`
		Event  json.RawMessage `json:"event"`
	}
	if err := event(r, &in); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://worker/run/"+in.Lambda, bytes.NewReader(in.Event))
	if err != nil {
		return nil, &badEvent{err}
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", invokeSocket)
		},
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", in.Lambda, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", in.Lambda, err)
	}
	return struct {
		Status int    `json:"status"`
		Answer string `json:"answer"`
	}{resp.StatusCode, string(text)}, nil
}
