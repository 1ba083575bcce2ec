package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// check finds packages that exclude each other: pip looks at one at a time and
// cannot see it. Most lambdas need no look, for none of their packages says
// anything about the version of another.
func (s *Store) check(ctx context.Context, l *Lease) error {
	claims := claimsAbout(l.pkgs)
	if len(claims) == 0 {
		return nil
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return fmt.Errorf("check packages: %w", err)
	}
	verdict := s.checks.DoChan(string(text), func() (any, error) { return nil, s.checkOnce(claims[0].Package, string(text)) })
	select {
	case v := <-verdict:
		return v.Err
	case <-ctx.Done():
		return fmt.Errorf("check packages: %w", context.Cause(ctx))
	}
}

// checkOnce looks at claims that nobody has looked at yet. It runs under the
// store's life, for more callers than one may wait for it.
func (s *Store) checkOnce(pkg, claims string) error {
	s.mu.Lock()
	agreed, closed := s.agreed[claims], s.closed
	if !closed {
		s.wg.Add(1)
	}
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	defer s.wg.Done()
	if agreed {
		return nil
	}
	return s.judge(pkg, claims)
}

// judge has the runtime compare versions, in a sandbox.
func (s *Store) judge(pkg, claims string) error {
	dir, err := os.MkdirTemp(s.cfg.Dir, stagePrefix)
	if err != nil {
		return fmt.Errorf("check packages: %w", err)
	}
	defer func() { s.warn("remove directory of check", os.RemoveAll(dir)) }()
	var said tail
	ctx, cancel := context.WithTimeoutCause(s.life, time.Duration(s.cfg.Limits.RuntimeSec)*time.Second, errLate)
	defer cancel()
	err = s.runCheck(ctx, dir, claims, &said)
	var job *sandbox.JobError
	if errors.As(err, &job) && job.Code == conflict {
		return &InstallError{Package: pkg, Word: WordConflict, Reason: strings.TrimSpace(said.String()), Err: err}
	}
	if err != nil {
		// The packages are there; whether they agree shows when they are imported.
		s.cfg.Logger.Warn("check packages", slog.Any("error", err), slog.String("output", said.String()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.agreed) >= maxAgreed {
		clear(s.agreed)
	}
	s.agreed[claims] = true
	return nil
}

// maxAgreed bounds what is remembered of lambdas whose packages agree.
const maxAgreed = 1000

// conflict is what the runtime's check ends with when it found one.
const conflict = 96

// claim is what a package says about another one that the lambda names too.
type claim struct {
	Package string `json:"package"` // name==version
	Wants   string `json:"wants"`   // a requirement, markers included
	Has     string `json:"has"`     // the version that is there
}

func claimsAbout(pkgs []*pkg) []claim {
	versions := map[string]string{}
	for _, p := range pkgs {
		versions[undotted(p.meta.Name)] = p.meta.Version
	}
	var out []claim
	for _, p := range pkgs {
		for _, wants := range p.meta.Requires {
			end := strings.IndexAny(wants, " ;(<>=!~[")
			if end < 0 {
				continue // no word about the version
			}
			if has := versions[undotted(lambda.PackageName(wants[:end]))]; has != "" {
				out = append(out, claim{key(p.meta.Name, p.meta.Version), wants, has})
			}
		}
	}
	return out
}

// undotted makes spellings of a name equal that are the same to pip (PEP 503).
func undotted(name string) string { return strings.ReplaceAll(name, ".", "-") }

func (s *Store) runCheck(ctx context.Context, dir, claims string, said *tail) error {
	s.mu.Lock()
	s.jobs++
	id := fmt.Sprintf("check-%d", s.jobs)
	s.mu.Unlock()
	l := s.cfg.Limits
	return s.cfg.Runner.Run(ctx, sandbox.Job{
		ID: id, Module: "agreement", Args: []string{claims}, Env: Index{Mirror: "none"}.pipEnv(), Dir: dir,
		MemMB: int64(l.MemMB), CPUPercent: l.CPUPercent, Procs: l.Procs, Output: said,
	})
}
