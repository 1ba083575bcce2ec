package async

import (
	"context"
	"net/http"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/inprocess"
)

// execute runs a job once. nil: it was cut short because ctx ended.
func (s *Service) execute(ctx context.Context, j *Job) (*inprocess.Answer, error) {
	h := j.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(api.HeaderRequestID, j.ID)
	a, err := inprocess.Call(ctx, s.cfg.Run, inprocess.Request{
		Method: j.Method, Target: j.Target, Host: j.Host, Remote: j.Remote, Header: h, Body: j.Body,
	}, s.cfg.MaxResult)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil && (a.Broken || a.Status >= http.StatusBadRequest) {
		return nil, nil
	}
	return a, nil
}

// keep writes an answer into a record.
func (r *record) keep(a *inprocess.Answer) {
	r.Status, r.Header, r.Bytes, r.body, r.TooLarge = 0, nil, 0, nil, false
	if a.Broken {
		return
	}
	body, whole := a.Body()
	r.Status, r.Header, r.Bytes, r.body, r.TooLarge = a.Status, a.Header, a.Bytes, body, !whole
}
