package ids

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Sizes, in ids. A sandbox needs its root, one user, and room for the ids that
// files in archives tend to have.
const (
	SliceSize = 1 << 10
	blockSize = 1 << 21
)

// Default range, see the package's documentation.
const (
	defaultFirst = 0x7000_0000
	defaultCount = 127 * blockSize
)

// lockFile is where blocks are claimed: byte n stands for block n. /run is
// emptied at boot, as the claims are.
const lockFile = "/run/openlambda/ids"

// ErrExhausted says that every block or slice is taken.
var ErrExhausted = errors.New("all are taken")

// Block is a claimed block of ids.
type Block struct {
	Index int    // of the host's blocks, from 0
	First uint32 // first id
	Count uint32 // ids
	lock  *os.File
}

// Claim takes a block for this process until Release or its end.
func Claim() (*Block, error) { return claim(lockFile, hostRange()) }

func claim(path string, r Range) (*Block, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("claim user ids: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claim user ids: %w", err)
	}
	for i := range r.blocks() {
		// A lock of the open file, not of the process: two workers may live in one.
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(i), Len: 1}
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
		if err == nil {
			return &Block{Index: i, First: r.First + uint32(i)*r.blockSize(), Count: r.blockSize(), lock: f}, nil
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			f.Close()
			return nil, fmt.Errorf("claim user ids: lock %s: %w", path, err)
		}
	}
	f.Close()
	return nil, fmt.Errorf("claim user ids: %d workers run on this host: %w", r.blocks(), ErrExhausted)
}

// Release gives the block back.
func (b *Block) Release() error {
	if err := b.lock.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("give user ids back: %w", err)
	}
	return nil
}

// String is the block as first and last id.
func (b *Block) String() string { return fmt.Sprintf("%d-%d", b.First, b.First+b.Count-1) }
