package nat

import (
	"log/slog"
	"slices"
)

// spare is how many namespaces nobody uses are kept beyond those that are kept
// ready. What a burst of sandboxes took beyond that is given back to the kernel:
// a namespace with its link takes some hundred KB.
const spare = 64

// numbers are those of the next batch of namespaces, none if all are in use.
// mu is held.
func (n *Network) numbers() []int {
	all := slices.Clone(n.vacant[:min(batch, len(n.vacant))])
	for next := n.next; len(all) < batch && next <= pairs(n.share); next++ {
		all = append(all, next)
	}
	return all
}

// taken notes that a namespace has the number. mu is held.
func (n *Network) taken(number int) {
	if i := slices.Index(n.vacant, number); i >= 0 {
		n.vacant = slices.Delete(n.vacant, i, i+1)
		return
	}
	n.next = number + 1
}

// shrink removes namespaces that were unused for longest, if there are too many.
func (n *Network) shrink() {
	n.making.Lock()
	defer n.making.Unlock()
	n.mu.Lock()
	surplus := max(0, len(n.free)-n.cfg.Ahead-spare)
	gone := slices.Clone(n.free[:surplus])
	n.free = slices.Delete(n.free, 0, surplus)
	n.mu.Unlock()
	for _, l := range gone {
		err := remove(l.link)
		l.file.Close()
		if err != nil {
			n.cfg.Logger.Warn("cannot remove network", slog.String("link", l.link), slog.Any("error", err))
			continue // its number stays taken, for the link may be there
		}
		n.mu.Lock()
		n.vacant = append(n.vacant, l.number)
		n.mu.Unlock()
	}
}
