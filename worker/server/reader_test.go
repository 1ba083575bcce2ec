package server

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	minimage "github.com/open-lambda/open-lambda/min-image"
)

// readerProgram reads requests with the runtime's own reader, each sent with
// its length before it, and says in a line how it understood them.
const readerProgram = `
import base64, json, struct, sys
from olrt.http1 import ProtocolError, RequestReader
def code(b): return base64.b64encode(bytes(b)).decode()
while True:
    size = sys.stdin.buffer.read(4)
    if not size: break
    reader = RequestReader(1 << 20, lambda: None)
    said = {"requests": 0, "refused": ""}
    try:
        reader.feed(sys.stdin.buffer.read(struct.unpack(">I", size)[0]))
        while (req := reader.next()) is not None:
            said["requests"] += 1
            said.update(method=req.method.decode("latin-1"), target=code(req.target), body=code(req.body), id=(req.ident or b"").decode())
    except ProtocolError as e:
        said["refused"] = "%d %s" % (e.status, e.text)
    said["left"] = len(reader.buf)
    print(json.dumps(said), flush=True)
`

// reading is how the runtime understood what it was sent.
type reading struct {
	Requests     int
	Refused      string
	Method, ID   string
	Target, Body []byte
	Left         int // bytes that it waits for more after
}

// reader is a process with the runtime's reader.
type reader struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startReader(f *testing.F) *reader {
	f.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		f.Skip("SKIPPED: no python3 on this machine, the runtime's reader was not compared")
	}
	dir := f.TempDir()
	if err := os.CopyFS(dir, minimage.Runtime()); err != nil {
		f.Fatal(err)
	}
	cmd := exec.Command(python, "-c", readerProgram)
	cmd.Env = []string{"PYTHONPATH=" + dir, "PYTHONDONTWRITEBYTECODE=1"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := in.Close(); err != nil {
			f.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			f.Error(err)
		}
	})
	return &reader{in, bufio.NewReader(out)}
}

func (r *reader) read(t *testing.T, text []byte) reading {
	t.Helper()
	if _, err := r.in.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		t.Fatal(err)
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var got reading
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return got
}
