package sockmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// order is the body of /create.
type order struct {
	Code    string   `json:"code"`    // directory or .tar.gz on this machine; "" of a parent
	Leaf    *bool    `json:"leaf"`    // false: it is there for its children only
	Parent  string   `json:"parent"`  // id of what it inherits packages from, "" for none
	Pkgs    []string `json:"pkgs"`    // packages, as in requirements.txt
	Runtime string   `json:"runtime"` // "python" or "native"; "" goes by the code
}

// maxOrder bounds the body of /create, bytes.
const maxOrder = 1 << 20

// archiveSuffix marks code that has to be unpacked.
const archiveSuffix = ".tar.gz"

func bad(format string, args ...any) error {
	return api.NewProblem(http.StatusBadRequest, "bad-request", fmt.Sprintf(format, args...))
}

func readOrder(w http.ResponseWriter, r *http.Request) (order, error) {
	var o order
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if err != nil {
		return o, bad("the body cannot be read: %s", err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, bad(`the body has to be JSON such as {"code": "/path/to/lambda"}: %s`, err)
	}
	if o.Runtime != "" && o.Runtime != "python" && o.Runtime != "native" {
		return o, bad("there is no runtime %q: use python or native", o.Runtime)
	}
	return o, nil
}

// create makes a sandbox and answers with its id.
func (s *Server) create(w http.ResponseWriter, r *http.Request) error {
	o, err := readOrder(w, r)
	if err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.wg.Done()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(closing()) })()
	b, err := s.prepare(o)
	if err == nil {
		err = s.build(ctx, b, o)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, b.id+"\n") // a client that is gone finds it in /debug
	return nil
}

// prepare makes a box with what it inherits.
func (s *Server) prepare(o order) (*box, error) {
	b := &box{born: time.Now(), function: "parent", parent: o.Leaf != nil && !*o.Leaf, native: o.Runtime == "native"}
	b.life, b.stop = context.WithCancel(context.Background())
	var specs []string
	if o.Parent != "" {
		p, err := s.find(o.Parent)
		if err != nil {
			return nil, err
		}
		if !p.parent {
			return nil, bad(`sandbox %s has no children: make its parent with "leaf": false`, p.id)
		}
		if o.Runtime != "" && p.native != b.native {
			return nil, bad("parent and child have different runtimes")
		}
		b.native = p.native
		specs = specsOf(p.packages)
	}
	var err error
	if b.packages, err = merge(specs, o.Pkgs); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	b.id = fmt.Sprintf("b%d", s.made)
	return b, nil
}

func specsOf(all []lambda.Requirement) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Spec)
	}
	return out
}

// merge joins lists of packages; two versions of one cannot both be.
func merge(lists ...[]string) ([]lambda.Requirement, error) {
	all, err := lambda.ParseRequirements([]byte(strings.Join(slices.Concat(lists...), "\n")))
	if err != nil {
		return nil, bad("pkgs: %s", err)
	}
	return all, nil
}

// build makes what the order asks for, and enters it. After an error nothing
// of it is left.
func (s *Server) build(ctx context.Context, b *box, o order) (err error) {
	begun := time.Now()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.discard(context.WithoutCancel(ctx), b))
		}
	}()
	if !b.parent {
		if err := s.fill(ctx, b, o); err != nil {
			return err
		}
		s.created.Add(time.Since(begun))
	} else if b.lease, err = s.cfg.Packages.Lease(ctx, b.packages); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[b.id] = b
	return nil
}

// fill makes the sandbox of a leaf.
func (s *Server) fill(ctx context.Context, b *box, o order) error {
	dir, cfg, err := s.code(b, o.Code)
	if err != nil {
		return err
	}
	if err := cfg.CheckBounds(s.cfg.Settings); err != nil {
		return bad("%s: %s", o.Code, err)
	}
	entry, err := cfg.EntryIn(dir)
	if err != nil {
		return bad("%s: %s", o.Code, err)
	}
	native := slices.Contains(lambda.Programs(), filepath.Base(entry))
	if (o.Runtime != "" || o.Parent != "") && native != b.native {
		return bad("%s is not for the runtime that is asked for: its entry is %s", o.Code, entry)
	}
	b.native = native
	if b.packages, err = merge(specsOf(b.packages), specsOf(cfg.Requires)); err != nil {
		return err
	}
	if b.lease, err = s.cfg.Packages.Lease(ctx, b.packages); err != nil {
		return err
	}
	spec := s.spec(b, dir, entry, &cfg)
	if pool := int64(s.cfg.Settings.MemPoolMB); spec.MemMB > pool {
		return bad("it wants %d MB, and the whole pool has %d (mem_pool_mb)", spec.MemMB, pool)
	}
	if err := s.acquire(ctx, spec.MemMB); err != nil {
		return err
	}
	b.mb, b.charged = spec.MemMB, spec.MemMB
	b.sb, err = s.cfg.Provider.Create(ctx, spec)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// code finds the directory of the code, unpacking an archive.
func (s *Server) code(b *box, path string) (string, lambda.Config, error) {
	if path == "" {
		return "", lambda.Config{}, bad(`a sandbox needs code: {"code": "/path/to/lambda"}, or "leaf": false`)
	}
	name, packed := strings.CutSuffix(filepath.Base(path), archiveSuffix)
	if b.function = name; lambda.CheckName(name) != nil {
		b.function = "lambda"
	}
	dir, err := filepath.Abs(path)
	if err != nil {
		return "", lambda.Config{}, fmt.Errorf("find code: %w", err)
	}
	if packed {
		return s.unpack(b, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", lambda.Config{}, bad("code %s is neither a directory nor a %s file on this machine", path, archiveSuffix)
	}
	cfg, _, err := lambda.ReadDir(dir)
	if format := (*lambda.FormatError)(nil); errors.As(err, &format) {
		err = bad("%s: %s", path, format)
	}
	return dir, cfg, err
}

func (s *Server) unpack(b *box, path string) (string, lambda.Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", lambda.Config{}, bad("code cannot be read: %s", err)
	}
	defer f.Close()
	dir := filepath.Join(s.cfg.Scratch, b.id)
	cfg, _, err := unpack.Lambda(f, dir, archive.DefaultLimits())
	if err == nil {
		b.scratch = dir
	}
	return dir, cfg, err
}

// spec describes the sandbox to its provider.
func (s *Server) spec(b *box, dir, entry string, cfg *lambda.Config) sandbox.Spec {
	e := cfg.Effective(s.cfg.Settings)
	b.runtime, b.slots = e.Runtime, make(chan struct{}, e.Slots)
	if entry == "" {
		entry = cfg.Entry() // the runtime says what it lacks
	}
	out := io.Discard
	if s.cfg.Output != nil {
		log := s.cfg.Output(b.function)
		b.output, out = log, log
	}
	return sandbox.Spec{
		ID: b.id, Function: b.function, Dir: dir, Entry: entry, Handler: cfg.Handler, Env: maps.Clone(cfg.Environment),
		Imports: cfg.Imports, Own: cfg.Own, Packages: b.lease.Packages(),
		MemMB: int64(e.MemMB), CPUPercent: e.CPUPercent, Procs: e.Procs, Slots: e.Slots, Network: e.Network,
		MaxBody: int64(s.cfg.Settings.MaxBodyMB) << 20, Runtime: e.Runtime, Output: out,
	}
}
