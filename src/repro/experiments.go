package repro

// spot is where something is measured: a workload with a cache of so many GB.
type spot struct {
	workload string
	gb       float64
}

func (at spot) point(s Scene, policy string) Point { return s.at(at.workload, policy, at.gb) }

// with gives the workload other parameters, on another cache.
func (at spot) with(parameters string) spot { return spot{at.workload + ":" + parameters, at.gb} }
func (at spot) on(gb float64) spot          { return spot{at.workload, gb} }

// mapSpot is a cell of the robustness map with as many requests in a burst: at 20 the
// one in which CIDRE loses most.
func mapSpot(burst float64) spot {
	p := place{burst: burst, cold: 200, memory: 6}.point(Scene{}, "cidre")
	return spot{p.Workload, p.GB()}
}

// causeBases are the workloads as they are.
func causeBases() (azure, fc, mapped spot) {
	return spot{"azure-like", defaultGB}, spot{"fc-like-faascache", defaultGB}, mapSpot(20)
}

// experiment changes one thing and tells what should follow if the cause that
// docs/reproduction.md gives under the letter is right: what is seen there is more,
// or less, than what it is compared with.
type experiment struct {
	letter          string
	what            string
	there, compared seen
	rises           bool
}

// seen is an effect at a spot.
type seen struct {
	spot
	effect
}

func (e seen) measure(s Scene) measure { return e.of(s, e.spot) }

// changed compares an effect with the same one on another workload or cache.
func changed(letter, what string, from, to spot, e effect, rises bool) experiment {
	return experiment{letter, what, seen{to, e}, seen{from, e}, rises}
}

// instead compares the effect of one policy with that of another in its place.
func instead(letter, what string, at spot, of, in effect, rises bool) experiment {
	return experiment{letter, what, seen{at, of}, seen{at, in}, rises}
}

// comparedPolicies are those of instead: untimed is CIDRE without the start that follows a
// wait of one cold start, patient lets a new sandbox idle longer before it holds the race
// for a waste.
func comparedPolicies() (cidre, bss, untimed, patient contender) {
	all := only("CIDRE", "CIDRE_BSS")
	return all[0], all[1], contender{name: "CIDRE without its timer", policy: "cidre:timer=off"},
		contender{name: "CIDRE with T_e = 75th percentile", policy: "cidre:te=p75"}
}

// experiments hold the share of cold starts under FaasCache near that of the workload as it is
// where only the shape of the load is to change, by the cache's size.
func experiments() []experiment {
	azure, fc, mapped := causeBases()
	cidre, bss, untimed, patient := comparedPolicies()
	f := effects()
	return []experiment{
		changed("H", "functions are called more: 130 functions share the requests", azure, azure.with("functions=130").on(80), f.delayed, true),
		changed("H", "much more: 66 functions", azure, azure.with("functions=66").on(60), f.delayed, true),
		changed("I", "the same: what CSS adds to CIP and BSS", azure, azure.with("functions=66").on(60), f.cidre, true),
		changed("I", "no bursts", azure, azure.with("even=1"), f.cidre, true),
		changed("I", "bursts of eight", azure, azure.with("burst=8"), f.cidre, false),
		changed("I", "twice the memory", azure, azure.on(2*defaultGB), f.css, true),
		changed("O", "FC with bursts of two, not 4.7", fc, fc.with("burst=2"), f.cidre, true),
		changed("O", "the same with less memory", fc, fc.with("burst=2").on(70), f.cidre, true),
		changed("O", "FC without bursts", fc, fc.with("even=1"), f.cidre, true),
		changed("O", "the same with less memory", fc, fc.with("even=1").on(60), f.cidre, true),
		changed("E", "functions are unlike: a share of rank^-1.2", azure, azure.with("zipf_s=1.2"), f.cip, false),
		changed("E", "the same with less memory", azure, azure.with("zipf_s=1.2").on(60), f.cip, false),
		changed("E", "twice the memory", azure, azure.on(2*defaultGB), f.cip, true),
		changed("N", "executions without a tail", azure, azure.with("exec_sigma=0.3,exec_function=0"), f.slowest, false),
		changed("P", "the map's worst cell without bursts", mapped, mapSpot(1), f.cidre, true),
		instead("P", "CSS in place of BSS: it lets a burst wait for busy sandboxes", mapped, soonerOf(cidre), soonerOf(bss), false),
		instead("P", "it saves starts", mapped, startsOf(cidre), startsOf(bss), false),
		instead("P", "it saves cold starts", mapped, coldOf(cidre), coldOf(bss), false),
		instead("P", "without the timer, which starts sandboxes after all: it saves starts", mapped, startsOf(untimed), startsOf(cidre), false),
		instead("P", "without the timer: the late starts are what costs", mapped, overheadOf(untimed), overheadOf(cidre), false),
		instead("P", "with a longer T_e: it learns less often that racing does not pay", mapped, overheadOf(patient), overheadOf(cidre), false),
	}
}

// effect is a figure of a spot.
type effect struct {
	name     string
	policies []string // that it compares
	of       func(s Scene, at spot) measure
}

// gained is by how many percent the overhead of a policy is below another's.
func gained(name, policy, than string) effect {
	return effect{name, []string{policy, than}, func(s Scene, at spot) measure {
		return reduction(at.point(s, policy), at.point(s, than), overhead)
	}}
}

// valued is a value of a policy.
func valued(name, policy string, value func(*Measured) float64) effect {
	return effect{name, []string{policy}, func(s Scene, at spot) measure { return of(at.point(s, policy), value) }}
}

// commonEffects are measured at each spot.
type commonEffects struct {
	faascache, cip, css, cidre, delayed, cidreCold, slowest effect
}

func effects() commonEffects {
	return commonEffects{
		faascache: valued("FaasCache: cold (%)", "faascache", cold),
		cip:       gained("CIP below FaasCache (%)", "cip", "faascache"),
		css:       gained("CSS below BSS (%)", "css", "bss"),
		cidre:     gained("CIDRE below CIDRE_BSS (%)", "cidre", "cidre-bss"),
		delayed: valued("CIDRE: delayed among the starts that are not warm (%)", "cidre", func(m *Measured) float64 {
			return 100 * delayed(m) / max(delayed(m)+cold(m), 1e-9)
		}),
		cidreCold: valued("CIDRE: cold (%)", "cidre", cold),
		slowest:   valued("CIDRE: 90th percentile end to end (ms)", "cidre", func(m *Measured) float64 { return m.Total.At(0.9) }),
	}
}

// all are in the order of the table.
func (e commonEffects) all() []effect {
	return []effect{e.faascache, e.cip, e.css, e.cidre, e.delayed, e.cidreCold, e.slowest}
}

// What follows is of the policies that experiments compare with one another.

func soonerOf(c contender) effect {
	return valued(c.name+": delayed starts that waited less than a cold start takes (%)", c.policy, func(m *Measured) float64 { return 100 * m.Sooner })
}

func startsOf(c contender) effect {
	return valued(c.name+": sandboxes started for 100 requests that found none free", c.policy, func(m *Measured) float64 {
		return 100 * float64(m.Result.Starts) / float64(max(1, m.Result.Cold+m.Result.Delayed))
	})
}

func coldOf(c contender) effect { return valued(c.name+": cold (%)", c.policy, cold) }

func overheadOf(c contender) effect { return valued(c.name+": overhead ratio (%)", c.policy, overhead) }
