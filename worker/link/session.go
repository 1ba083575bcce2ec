package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
)

// session is one connection to one boss.
type session struct {
	link *Link
	boss string // URL
	conn io.ReadWriteCloser
	wake chan struct{} // the load may have changed
	sent api.Load      // what the boss knows
}

// session joins a boss and stays with it until the connection breaks.
func (l *Link) session(ctx context.Context, boss string) error {
	s, err := l.join(ctx, boss)
	if err != nil {
		return err
	}
	l.cfg.Logger.Info("joined boss", slog.String("boss", boss))
	l.mu.Lock()
	l.sessions[s] = struct{}{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.sessions, s)
		l.mu.Unlock()
		l.cfg.Node.Kafka(boss, nil, false)
	}()
	return s.run(ctx)
}

// join says hello and switches the connection to the link's protocol.
func (l *Link) join(ctx context.Context, boss string) (*session, error) {
	load := l.cfg.Node.Load()
	text, err := json.Marshal(api.Hello{
		Link: api.LinkVersion, Name: l.cfg.Name, Instance: l.instance, URL: l.cfg.URL, Version: l.cfg.Version, Setup: l.cfg.Setup, Load: load,
	})
	if err != nil {
		return nil, fmt.Errorf("say hello: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, boss+api.PathJoin, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("say hello: %w", err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", api.UpgradeLink)
	req.Header.Set("Content-Type", "application/json")
	if l.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.cfg.Token)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("join boss: %w", err)
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return &session{link: l, boss: boss, conn: conn, wake: make(chan struct{}, 1), sent: load}, nil
}

// refusal is the error that a boss' answer stands for.
func refusal(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("join boss: %s: %w", resp.Status, err)
	}
	var p api.Problem
	if json.Unmarshal(text, &p) == nil && p.Detail != "" {
		return fmt.Errorf("join boss: %s: %w", resp.Status, &p)
	}
	return fmt.Errorf("join boss: %s", resp.Status)
}

// run reports until the connection breaks or ctx ends.
func (s *session) run(ctx context.Context) error {
	// Whatever ends first closes the connection, which ends the rest.
	var once sync.Once
	var why error
	end := func(err error) {
		once.Do(func() {
			why = errors.Join(err, s.conn.Close())
		})
	}
	inner, cancel := context.WithCancel(ctx)
	heard := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		end(s.listen(func() {
			select {
			case heard <- struct{}{}:
			default: // that is known already
			}
		}))
		cancel()
	})
	wg.Go(func() { end(silence(inner, heard)) })
	wg.Go(func() { end(s.report(inner)) })
	<-inner.Done()
	end(context.Cause(ctx))
	wg.Wait()
	cancel()
	return why
}

// maxLate is how often silence is put down to this machine, if it was too busy
// to hear.
const maxLate = 5

// silence waits until the boss was not heard for api.LostAfter, or ctx ends.
func silence(ctx context.Context, heard <-chan struct{}) error {
	t := time.NewTimer(api.LostAfter)
	defer t.Stop()
	due, late := time.Now().Add(api.LostAfter), 0
	for {
		select {
		case <-heard:
			late = 0
		case <-t.C:
			if late++; late == maxLate || !pause.Late(due) {
				return errors.New("the boss is silent")
			}
		case <-ctx.Done():
			return nil
		}
		due = time.Now().Add(api.LostAfter)
		t.Reset(api.LostAfter)
	}
}

// listen obeys notices until the connection breaks.
func (s *session) listen(heard func()) error {
	in := json.NewDecoder(s.conn)
	for {
		var n api.Notice
		if err := in.Decode(&n); err != nil {
			return fmt.Errorf("hear boss: %w", err)
		}
		heard()
		if n.Drain != nil {
			s.link.cfg.Node.Drain(*n.Drain)
		}
		if len(n.Changed) > 0 {
			s.link.cfg.Node.Changed(n.Changed)
		}
		if n.Kafka != nil {
			s.link.cfg.Node.Kafka(s.boss, *n.Kafka, true)
		}
	}
}

// report tells the load: on change, but not too often, and as a heartbeat.
func (s *session) report(ctx context.Context) error {
	beat := time.NewTicker(api.BeatEvery)
	defer beat.Stop()
	var last time.Time
	for {
		isBeat := false
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			isBeat = true
		case <-s.wake:
			if early := api.ReportEvery - time.Since(last); early > 0 && !pause.For(ctx, early) {
				return nil
			}
		}
		wrote, err := s.tell(isBeat)
		if err != nil {
			return err
		}
		if wrote {
			last = time.Now()
		}
	}
}

// tell writes what the boss does not know yet. Without news only a heartbeat
// is written.
func (s *session) tell(beat bool) (wrote bool, err error) {
	now := s.link.cfg.Node.Load()
	news := diff(s.sent, now)
	if !beat && len(news.Functions) == 0 && now.InFlight == s.sent.InFlight && now.Draining == s.sent.Draining {
		return false, nil
	}
	s.sent = now
	text, err := json.Marshal(api.Report{Beat: beat, Load: news})
	if err != nil {
		return false, fmt.Errorf("write report: %w", err)
	}
	if _, err := s.conn.Write(append(text, '\n')); err != nil {
		return false, fmt.Errorf("write report: %w", err)
	}
	return true, nil
}

// diff is now with only the functions that differ from old; those that are
// gone are there with zeros.
func diff(old, now api.Load) api.Load {
	out := now
	out.Functions = nil
	add := func(name string, l api.FunctionLoad) {
		if out.Functions == nil {
			out.Functions = map[string]api.FunctionLoad{}
		}
		out.Functions[name] = l
	}
	for name, l := range now.Functions {
		if old.Functions[name] != l {
			add(name, l)
		}
	}
	for name := range old.Functions {
		if _, ok := now.Functions[name]; !ok {
			add(name, api.FunctionLoad{})
		}
	}
	return out
}
