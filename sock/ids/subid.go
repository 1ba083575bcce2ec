package ids

import (
	"os"
	"strconv"
	"strings"
)

// subidUser is whose entry in /etc/subuid and /etc/subgid grants a range.
const subidUser = "openlambda"

// Range is a stretch of ids.
type Range struct{ First, Count uint32 }

// blockSize is the size of the blocks that the range is cut into: a small range
// is one block.
func (r Range) blockSize() uint32 { return min(blockSize, r.Count) }

func (r Range) blocks() int {
	if r.Count < 2*SliceSize {
		return 0 // a block needs a slice for the zygotes and one for a sandbox
	}
	return int(r.Count / r.blockSize())
}

// hostRange is the range that this host grants.
func hostRange() Range {
	uids, err := os.ReadFile("/etc/subuid")
	if err != nil {
		return Range{defaultFirst, defaultCount}
	}
	gids, err := os.ReadFile("/etc/subgid")
	if err != nil {
		return Range{defaultFirst, defaultCount}
	}
	u, ok := granted(string(uids))
	// Both must agree, for a sandbox' user and group have the same number.
	if g, same := granted(string(gids)); ok && same && u == g {
		return u
	}
	return Range{defaultFirst, defaultCount}
}

// granted reads subuid(5): name, first id and count on each line.
func granted(text string) (Range, bool) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 3 || fields[0] != subidUser {
			continue
		}
		first, err1 := strconv.ParseUint(fields[1], 10, 31)
		count, err2 := strconv.ParseUint(fields[2], 10, 31)
		if err1 == nil && err2 == nil && first >= 1000 && first+count <= 1<<31-1 {
			return Range{uint32(first), uint32(count)}, true
		}
	}
	return Range{}, false
}
