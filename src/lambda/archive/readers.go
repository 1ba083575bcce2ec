package archive

import (
	"errors"
	"io"
)

// countingReader counts the packed bytes and stops at a limit.
type countingReader struct {
	r    io.Reader
	n    int64
	left int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, refuse("", "is larger than the limit on uploads")
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.left -= int64(n)
	return n, err
}

// ratioReader reads unpacked bytes and refuses when they are too many in all
// or out of proportion: headers, gaps and what follows the end count too.
type ratioReader struct {
	r io.Reader
	x *extraction
}

func (b *ratioReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	x := b.x
	x.unpacked += int64(n)
	if x.unpacked > ratioFrom && x.unpacked > x.packed.n*x.lim.Ratio {
		return 0, refuse("", "unpacks to more than %d times its size", x.lim.Ratio)
	}
	if x.unpacked > x.lim.Total+int64(x.lim.Entries)*entryOverhead+ratioFrom {
		return 0, refuse("", "unpacks to more than %d bytes", x.lim.Total)
	}
	return n, err
}

// entryOverhead is what the tar format may add to an entry: header, padding,
// extended header with a long path.
const entryOverhead = 4096

// readErrors marks a failure to read as the archive's fault, so that it is
// told from a failure to write, which is ours.
type readErrors struct {
	r io.Reader
	x *extraction
}

func (e readErrors) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = e.x.broken(err)
	}
	return n, err
}
