package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
)

// link is the connection of one worker.
type link struct {
	name string
	conn net.Conn
	in   *json.Decoder // read by run only

	mu sync.Mutex // held while one notice is written
}

// writeLimit is how long a worker may take to read a notice: its socket's
// buffer takes thousands of them.
const writeLimit = time.Second

func (l *link) greet() error {
	const text = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + api.UpgradeLink + "\r\n\r\n"
	if err := l.conn.SetDeadline(time.Now().Add(writeLimit)); err != nil {
		return fmt.Errorf("greet worker: %w", err)
	}
	if _, err := l.conn.Write([]byte(text)); err != nil {
		return fmt.Errorf("greet worker: %w", err)
	}
	return nil
}

// run takes over reports until the link breaks, which it does always.
func (l *link) run(s *fleet.Session) error {
	defer l.cut()
	for {
		var r api.Report
		if err := l.in.Decode(&r); err != nil {
			return err
		}
		if p := badFunctions(r.Load); p != nil {
			return p
		}
		if !s.Report(r) {
			return errors.New("the worker has a newer link")
		}
		if r.Beat {
			if err := l.send(api.Notice{}); err != nil {
				return err
			}
		}
	}
}

// patient reads what a worker says, which may be silent for api.LostAfter.
type patient struct{ conn net.Conn }

// maxLate is how often silence is put down to this machine, if it was too busy
// to hear.
const maxLate = 5

// Read is part of io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	for n := 1; ; n++ {
		due := time.Now().Add(api.LostAfter)
		if err := p.conn.SetReadDeadline(due); err != nil {
			return 0, err
		}
		got, err := p.conn.Read(b)
		if got > 0 || n == maxLate || !errors.Is(err, os.ErrDeadlineExceeded) || !pause.Late(due) {
			return got, err
		}
	}
}

// send writes a notice. After an error the link is cut.
func (l *link) send(n api.Notice) error {
	text, err := json.Marshal(n)
	if err != nil { // our own type: it marshals
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	if err == nil {
		_, err = l.conn.Write(append(text, '\n'))
	}
	if err != nil {
		l.cut()
		return fmt.Errorf("send notice to %s: %w", l.name, err)
	}
	return nil
}

// cut closes the connection, which ends run.
func (l *link) cut() { _ = l.conn.Close() } // a second time it has been closed already
