package dispatch

import (
	"context"
	"net/http"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// ping asks a runtime whether it is free: 204 says so. A runtime that is
// still busy with the request that was cut does not answer, or refuses the
// connection; asking again makes sense until ctx ends.
func ping(ctx context.Context, sb sandbox.Sandbox) (ok, again bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sandbox"+api.PathPing, http.NoBody)
	if err != nil {
		return false, false
	}
	req.Header.Set(api.HeaderPing, "1")
	resp, err := sb.RoundTrip(req)
	if err != nil {
		return false, ctx.Err() == nil
	}
	free := resp.StatusCode == http.StatusNoContent
	return free && resp.Body.Close() == nil, false
}
