package repro

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The paper's values, see paper/PROVENANCE.md.
//
//go:embed paper/*.csv
var paperFiles embed.FS

// paperTable is one of the paper's files.
type paperTable struct {
	name string
	rows [][]string
}

// paper reads a file by the beginning of its name.
func paper(prefix string) (paperTable, error) {
	entries, err := paperFiles.ReadDir("paper")
	if err != nil {
		return paperTable{}, fmt.Errorf("list the paper's values: %w", err)
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), prefix) })
	if i < 0 {
		return paperTable{}, fmt.Errorf("there are no values of the paper named %s", prefix)
	}
	f, err := paperFiles.Open("paper/" + entries[i].Name())
	if err != nil {
		return paperTable{}, fmt.Errorf("open the paper's values: %w", err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return paperTable{}, fmt.Errorf("read the paper's values: %w", err)
	}
	return paperTable{prefix, rows}, nil
}

// value returns a column of the row in which key columns have the given
// values (column, value, column, value, ...); NaN if the paper has none.
func (t paperTable) value(column string, key ...string) float64 {
	at := slices.Index(t.rows[0], column)
	for _, row := range t.rows[1:] {
		if at >= 0 && t.matches(row, key) {
			v, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				return math.NaN() // left empty
			}
			return v
		}
	}
	return math.NaN()
}

func (t paperTable) matches(row, key []string) bool {
	for i := 0; i+1 < len(key); i += 2 {
		if k := slices.Index(t.rows[0], key[i]); k < 0 || row[k] != key[i+1] {
			return false
		}
	}
	return true
}
