package api

import (
	"net/http"

	"github.com/google/uuid"
)

// RequestID takes over the id that a request brings in HeaderRequestID if it
// is a UUID in its usual form, or makes one (version 7, RFC 9562).
func RequestID(r *http.Request) string {
	if id := r.Header.Get(HeaderRequestID); len(id) == 36 && uuid.Validate(id) == nil {
		return id
	}
	id, err := uuid.NewV7()
	if err != nil { // no randomness: the id need not be secret
		return uuid.UUID{}.String()
	}
	return id.String()
}
