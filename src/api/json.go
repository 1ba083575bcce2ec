package api

import (
	"encoding/json"
	"net/http"
)

// WriteJSON answers with v, which must be a value that can be encoded.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // our own types: they marshal
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone cannot be told so
}
