package catalog

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/cidreplus"
	"github.com/open-lambda/open-lambda/policies/codecrunch"
	"github.com/open-lambda/open-lambda/policies/ensure"
	"github.com/open-lambda/open-lambda/policies/faascache"
	"github.com/open-lambda/open-lambda/policies/flame"
	"github.com/open-lambda/open-lambda/policies/hybridhistogram"
	"github.com/open-lambda/open-lambda/policies/icebreaker"
	"github.com/open-lambda/open-lambda/policies/knative"
	"github.com/open-lambda/open-lambda/policies/lfu"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/policies/offline"
	"github.com/open-lambda/open-lambda/policies/rainbowcake"
	"github.com/open-lambda/open-lambda/policies/ttl"
)

// evictorPart is an evictor that has a name. What it makes may be a
// prewarmer as well.
type evictorPart struct {
	Entry
	make func(*settings) (policies.Evictor, error)
}

func findEvictor(name string) *evictorPart {
	for _, v := range evictors() {
		if v.Name == name {
			return &v
		}
	}
	return nil
}

func evictors() []evictorPart {
	v := func(name, confidence, source, summary string, makes func(*settings) (policies.Evictor, error), params ...Param) evictorPart {
		return evictorPart{Entry{
			Name: name, Kind: evictor, Confidence: confidence, Source: source, Summary: summary, Params: params,
		}, makes}
	}
	needs := func(p evictorPart, caps string) evictorPart {
		p.Caps = []string{caps}
		return p
	}
	clock := Param{"clock", "choice", "zero", "zero, inflated", "clock of a new sandbox that needed no eviction: 0, or the last victim's priority"}
	tau := Param{"tau", "duration", "5m0s", "above 0", "time after which an arrival counts 1/e"}
	return append([]evictorPart{
		v("cip", "A", paper+", Eq. 3", "clock + freq * cost / (size * |F|)", newCIP, clock, coldPerMB()),
		v("marginal", "A", ours, "arrivals that needed the function's last sandbox * cost / size", newMarginal, tau, coldPerMB()),
		v("faascache", "A", paper+", Eq. 1", "clock + freq * cost / size", newFaasCache(false), coldPerMB()),
		v("faascache-c", "A", paper+", Eq. 2", "clock + freq * cost / (size * K)", newFaasCache(true), coldPerMB()),
		v("lru", "A", textbook, "least recently used goes first", newLRU),
		v("lfu", "C", textbook, "least often invoked function goes first", newLFU),
		v("ttl", "B", stock, "destroys after a fixed time", newTTL, ttlParams()...),
		v("hybrid-histogram", "A/C", histogram, "destroys and prewarms by a histogram of idle times", newHistogram, histogramParams()...),
		needs(v("rainbowcake", "A", rainbow, "demotes by layers, prewarms at a quantile", newRainbow, rainbowParams()...), CapLayers),
		v("icebreaker", "B", icebreak, "keeps and prewarms what is forecast", newIceBreaker, icebreakerParams()...),
		needs(v("codecrunch", "B/C", crunch, "keep-alive and compression by a knapsack", newCodeCrunch, codecrunchParams()...), CapCompress),
		v("flame", "C", flameSrc, "coldest function first", newFlame, tau),
		v("ensure", "C", ensureSrc, "prewarms to the load, surplus times out", newEnsure, ensureParams()...),
		v("knative", "A", knativeIn, "prewarms and destroys to the desired scale", newKnative(false), knativeParams("off")...),
		v("knative-queue", "A", knativeIn, "knative, with starts that may evict", newKnative(true), knativeParams("on")...),
		needs(v("offline", "A", paper+", s. 4", "Belady: used furthest in the future goes first", newBelady), CapOracle),
	}, customEvictors()...)
}

func newLRU(*settings) (policies.Evictor, error) { return &lru.LRU{}, nil }

func newLFU(*settings) (policies.Evictor, error) { return &lfu.LFU{}, nil }

