package rights

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

type note struct{ Text string }

// pair makes both ends of a socket.
func pair(t *testing.T) (a, b *Conn) {
	t.Helper()
	a, file, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if b, err = Take(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return a, b
}

func TestMessagesAndFiles(t *testing.T) {
	a, b := pair(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for sent := range 4 {
		for _, want := range []int{1, 3} {
			files := make([]*os.File, sent)
			for i := range files {
				files[i] = null
			}
			text := strings.Repeat("x", 1+sent*1000)
			if err := a.Send(note{text}, files...); err != nil {
				t.Fatal(err)
			}
			var got note
			fds, err := b.Receive(t.Context(), &got, want)
			// The kernel rounds room for one file up to room for two.
			if err != nil || got.Text != text || len(fds) < min(sent, want) || len(fds) > want+1 {
				t.Errorf("%d files, room for %d: got %d bytes, %d files, %v", sent, want, len(got.Text), len(fds), err)
			}
			for _, fd := range fds {
				if err := unix.Close(fd); err != nil {
					t.Errorf("file %d is not open: %v", fd, err)
				}
			}
		}
	}
}

func TestBadMessages(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, maxMessage+1)
	cases := map[string][]byte{
		"too long": long, "cut short": {0, 0, 0, 9, '{'}, "no length": {0, 0}, "no JSON": {0, 0, 0, 1, '{'}, "nothing": {},
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			if _, err := a.unix.Write(data); err != nil {
				t.Fatal(err)
			}
			a.Close()
			var got note
			_, err := b.Receive(t.Context(), &got, 1)
			if err == nil {
				t.Error("it is taken for a message")
			}
			if name == "nothing" && !errors.Is(err, io.EOF) {
				t.Errorf("the end is %v", err)
			}
		})
	}
}

func TestReceiveGivesUp(t *testing.T) {
	_, b := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Receive(ctx, &note{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestTakeRefusesOtherFiles(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Take(f); err == nil {
		t.Errorf("%v is taken for a socket", c)
	}
}

// sendRaw sends bytes that may be no message, the first of them with so many
// open files.
func sendRaw(t *testing.T, c *Conn, text []byte, files int) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if len(text) == 0 {
		return // files travel with bytes only
	}
	var oob []byte
	if files > 0 {
		fds := make([]int, files)
		for i := range fds {
			fds[i] = int(null.Fd())
		}
		oob = unix.UnixRights(fds...)
	}
	n, _, err := c.unix.WriteMsgUnix(text, oob, nil)
	if err == nil && n < len(text) {
		_, err = c.unix.Write(text[n:])
	}
	if err != nil {
		t.Fatal(err)
	}
}
