package server

import (
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/dispatch"
)

// hopByHop tells whether a header concerns one connection only (RFC 9110
// section 7.6.1, and what older programs send). key is canonical.
func hopByHop(key string) bool {
	switch key {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// named lists the headers that Connection names.
func named(h http.Header) []string {
	var out []string
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			if name = textproto.TrimString(name); name != "" {
				out = append(out, textproto.CanonicalMIMEHeaderKey(name))
			}
		}
	}
	return out
}

// forward makes the header of the request to the sandbox.
func forward(in *http.Request, id string) http.Header {
	h := make(http.Header, len(in.Header)+5)
	for k, vs := range in.Header {
		if !hopByHop(k) && k != "Expect" && k != api.HeaderToken && k != api.HeaderStamp {
			h[k] = vs
		}
	}
	for _, k := range named(in.Header) {
		delete(h, k)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // keeps the transport from adding its own
	}
	if ip, _, err := net.SplitHostPort(in.RemoteAddr); err == nil {
		if prior := in.Header["X-Forwarded-For"]; len(prior) > 0 {
			ip = strings.Join(prior, ", ") + ", " + ip
		}
		h["X-Forwarded-For"] = []string{ip}
	}
	if h.Get("X-Forwarded-Host") == "" {
		h["X-Forwarded-Host"] = []string{in.Host}
	}
	if h.Get("X-Forwarded-Proto") == "" {
		proto := "http"
		if in.TLS != nil {
			proto = "https"
		}
		h["X-Forwarded-Proto"] = []string{proto}
	}
	h[api.HeaderRequestID] = []string{id}
	return h
}

// answerHeader copies the lambda's header to the client's answer.
func answerHeader(dst, src http.Header) {
	for k, vs := range src {
		// Only the platform can know that nothing was started.
		if !hopByHop(k) && k != api.HeaderNotStarted {
			dst[k] = vs
		}
	}
	for _, k := range named(src) {
		delete(dst, k)
	}
	if _, ok := src["Content-Type"]; !ok {
		dst["Content-Type"] = nil // and it must not guess one
	}
}

// timing is the value of Server-Timing, in milliseconds. exec is the time
// until the answer began: its end is not known yet.
func timing(g *dispatch.Grant, exec time.Duration) string {
	b := make([]byte, 0, 64)
	b = appendMS(append(b, "queue;dur="...), g.Queue)
	b = appendMS(append(b, ", init;dur="...), g.Init)
	b = appendMS(append(b, ", exec;dur="...), exec)
	return string(b)
}

func appendMS(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d)/float64(time.Millisecond), 'f', 3, 64)
}
