package jetstream

import (
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
	URL string // of a NATS with JetStream that runs elsewhere; "": embedded
	// Token is shown to an external NATS, and to the other bosses of a group.
	Token string

	Dir  string // of the embedded server's files
	Name string // of this boss in its group
	// Listen is host:port for the other bosses of the group; "": there are
	// none, and no port is opened.
	Listen string
	Peers  []string // host:port of the group's bosses; this one may be among them
	// Sync is when a write reaches the disk: "interval" (within 100 ms; what
	// was acknowledged survives the death of the process) or "always" (before
	// it is acknowledged; it survives the loss of power).
	Sync string
}

// syncEvery is the time of Sync "interval".
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
	if c.URL != "" {
		return nil
	}
	if c.Dir == "" {
		return errors.New("a directory is required")
	}
	if c.Listen == "" && len(c.Peers) > 0 {
		return errors.New("a group of bosses needs an address to listen on")
	}
	if c.Listen != "" && (c.Token == "" || c.Name == "") {
		return errors.New("a group of bosses needs a token, and a name for each")
	}
	return nil
}

// replicas is how many stores hold a value.
func (c *Config) replicas() int {
	if c.Listen != "" && len(c.Peers) >= 3 {
		return 3
	}
	return 1
}

func (c *Config) options() (*server.Options, error) {
	o := &server.Options{
		ServerName: c.Name, DontListen: true, JetStream: true, StoreDir: c.Dir,
		NoSigs: true, NoLog: true, MaxPayload: maxPayload, SyncInterval: syncEvery, SyncAlways: c.Sync == "always",
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
	for _, p := range c.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", User: url.UserPassword("boss", c.Token), Host: p})
	}
	return o, nil
}
