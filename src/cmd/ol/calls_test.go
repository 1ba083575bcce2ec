package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// callerSource calls the lambda that its event names, and tells how that went.
const callerSource = `
import os
from olrt.invoke import InvokeError, invoke
def f(event):
    if "name" not in event:
        return {"host": sorted(os.listdir("/host"))}
    try:
        return {"answer": invoke(event["name"], event.get("event"))}
    except InvokeError as e:
        return {"status": e.status, "body": e.body.decode()}
    except OSError as e:
        return {"error": str(e)}
`

// answered is what a caller tells.
type answered struct {
	Answer json.RawMessage
	Status int
	Body   string
	Error  string
	Host   []string
}

func (n *liveWorker) tell(name, event string, header ...string) (int, answered) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url+api.PathRun+name, strings.NewReader(event))
	if err != nil {
		n.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	var a answered
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &a); err != nil {
			n.t.Fatalf("%s says %s: %v", name, text, err)
		}
	}
	return resp.StatusCode, a
}

func TestLambdasCallEachOther(t *testing.T) {
	n := startLive(t, t.TempDir(), "")
	n.put("callee", "f.py", "def f(event):\n    return {'got': event}\n")
	n.put("other", "f.py", "def f(event):\n    return 1\n")
	n.put("broken", "f.py", "def f(event):\n    raise ValueError('no')\n")
	n.put("friend", "f.py", callerSource, "ol.yaml", "calls: [callee, broken, missing]\nnetwork: none\n")
	n.put("stranger", "f.py", callerSource)

	if _, a := n.tell("friend", `{"name": "callee", "event": {"x": [1, 2]}}`); strings.ReplaceAll(string(a.Answer), " ", "") != `{"got":{"x":[1,2]}}` {
		t.Errorf("listed: %+v", a)
	}
	if _, a := n.tell("friend", `{"name": "other"}`); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "call-not-listed") {
		t.Errorf("not listed: %+v", a)
	}
	if _, a := n.tell("friend", `{"name": "missing"}`); a.Status != http.StatusNotFound {
		t.Errorf("missing: %+v", a)
	}
	if _, a := n.tell("friend", `{"name": "broken"}`); a.Status != http.StatusInternalServerError || !strings.Contains(a.Body, "ValueError: no") {
		t.Errorf("broken: %+v", a)
	}
	if _, a := n.tell("stranger", `{"name": "callee"}`); a.Error == "" {
		t.Errorf("without calls: %+v", a)
	}
	for name, want := range map[string]string{"friend": "invoke.sock ol.sock", "stranger": "ol.sock"} {
		if _, a := n.tell(name, `{}`); strings.Join(a.Host, " ") != want {
			t.Errorf("%s sees %v in /host", name, a.Host)
		}
	}
}

func TestCallsInACircleEnd(t *testing.T) {
	n := startLive(t, t.TempDir(), "")
	n.put("circle", "f.py", `
from olrt.invoke import InvokeError, invoke
def f(event):
    try:
        return {"answer": 1 + invoke("circle", {})["answer"]}
    except InvokeError as e:
        return {"answer": 0, "status": e.status}
`, "ol.yaml", "calls: [circle]\n")
	if _, a := n.tell("circle", `{}`); string(a.Answer) != "8" {
		t.Errorf("the circle went round %s times", a.Answer)
	}
}

// The call has the request's id and its time.
func TestCallsBelongToTheirRequest(t *testing.T) {
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	n := startLive(t, t.TempDir(), "")
	n.put("naps", "f.py", "import time\ndef f(event):\n    time.sleep(60)\n")
	n.put("tells", "f.py", `
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    return [b'"' + environ["HTTP_X_OL_REQUEST_ID"].encode() + b'"']
`)
	n.put("asks", "f.py", callerSource, "ol.yaml", "calls: [naps, tells]\n")
	if _, a := n.tell("asks", `{"name": "tells"}`, api.HeaderRequestID, id); string(a.Answer) != `"`+id+`"` {
		t.Errorf("the id is %s", a.Answer)
	}
	begun := time.Now()
	if status, _ := n.tell("asks", `{"name": "naps"}`, api.HeaderTimeout, "1500"); status != http.StatusGatewayTimeout {
		t.Errorf("status is %d", status)
	}
	// The nap is over too: its sandbox is free or gone long before its minute.
	for end := begun.Add(50 * time.Second); ; {
		status, text := n.debug()
		if status == http.StatusOK && !strings.Contains(text, "busy") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it naps on:\n%s", text)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func (n *liveWorker) debug() (int, string) {
	n.t.Helper()
	resp, err := http.Get(n.url + api.PathDebug)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A lambda may ask for less network than its worker gives, not for more.
func TestNetworkOfOneLambda(t *testing.T) {
	const links = "import socket\ndef f(event):\n    return {'host': sorted(n for _, n in socket.if_nameindex())}\n"
	n := startLive(t, t.TempDir(), "network=host")
	n.put("hermit", "f.py", links, "ol.yaml", "network: none\n")
	n.put("open", "f.py", links)
	if _, a := n.tell("hermit", "{}"); strings.Join(a.Host, " ") != "lo" {
		t.Errorf("links are %v", a.Host)
	}
	if _, a := n.tell("open", "{}"); len(a.Host) < 2 {
		t.Errorf("links are %v", a.Host)
	}
	m := startLive(t, t.TempDir(), "network=none")
	m.put("greedy", "f.py", links, "ol.yaml", "network: host\n")
	m.expect("greedy", http.StatusBadGateway, "asks for network")
	m.put("plain", "f.py", links)
	if _, a := m.tell("plain", "{}"); strings.Join(a.Host, " ") != "lo" {
		t.Errorf("links are %v", a.Host)
	}
}
