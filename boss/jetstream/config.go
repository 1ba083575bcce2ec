package jetstream

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config says where what must not be lost is kept.
type Config struct {
	// URL of a NATS with JetStream that runs elsewhere, with the user or token
	// for it if it asks for one; "": embedded.
	URL string
	// Replicas is how many stores of the NATS at URL hold a value; 0: 1.
	Replicas int
	// Token is what the bosses of a group know one another by. A NATS elsewhere
	// is not shown it: it is not of the cluster.
	Token string
	// TLS has this boss' certificate and the authorities that the others' must
	// be signed by; nil: the group, or the NATS at URL, is reached without.
	TLS *tls.Config

	Dir  string // of the embedded server's files
	Name string // of this boss in its group
	// Listen is host:port for the other bosses of the group; "": there are
	// none, and no port is opened.
	Listen string
	Peers  []string // host:port of all three bosses of the group, this one included
	// Sync is when a write reaches the disk: "interval" (within 100 ms; what
	// was acknowledged survives the death of the process) or "always" (before
	// it is acknowledged; it survives the loss of power).
	Sync string
	// SyncEvery is the time of Sync "interval"; 0: 100 ms.
	SyncEvery time.Duration
}

// syncEvery is the time of Sync "interval" unless the configuration says
// otherwise.
const syncEvery = 100 * time.Millisecond

// maxPayload is the largest value of the embedded server, bytes: a request or an
// answer of an asynchronous invocation in full.
const maxPayload = 16 << 20

func (c *Config) check() error {
	switch {
	case c.Sync == "":
		c.Sync = "interval"
	case c.Sync != "interval" && c.Sync != "always":
		return fmt.Errorf("durability is %q: it must be \"interval\" or \"always\"", c.Sync)
	}
	if c.SyncEvery <= 0 {
		c.SyncEvery = syncEvery
	}
	if c.URL != "" {
		if c.Listen != "" || len(c.Peers) > 0 {
			return errors.New("bosses that use a NATS elsewhere form no group")
		}
		return nil
	}
	if c.Dir == "" {
		return errors.New("a directory is required")
	}
	if c.Listen == "" && len(c.Peers) > 0 {
		return errors.New("a group of bosses needs an address to listen on")
	}
	if c.Listen != "" && len(c.Peers) != groupSize {
		return fmt.Errorf("%d bosses are named: a group has %d, and each names all of them, itself included", len(c.Peers), groupSize)
	}
	if c.Listen != "" && (c.Token == "" || c.Name == "") {
		return errors.New("a group of bosses needs a token, and a name for each")
	}
	return nil
}

// groupSize is how many bosses have a store in common: two could not outvote one
// another, and four survive no more losses than three.
const groupSize = 3

// replicas is how many stores hold a value.
func (c *Config) replicas() int {
	if c.Listen != "" {
		return groupSize
	}
	return max(c.Replicas, 1)
}

// routeTLSLimit is how long two bosses may take to agree on keys.
const routeTLSLimit = 5 * time.Second

func (c *Config) options() (*server.Options, error) {
	o := &server.Options{
		ServerName: c.Name, DontListen: true, JetStream: true, StoreDir: c.Dir,
		NoSigs: true, NoLog: true, MaxPayload: maxPayload, SyncInterval: c.SyncEvery, SyncAlways: c.Sync == "always",
	}
	if c.Listen == "" {
		return o, nil
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", port, err)
	}
	// The server opens its routes only after a port for clients; nobody but
	// this process uses that one.
	o.DontListen, o.Host, o.Port, o.Authorization = false, "127.0.0.1", server.RANDOM_PORT, c.Token
	o.Cluster = server.ClusterOpts{Name: "openlambda", Host: host, Port: n, Username: "boss", Password: c.Token, NoAdvertise: true}
	if c.TLS != nil && len(c.TLS.Certificates) > 0 {
		// Both ends of a route prove who they are.
		o.Cluster.TLSConfig, o.Cluster.TLSTimeout = c.TLS.Clone(), routeTLSLimit.Seconds()
		o.Cluster.TLSConfig.ClientCAs, o.Cluster.TLSConfig.ClientAuth = c.TLS.RootCAs, tls.RequireAndVerifyClientCert
	}
	for _, p := range c.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", User: url.UserPassword("boss", c.Token), Host: p})
	}
	return o, nil
}
