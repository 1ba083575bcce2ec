package rights

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"
)

// Whatever a sandbox or a zygote sends, with whatever files: messages are read
// as they were sent, or the first fault ends the talk; no file stays open.
func FuzzReceive(f *testing.F) {
	framed := func(texts ...string) (out []byte) {
		for _, s := range texts {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
		}
		return out
	}
	for _, seed := range [][]byte{
		framed(`{"Text":"a"}`), framed(`{"Text":"a"}`, `{"Text":"b"}`), framed(`[]`), framed(``), {}, {0}, {0xff, 0xff, 0xff, 0xff}, framed(`{"Text":"a"`), framed("null")[:5],
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, files uint8) {
		if len(text) > 64<<10 {
			return // more than a socket holds while nobody reads
		}
		before := opened(t)
		talk(t, text, int(files%5))
		if after := opened(t); after != before {
			t.Errorf("%d files are open, %d before", after, before)
		}
	})
}

// talk sends the bytes, with open files, and reads until something is wrong.
func talk(t *testing.T, text []byte, files int) {
	t.Helper()
	a, b := pair(t)
	defer a.Close()
	defer b.Close()
	sendRaw(t, a, text, files)
	a.Close()
	for {
		var got json.RawMessage
		fds, err := b.Receive(context.Background(), &got, 1)
		closeAll(fds)
		if err != nil {
			return
		}
		size := binary.BigEndian.Uint32(text)
		if !bytes.Equal(got, text[4:4+size]) {
			t.Errorf("got %q of %q", got, text)
		}
		text = text[4+size:]
	}
}

// opened counts this process' open files.
func opened(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
