package soak

import (
	"bytes"
	"fmt"
	"strconv"
)

// logged is what logs tell.
type logged struct {
	runs  map[string]int // by request
	begun int            // requests among them that the kill of the worker cut off
	lost  int            // lines that the disk did not take
}

// lastLost is how many lines a log may lack at its end without having had the
// occasion to say so.
const lastLost = 2

// logsMatch counts how often each request has run. With whole, everything that
// was answered well must be there, but for lines that the disk did not take.
func (r *runner) logsMatch(whole bool) (logged, error) {
	r.life.mu.Lock()
	defer r.life.mu.Unlock()
	found := logged{runs: map[string]int{}}
	for name := range r.life.sent {
		text, err := r.node.Log(name)
		if err != nil {
			return found, err
		}
		found.read(text)
	}
	missing := 0
	for id, f := range r.life.ran {
		n := found.runs[id]
		if n > 1 {
			return found, fmt.Errorf("request %s of %s ran %d times", id, f.lambda, n)
		}
		if n == 0 && f.good && whole {
			missing++
		}
		if f.cut {
			found.begun += n
		}
	}
	most := 0
	if r.cfg.Faulty { // the last lines that were lost are admitted with the next that is not
		most = found.lost + lastLost*len(r.life.sent)
	}
	if missing > most {
		return found, fmt.Errorf("%d requests that were answered well did not run; the logs may lack %d lines", missing, most)
	}
	return found, nil
}

// read reads what the lambda "soak" prints.
func (l *logged) read(text []byte) {
	for line := range bytes.Lines(text) {
		if _, id, ok := bytes.Cut(line, []byte("ran ")); ok && len(id) >= idLength {
			l.runs[string(id[:idLength])]++
		}
		if _, rest, ok := bytes.Cut(line, []byte(" - [")); ok && bytes.Contains(rest, []byte("lines lost:")) {
			count, _, _ := bytes.Cut(rest, []byte(" "))
			if n, err := strconv.Atoi(string(count)); err == nil {
				l.lost += n
			}
		}
	}
}
