package async

import (
	"net/http"
	"strings"
)

// query is the parameter by which clients that cannot set headers ask.
const query = "async=true"

// Wanted tells whether a request asks for an asynchronous invocation: by
// "Prefer: respond-async" (RFC 7240) or by "?async=true".
func Wanted(r *http.Request) bool {
	return preferred(r.Header) || (r.URL.RawQuery != "" && withoutQuery(r.URL.RawQuery) != r.URL.RawQuery)
}

func preferred(h http.Header) bool {
	for _, line := range h["Prefer"] {
		for p := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(p, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

// withoutQuery leaves the rest of a query as it is.
func withoutQuery(raw string) string {
	if !strings.Contains(raw, query) {
		return raw
	}
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		if part != query {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// keptHeader is what the lambda sees of a request's header: not what was meant
// for the boss, nor what belonged to the client's connection.
func keptHeader(h http.Header) http.Header {
	out := h.Clone()
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{
		"Prefer", "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Content-Length",
	} {
		out.Del(name)
	}
	return out
}
