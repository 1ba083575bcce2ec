package replay

// Spread is how evenly requests fell on workers.
type Spread struct {
	Workers   map[string]int `json:"workers"`     // requests answered by each
	MaxOfMean float64        `json:"max_mean"`    // the largest over the mean; 1 is even, 0 if nobody answered
	Cold      map[string]int `json:"cold_starts"` // of each
}

// MeasureSpread counts by the name that each answer bears. A worker that
// answered nothing is not known of, unless it is one of the names.
func MeasureSpread(samples []Sample, names ...string) Spread {
	s := Spread{Workers: map[string]int{}, Cold: map[string]int{}}
	for _, name := range names {
		s.Workers[name] = 0
	}
	var counts []int
	for i := range samples {
		if samples[i].Err == nil {
			s.Workers[samples[i].Worker]++
			if samples[i].Start == "cold" {
				s.Cold[samples[i].Worker]++
			}
		}
	}
	for _, n := range s.Workers {
		counts = append(counts, n)
	}
	s.MaxOfMean = MaxOfMean(counts)
	return s
}

// MaxOfMean is the largest of some counts over their mean, 0 if all are 0.
func MaxOfMean(counts []int) float64 {
	sum, most := 0, 0
	for _, n := range counts {
		sum += n
		most = max(most, n)
	}
	if sum == 0 {
		return 0
	}
	return float64(most) * float64(len(counts)) / float64(sum)
}
