package trace

import (
	"bytes"
	_ "embed" // the data of Excerpt
)

//go:embed data/s1-excerpt.csv.gz
var excerpt []byte

// Excerpt is the piece of the Azure Functions 2019 trace that ships with the
// project: 12 functions, 30 minutes. Its origin and licence (CC-BY 4.0) are in
// data/PROVENANCE.md.
func Excerpt() ([]Function, error) {
	return Read("s1-excerpt.csv.gz", bytes.NewReader(excerpt))
}