func newBelady(s *settings) (policies.Evictor, error) { return offline.NewBelady(s.Oracle) }

func newCIP(s *settings) (policies.Evictor, error) {
	var cfg cidre.CIPConfig
	s.positive("cold-per-mb", &cfg.ColdPerMB)
	cfg.Inflated = s.choice("clock", "zero", "inflated") == 1
	return cidre.NewCIP(cfg), nil
}

func newMarginal(s *settings) (policies.Evictor, error) {
	cfg := cidreplus.DefaultEvict()
	s.duration("tau", &cfg.Tau)
	s.positive("cold-per-mb", &cfg.ColdPerMB)
	return cidreplus.NewMarginal(cfg)
}

func newFaasCache(perSandbox bool) func(*settings) (policies.Evictor, error) {
	return func(s *settings) (policies.Evictor, error) {
		cfg := faascache.Config{PerSandbox: perSandbox}
		s.positive("cold-per-mb", &cfg.ColdPerMB)
		return faascache.New(cfg), nil
	}
}

func newFlame(s *settings) (policies.Evictor, error) {
	tau := flame.DefaultTau
	s.duration("tau", &tau)
	return flame.New(tau)
}

func ttlParams() []Param {
	return []Param{
		{"ttl", "duration", "10m0s", "above 0", "time to live"},
		{"ttl-from", "choice", "idle", "idle, lifespan", "counted from the last use, or from the creation"},
	}
}

func newTTL(s *settings) (policies.Evictor, error) {
	keep := ttl.Default
	s.duration("ttl", &keep)
	from := []ttl.From{ttl.Idle, ttl.Lifespan}[s.choice("ttl-from", "idle", "lifespan")]
	return ttl.New(keep, from)
}

func histogramParams() []Param {
	return []Param{
		{"bin", "duration", "1m0s", "above 0", "width of a bin"},
		{"range", "duration", "4h0m0s", "at least one bin", "idle times beyond are out of bounds"},
		{"head", "share", "0.05", "0 to tail", "quantile of the idle time before which a prewarmed sandbox is ready"},
		{"tail", "share", "0.99", "head to 1", "quantile of the idle time after which nothing is kept"},
		{"margin", "share", "0.1", "0 to below 1", "the head is shortened and the tail lengthened by it"},
		{"cv", "number", "2", "0 and up", "least coefficient of variation of the bin counts of a representative histogram"},
		{"samples", "number", "10", "1 and up", "idle times below which a histogram is not representative"},
		{"fixed", "duration", "4h0m0s", "above 0", "keep-alive of a function whose histogram is not representative"},
	}
}

func newHistogram(s *settings) (policies.Evictor, error) {
	cfg := hybridhistogram.Default()
	s.duration("bin", &cfg.Bin)
	s.duration("range", &cfg.Range)
	s.float("head", &cfg.Head)
	s.float("tail", &cfg.Tail)
	s.float("margin", &cfg.Margin)
	s.float("cv", &cfg.CV)
	s.integer("samples", &cfg.MinSamples)
	s.duration("fixed", &cfg.Fixed)
	return hybridhistogram.New(cfg)
}

func rainbowParams() []Param {
	return []Param{
		{"q", "share", "0.8", "above 0, below 1", "quantile of the time to the next arrival that a layer is kept for"},
		{"alpha", "share", "0.996", "above 0, below 1", "weight of start-up time saved against memory held"},
		{"fallback", "duration", "10m0s", "above 0", "time to live of a layer without history"},
		{"min-ttl", "duration", "1m0s", "above 0", "shortest time to live"},
		{"max-ttl", "duration", "10m0s", "min-ttl and up", "longest time to live"},
		{"bare", "share", "0.2", "0 to 1", "share of the bare layer in cold start time and memory"},
		{"lang", "share", "0.4", "0 to 1 - bare", "share of the language layer in cold start time and memory"},
	}
}

