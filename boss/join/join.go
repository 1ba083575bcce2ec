package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// Config is what a Server needs.
type Config struct {
	Fleet   *fleet.Fleet
	TLSOnly bool         // refuse workers of other machines that serve without TLS
	Logger  *slog.Logger // nil: silent
}

// Server takes workers in.
type Server struct {
	cfg   Config
	slots chan struct{} // joins in progress

	mu     sync.Mutex
	links  map[string]*link // by the worker's name
	closed bool
	wg     sync.WaitGroup
}

// New makes a server. Close ends its links.
func New(cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, slots: make(chan struct{}, joins), links: map[string]*link{}}
}

// Close ends every link and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.links {
		l.cut()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// ErrNoLink: the worker is not connected to this boss.
var ErrNoLink = errors.New("the worker is not connected")

// Notify tells a worker something.
func (s *Server) Notify(worker string, n api.Notice) error {
	s.mu.Lock()
	l := s.links[worker]
	s.mu.Unlock()
	if l == nil {
		return ErrNoLink
	}
	return l.send(n)
}

// Broadcast tells every worker. One that does not read is cut off.
func (s *Server) Broadcast(n api.Notice) {
	s.mu.Lock()
	all := make([]*link, 0, len(s.links))
	for _, l := range s.links {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		if err := l.send(n); err != nil {
			s.cfg.Logger.Warn("tell worker", slog.String("worker", l.name), slog.Any("error", err))
		}
	}
}

// maxHello bounds a Hello: 10,000 functions fit.
const maxHello = 4 << 20

// ServeHTTP takes a worker in and stays with it until the link ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var h api.Hello
	if p := s.read(w, r, &h); p != nil {
		p.Write(w, r)
		return
	}
	// Whoever does not wait any more is not let in: when thousands come at the
	// same time, work for those who left would keep the others waiting.
	select {
	case s.slots <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	l, session := s.enter(w, r, h)
	<-s.slots
	if l == nil {
		return
	}
	err := l.run(session)
	s.drop(l)
	session.Leave(err)
	s.wg.Done()
}

// joins is how many workers are let in at the same time.
const joins = 32

// enter takes a worker into the fleet; nil if it must stay outside, which it
// has been told.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, h api.Hello) (*link, *fleet.Session) {
	if r.Context().Err() != nil {
		return nil, nil
	}
	session, err := s.cfg.Fleet.Join(h)
	if err != nil {
		api.NewProblem(http.StatusConflict, "name-taken", err.Error()).Write(w, r)
		return nil, nil
	}
	l, err := s.open(w, h.Name)
	if err != nil {
		session.Leave(err)
		return nil, nil
	}
	return l, session
}

// read checks a Hello; a problem is what the worker is told.
func (s *Server) read(w http.ResponseWriter, r *http.Request, h *api.Hello) *api.Problem {
	if r.Method != http.MethodPost || r.Header.Get("Upgrade") != api.UpgradeLink {
		return api.NewProblem(http.StatusBadRequest, "bad-join", "a worker joins by POST with \"Upgrade: "+api.UpgradeLink+"\"")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHello))
	if err != nil {
		return api.NewProblem(http.StatusBadRequest, "bad-join", "read hello: "+err.Error())
	}
	if err := json.Unmarshal(text, h); err != nil {
		return api.NewProblem(http.StatusBadRequest, "bad-join", "understand hello: "+err.Error())
	}
	if h.Link != api.LinkVersion {
		return api.NewProblem(http.StatusConflict, "other-version", fmt.Sprintf(
			"the worker (%s) speaks version %d of the link, this boss version %d: upgrade the older one", h.Version, h.Link, api.LinkVersion))
	}
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return api.NewProblem(http.StatusBadRequest, "bad-join", fmt.Sprintf("the worker's address %q is no http URL", h.URL))
	}
	if s.cfg.TLSOnly && u.Scheme == "http" && !config.Loopback(u.Hostname()) {
		return api.NewProblem(http.StatusForbidden, "tls-required", fmt.Sprintf(
			"the worker at %s would be sent requests without TLS: give it a certificate (cluster.tls_cert, cluster.tls_key), or start the boss with --insecure", h.URL))
	}
	if h.Name == "" || len(h.Name) > 253 || h.Instance == "" {
		return api.NewProblem(http.StatusBadRequest, "bad-join", "a worker needs a name of 1 to 253 bytes and an instance")
	}
	return badFunctions(h.Load)
}

func badFunctions(l api.Load) *api.Problem {
	for name := range l.Functions {
		if err := lambda.CheckName(name); err != nil {
			return api.NewProblem(http.StatusBadRequest, "bad-join", err.Error())
		}
	}
	return nil
}

// open switches the connection to the link's protocol.
func (s *Server) open(w http.ResponseWriter, name string) (*link, error) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("take over connection: %w", err)
	}
	// What came with the request is in the server's reader.
	buffered, err := rw.Reader.Peek(rw.Reader.Buffered())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take over connection: %w", err), conn.Close())
	}
	l := &link{name: name, conn: conn, in: json.NewDecoder(io.MultiReader(bytes.NewReader(buffered), &patient{conn}))}
	if err := l.greet(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.Join(errors.New("the boss is shutting down"), conn.Close())
	}
	if old := s.links[name]; old != nil {
		old.cut()
	}
	s.links[name] = l
	s.wg.Add(1)
	return l, nil
}

func (s *Server) drop(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[l.name] == l {
		delete(s.links, l.name)
	}
}
