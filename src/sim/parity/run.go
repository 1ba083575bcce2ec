package parity

import (
	"context"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/faascache"
	"github.com/open-lambda/open-lambda/policies/firstcreated"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Count is what became of the calls.
type Count struct {
	Hits    int64 `json:"hits"`
	Misses  int64 `json:"misses"`
	Dropped int64 `json:"dropped"`
}

// Run plays calls under the peer's rules on a node of the given memory.
func Run(ctx context.Context, order faascache.PeerOrder, poolMB int64, profiles []trace.Profile, all []trace.Invocation) (Count, error) {
	peer := faascache.NewPeer(order)
	res, err := sim.Run(ctx, sim.Config{
		Workload: trace.FromSlice("parity", 0, profiles, all), Nodes: 1, PoolMB: poolMB, DropFull: true,
		Policy: func(policies.Oracle) (catalog.Policy, error) {
			return catalog.Policy{Scaler: coldstart.Scaler{}, Evictor: peer, Picker: firstcreated.Picker{}}, nil
		},
		Kill: func(now policies.Time, v policies.View, fn policies.FuncID) []policies.SandboxID {
			return peer.Stale(v, fn, now)
		},
	})
	if err != nil {
		return Count{}, err
	}
	return Count{Hits: res.Warm, Misses: res.Cold + res.Delayed, Dropped: res.Rejected}, nil
}

// Row is a line of the comparison.
type Row struct {
	Order  string `json:"order"`
	PoolMB int64  `json:"pool_mb"`
	Peer   Count  `json:"faascache_sim"` // the peer itself, whose ties follow the inside of its heap
	Want   Count  `json:"want"`          // an independent implementation, ties by creation
	Got    Count  `json:"got"`
}

// Exact reports whether ours gives exactly what it must.
func (r Row) Exact() bool { return r.Got == r.Want }

// Compare runs every line.
func Compare(ctx context.Context) ([]Row, error) {
	profiles, all, err := Input()
	if err != nil {
		return nil, err
	}
	calm := Count{19_673, 327, 0} // nothing is evicted and nothing expires
	rows := []Row{
		{Order: "gd", PoolMB: 8000, Peer: Count{18_380, 1_377, 243}, Want: Count{18_233, 1_503, 264}},
		{Order: "lru", PoolMB: 8000, Peer: Count{18_522, 1_236, 242}, Want: Count{18_527, 1_231, 242}},
		{Order: "gd", PoolMB: 32_000, Peer: calm, Want: calm},
		{Order: "lru", PoolMB: 32_000, Peer: calm, Want: calm},
		{Order: "ttl", PoolMB: 32_000, Peer: calm, Want: calm},
	}
	for i := range rows {
		if rows[i].Got, err = Run(ctx, orderOf(rows[i].Order), rows[i].PoolMB, profiles, all); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func orderOf(name string) faascache.PeerOrder {
	switch name {
	case "lru":
		return faascache.PeerLRU
	case "ttl":
		return faascache.PeerTTL
	}
	return faascache.PeerGD
}