func newRainbow(s *settings) (policies.Evictor, error) {
	cfg := rainbowcake.Default()
	s.float("q", &cfg.Quantile)
	s.float("alpha", &cfg.Alpha)
	s.duration("fallback", &cfg.Fallback)
	s.duration("min-ttl", &cfg.Min)
	s.duration("max-ttl", &cfg.Max)
	s.float("bare", &cfg.BareShare)
	s.float("lang", &cfg.LangShare)
	return rainbowcake.New(cfg)
}

func icebreakerParams() []Param {
	return []Param{
		{"history", "number", "120", "4 to 1440", "minutes of history that the forecast is made from"},
		{"harmonics", "number", "10", "0 and up", "harmonics of the residual that are kept"},
		{"threshold", "share", "0.3", "0 to 1", "least utility of a function whose forecast is acted upon"},
	}
}

func newIceBreaker(s *settings) (policies.Evictor, error) {
	cfg := icebreaker.Default()
	s.integer("history", &cfg.History)
	s.integer("harmonics", &cfg.Harmonics)
	s.float("threshold", &cfg.Threshold)
	return icebreaker.New(cfg)
}

func codecrunchParams() []Param {
	return []Param{
		{"ratio", "share", "0.4", "above 0, to 1", "memory of a compressed sandbox against a full one; 1 switches compression off"},
		{"restore-per-mb", "duration", "400µs", "0 and up", "time to decompress, per MB of the full sandbox"},
		{"budget", "share", "1", "above 0", "share of the pool's memory and time that keep-alive may take"},
		coldPerMB(),
	}
}

func newCodeCrunch(s *settings) (policies.Evictor, error) {
	cfg := codecrunch.Default()
	s.float("ratio", &cfg.Ratio)
	s.duration("restore-per-mb", &cfg.RestorePerMB)
	s.float("budget", &cfg.Budget)
	s.positive("cold-per-mb", &cfg.ColdPerMB)
	return codecrunch.New(cfg)
}

func ensureParams() []Param {
	return []Param{
		{"tick", "duration", "2s", "above 0", "time between two plans"},
		{"decay", "duration", "1m0s", "above 0", "time after which an arrival counts 1/e in the rate"},
		{"idle", "duration", "1m0s", "above 0", "idle time after which a surplus sandbox goes"},
	}
}

func newEnsure(s *settings) (policies.Evictor, error) {
	cfg := ensure.Default()
	s.duration("tick", &cfg.Tick)
	s.duration("decay", &cfg.Decay)
	s.duration("idle", &cfg.Idle)
	return ensure.New(cfg)
}

func knativeParams(mayEvict string) []Param {
	return []Param{
		{"stable", "duration", "1m0s", "panic and up", "window of normal decisions, a multiple of tick"},
		{"panic", "duration", "6s", "tick to stable", "window of panic decisions, a multiple of tick"},
		{"tick", "duration", "2s", "above 0", "time between two decisions"},
		{"threshold", "number", "2", "above 1", "ratio of wanted to ready sandboxes at which a panic begins"},
		{"target", "number", "1", "above 0", "requests in flight per sandbox"},
		{"up-rate", "number", "1000", "above 1", "most growth per decision, a factor"},
		{"down-rate", "number", "2", "above 1", "most shrinkage per decision, a divisor"},
		{"may-evict", "choice", mayEvict, "on, off", "whether the autoscaler's starts evict; knative-queue has no other starts"},
	}
}

func newKnative(mayEvict bool) func(*settings) (policies.Evictor, error) {
	return func(s *settings) (policies.Evictor, error) {
		cfg := knative.Default()
		cfg.MayEvict = mayEvict
		s.duration("stable", &cfg.Stable)
		s.duration("panic", &cfg.Panic)
		s.duration("tick", &cfg.Tick)
		s.float("threshold", &cfg.Threshold)
		s.float("target", &cfg.Target)
		s.float("up-rate", &cfg.UpRate)
		s.float("down-rate", &cfg.DownRate)
		s.toggle("may-evict", &cfg.MayEvict)
		return knative.New(cfg)
	}
}
