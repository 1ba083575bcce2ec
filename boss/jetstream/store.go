package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Store is a connection to JetStream, and the embedded server behind it if
// there is one.
type Store struct {
	cfg    Config
	log    *slog.Logger
	server *server.Server // nil: elsewhere
	conn   *nats.Conn
	js     jetstream.JetStream
	meta   *reached[jetstream.KeyValue]
	code   *reached[jetstream.ObjectStore]
}

// Open starts the embedded server, or connects to the one that runs elsewhere.
// log may be nil.
func Open(cfg Config, log *slog.Logger) (*Store, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{cfg: cfg, log: log, meta: newReached[jetstream.KeyValue](), code: newReached[jetstream.ObjectStore]()}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// readyLimit is how long the embedded server may take to accept connections;
// it reads what it has stored before.
const readyLimit = 30 * time.Second

func (s *Store) open() error {
	opts := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Name("boss")}
	if s.cfg.URL != "" {
		opts = append(opts, nats.RetryOnFailedConnect(true))
		if s.cfg.TLS != nil && strings.HasPrefix(s.cfg.URL, "tls://") {
			opts = append(opts, nats.Secure(s.cfg.TLS.Clone()))
		}
	} else {
		if err := s.startServer(); err != nil {
			return err
		}
		opts = append(opts, nats.InProcessServer(s.server), nats.Token(s.cfg.Token))
	}
	conn, err := nats.Connect(s.cfg.URL, opts...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.conn = conn
	s.js, err = jetstream.New(conn)
	return err
}

func (s *Store) startServer() error {
	o, err := s.cfg.options()
	if err != nil {
		return err
	}
	srv, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("make server: %w", err)
	}
	s.server = srv
	srv.Start()
	if !srv.ReadyForConnections(readyLimit) {
		return fmt.Errorf("the server in %s is not ready after %v", s.cfg.Dir, readyLimit)
	}
	return nil
}

// Close ends the connection and the embedded server.
func (s *Store) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	return nil
}

// Names of buckets.
const (
	metaBucket = "ol_functions"
	codeBucket = "ol_code"
)

// metaOf returns the bucket of entries, making it if need be.
func (s *Store) metaOf(ctx context.Context) (jetstream.KeyValue, error) {
	return s.meta.get(ctx, func() (jetstream.KeyValue, error) {
		return s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: metaBucket, Description: "lambdas by name", Replicas: s.cfg.replicas(), Storage: jetstream.FileStorage,
		})
	})
}

func (s *Store) codeOf(ctx context.Context) (jetstream.ObjectStore, error) {
	return s.code.get(ctx, func() (jetstream.ObjectStore, error) {
		return s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: codeBucket, Description: "archives by digest", Replicas: s.cfg.replicas(), Storage: jetstream.FileStorage,
		})
	})
}
