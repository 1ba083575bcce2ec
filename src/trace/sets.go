package trace

import (
	"bytes"
	_ "embed" // the data of Busiest and Folded
	"time"
)

const (
	// FoldedRequests is the size of S2.
	FoldedRequests = 604_491
	// PaperMemScale gives S2 the CIDRE paper's memory per request, 448 MB.
	PaperMemScale = 3.67
	// PaperExecCap cuts executions that the paper's testbed does not show.
	PaperExecCap = 400 * time.Millisecond
)

//go:embed data/s1.csv.gz
var busiest []byte

//go:embed data/s2.csv.gz
var folded []byte

// Busiest is S1: the busiest 30 minutes of the 500-function sample of the
// Azure Functions 2019 trace, 312 functions, 205,157 requests, unscaled. Its
// origin and licence (CC-BY 4.0) are in data/PROVENANCE.md.
func Busiest() ([]Function, error) { return Read("s1.csv.gz", bytes.NewReader(busiest)) }

// Folded is S2: 330 windows of 30 minutes of the functions of the same sample,
// each taken as a function of its own, 604,491 requests: the size of the CIDRE
// paper's sample. The counts are real, but were not simultaneous; say so
// wherever results of it are shown (FoldedNote).
func Folded() ([]Function, error) { return Read("s2.csv.gz", bytes.NewReader(folded)) }

// FoldedNote goes with every result from Folded.
const FoldedNote = "S2 takes 30-minute windows of real functions as functions of their own: the counts are real, but were not simultaneous"
