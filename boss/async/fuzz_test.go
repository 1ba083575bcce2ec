package async

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/inprocess"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// Whatever a client asks for later: what is queued is read again as the same,
// can be run, for that lambda and no other, and asks for nothing to be done later.
func FuzzEnqueue(f *testing.F) {
	for _, seed := range []string{
		"POST /run/f/a%2Fb?async=true&x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", "POST /run/f HTTP/1.1\r\nHost: h\r\nPrefer: respond-async; wait=1, x\r\nConnection: A\r\nA: b\r\n\r\n",
		"POST /run/f?async=true&async=true&xasync=true HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\n\r\n", "POST /run/../f?async=true HTTP/1.1\r\n\r\n", "POST /run/f%2Fg?async=true HTTP/1.1\r\n\r\n",
		"POST http://o/run/f?async=true HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n", "POST //run/f?async=true HTTP/1.1\r\n\r\n", "POST /run/f?async=true;%zz HTTP/1.1\r\nA: \xff\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	s := &Service{cfg: Config{MaxBody: 1 << 16}}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil || !strings.HasPrefix(r.URL.Path, api.PathRun) || !Wanted(r) {
			return
		}
		w := httptest.NewRecorder()
		j, p := s.read(w, r)
		if p != nil {
			if p.Status < 400 || p.Status > 499 {
				t.Errorf("refused with %d", p.Status)
			}
			return
		}
		value, err := encode(j, j.Body)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeJob(value)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Body)+len(again.Body) == 0 { // nothing is nothing, nil or not
			again.Body = j.Body
		}
		if len(j.Header)+len(again.Header) == 0 {
			again.Header = j.Header
		}
		if plain(j) && !reflect.DeepEqual(again, j) {
			t.Errorf("%+v is queued as %+v", j, again)
		}
		runs(t, again)
	})
}

// plain tells whether JSON keeps every text of a job as it is.
func plain(j *Job) bool {
	all := []string{j.Method, j.Target, j.Host}
	for k, vs := range j.Header {
		all = append(append(all, k), vs...)
	}
	for _, s := range all {
		if s != strings.ToValidUTF8(s, "") {
			return false
		}
	}
	return true
}

// runs runs a job with a handler that looks at it.
func runs(t *testing.T, j *Job) {
	t.Helper()
	if !lambda.ValidName(j.Function) {
		t.Errorf("function %q", j.Function)
	}
	ran := false
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ran = true
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, api.PathRun), "/")
		if name != j.Function || r.Method != j.Method || Wanted(r) {
			t.Errorf("%+v runs as %s %s %v", j, r.Method, r.URL, r.Header)
		}
	})
	_, err := inprocess.Call(t.Context(), h, inprocess.Request{Method: j.Method, Target: j.Target, Host: j.Host, Header: j.Header, Body: j.Body}, 1)
	if err != nil || !ran {
		t.Errorf("%+v cannot be run: %v", j, err)
	}
}
