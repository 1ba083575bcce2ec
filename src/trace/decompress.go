package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// decompress looks at the first bytes: gzip and Zstandard are unpacked,
// anything else is passed on. Both unpack as they are read.
func decompress(r io.Reader) (io.Reader, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), r)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(whole)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// One decoder thread: the reader has no Close to end more of them.
		return zstd.NewReader(whole, zstd.WithDecoderConcurrency(1))
	}
	return whole, nil
}
