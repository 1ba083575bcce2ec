package catalog

// Sources.
const (
	paper     = "CIDRE, ASPLOS'25"
	ours      = "this project"
	textbook  = "textbook"
	stock     = "OpenLambda's keep-alive"
	greedy    = "FaasCache, ASPLOS'21"
	histogram = "Serverless in the Wild, ATC'20"
	rainbow   = "RainbowCake, ASPLOS'24"
	icebreak  = "IceBreaker, ASPLOS'22"
	crunch    = "CodeCrunch, ASPLOS'24"
	flameSrc  = "Flame, ASPLOS'23"
	ensureSrc = "ENSURE, ACSOS'20"
	knativeIn = "Knative Serving; Dirigent, SOSP'24"
)

// presets lists the combinations that have a name, CIDRE's family first.
func presets() []Entry {
	p := func(name, scalerName, evictorName, confidence, source, summary string) Entry {
		return Entry{
			Name: name, Kind: preset, Scaler: scalerName, Evictor: evictorName,
			Confidence: confidence, Source: source, Summary: summary,
		}
	}
	return []Entry{
		p("cidre", "css", "cip", "A", paper+", s. 3", "CSS with CIP, wait bounded by a timer; the default"),
		p("cidre-literal", "css-literal", "cip", "A", paper+", s. 3", "CSS as the text says: completed waits only, no timer"),
		p("cidre-bss", "bss", "cip", "A", paper+", s. 3.2", "every blocked request races a start, with CIP"),
		p("cidre+", "expected-wait", "marginal", "A", ours, "start by expected wait, evict by marginal value"),
		p("css", "css", "faascache", "A", paper+", Fig. 15", "CSS alone: FaasCache evicts"),
		p("bss", "bss", "faascache", "A", paper+", Fig. 15", "BSS alone: FaasCache evicts"),
		p("cip", "coldstart", "cip", "A", paper+", Fig. 15", "CIP alone: a blocked request is bound to its start"),
		p("cidre+evict", "css", "marginal", "A", ours, "ablation of cidre+: CSS, evict by marginal value"),
		p("cidre+evict-bss", "bss", "marginal", "A", ours, "ablation of cidre+: BSS, evict by marginal value"),
		p("cidre+wait", "expected-wait", "cip", "A", ours, "ablation of cidre+: start by expected wait, CIP"),
		p("cidre+wait-lru", "expected-wait", "lru", "A", ours, "ablation of cidre+: start by expected wait, LRU"),
		p("faascache", "coldstart", "faascache", "A", greedy, "greedy-dual keep-alive"),
		p("faascache-c", "coldstart", "faascache-c", "A", paper+", Eq. 2", "FaasCache divided by the function's sandboxes"),
		p("lru", "coldstart", "lru", "A", textbook, "least recently used goes first"),
		p("lfu", "coldstart", "lfu", "C", textbook, "least often invoked function goes first"),
		p("ttl", "coldstart", "ttl", "B", stock, "a fixed time after the last use (10 min)"),
		p("queue-length", "queue-length", "faascache", "A", paper+", s. 2.4", "up to L requests wait behind each busy sandbox"),
		p("hybrid-histogram", "coldstart", "hybrid-histogram", "A/C", histogram, "keeps and prewarms by a histogram of idle times"),
		p("rainbowcake", "coldstart", "rainbowcake", "A", rainbow, "demotes idle sandboxes to layers that functions share"),
		p("icebreaker", "coldstart", "icebreaker", "B", icebreak, "prewarms by a Fourier forecast of concurrency"),
		p("codecrunch", "coldstart", "codecrunch", "B/C", crunch, "keep-alive and compression within a budget"),
		p("flame", "coldstart", "flame", "C", flameSrc, "the function with the lowest recent rate goes first"),
		p("ensure", "coldstart", "ensure", "C", ensureSrc, "keeps what the load needs and a square root of it"),
		p("knative", "coldstart", "knative", "A", knativeIn, "concurrency autoscaler, blocked requests get a start"),
		p("knative-queue", "knative-queue", "knative-queue", "A", knativeIn, "concurrency autoscaler, blocked requests queue for it"),
		p("offline", "offline", "offline", "A", paper+", s. 4", "knows the future: Belady eviction, exact waits"),
		p("offline-bss", "bss", "offline", "A", paper+", s. 4", "knows the future for eviction only, races as BSS"),
	}
}
