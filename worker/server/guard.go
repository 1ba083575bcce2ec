package server

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
)

// Guard lets through who shows the token, in api.HeaderToken or as a bearer,
// who calls from this machine, and who only asks for the status. "" lets
// everybody through.
func Guard(token string, h http.Handler) http.Handler {
	if token == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != api.PathStatus && !fromHere(r.RemoteAddr) && !shows(r.Header, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			api.NewProblem(http.StatusUnauthorized, "wrong-token", "this worker belongs to a cluster and wants its token: send the request to a boss").Write(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func fromHere(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && net.ParseIP(host).IsLoopback()
}

func shows(h http.Header, token string) bool {
	got := h.Get(api.HeaderToken)
	if got == "" {
		got, _ = strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	}
	return subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}
