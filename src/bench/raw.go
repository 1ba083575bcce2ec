package bench

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// RawUnix measures round trips on one connection, which it closes: the bytes
// of a request are written, the answer is read to its end. Nothing lies
// between but the kernel and the server, so it is the floor of anything that
// speaks to it. The answer must have a Content-Length.
func RawUnix(conn net.Conn, body string, n int) (_ []time.Duration, err error) {
	defer func() { err = errors.Join(err, conn.Close()) }()
	request := []byte("POST / HTTP/1.1\r\nHost: sandbox\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	in := bufio.NewReader(conn)
	times := make([]time.Duration, 0, n)
	for range n {
		begin := time.Now()
		if _, err := conn.Write(request); err != nil {
			return nil, fmt.Errorf("measure socket: %w", err)
		}
		if err := readAnswer(in); err != nil {
			return nil, fmt.Errorf("measure socket: %w", err)
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}

// readAnswer reads one whole answer with as little work as it takes.
func readAnswer(in *bufio.Reader) error {
	status, err := in.Peek(len("HTTP/1.1 200"))
	if err != nil {
		return err
	}
	if string(status) != "HTTP/1.1 200" {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return errors.New(resp.Status)
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			_, err := in.Discard(length)
			return err
		}
		if n, ok := contentLength(line); ok {
			length = n
		}
	}
}

// contentLength reads the header line "Content-Length: n", in any case.
func contentLength(line []byte) (int, bool) {
	const name = "content-length:"
	if len(line) <= len(name) {
		return 0, false
	}
	for i := range len(name) {
		c := line[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return 0, false
		}
	}
	n := 0
	for _, c := range line[len(name):] {
		if '0' <= c && c <= '9' {
			n = 10*n + int(c-'0')
		}
	}
	return n, true
}
