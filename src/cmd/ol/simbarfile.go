package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// barRow is a run, as bar.csv has it.
type barRow struct {
	workload string
	poolMB   int64
	policy   string
	seed     uint64
	sample   study.Sample
	hash     string
}

func barHead() []string {
	return []string{"workload", "pool_mb", "policy", "seed", "overhead_pct", "cold_pct", "action_hash"}
}

func writeBarRows(w io.Writer, rows []barRow) error {
	all := [][]string{barHead()}
	for _, r := range rows {
		all = append(all, []string{
			r.workload, strconv.FormatInt(r.poolMB, 10), r.policy, strconv.FormatUint(r.seed, 10),
			digits(r.sample.Overhead), digits(r.sample.Cold), r.hash,
		})
	}
	return writeRows(w, all)
}

// readBarRows reads what writeBarRows wrote.
func readBarRows(path string) (rows []barRow, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open runs: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := csv.NewReader(f)
	in.Comment = '#'
	in.FieldsPerRecord = len(barHead())
	all, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for i, fields := range all {
		if i == 0 { // the header
			continue
		}
		r, err := parseBarRow(fields)
		if err != nil {
			return nil, fmt.Errorf("read run %d of %s: %w", i, path, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func parseBarRow(fields []string) (barRow, error) {
	r := barRow{workload: fields[0], policy: fields[2], hash: fields[6]}
	var errs [4]error
	r.poolMB, errs[0] = strconv.ParseInt(fields[1], 10, 64)
	r.seed, errs[1] = strconv.ParseUint(fields[3], 10, 64)
	r.sample.Overhead, errs[2] = strconv.ParseFloat(fields[4], 64)
	r.sample.Cold, errs[3] = strconv.ParseFloat(fields[5], 64)
	if !(r.sample.Overhead >= 0 && r.sample.Overhead <= 100 && r.sample.Cold >= 0 && r.sample.Cold <= 100) { // NaN as well
		errs[0] = errors.Join(errs[0], fmt.Errorf("percentages %q and %q are not from 0 to 100", fields[4], fields[5]))
	}
	return r, errors.Join(errs[:]...)
}

type barKey struct {
	workload string
	poolMB   int64
}

// barFields groups rows, in the order of the first of each group, and leaves
// out groups that lack one of the bar's policies or a seed of it.
func barFields(bar study.Bar, rows []barRow) []study.Field {
	var order []barKey
	groups := map[barKey]map[string]map[uint64]study.Sample{}
	for _, r := range rows {
		k := barKey{r.workload, r.poolMB}
		if groups[k] == nil {
			order = append(order, k)
			groups[k] = map[string]map[uint64]study.Sample{}
		}
		if groups[k][r.policy] == nil {
			groups[k][r.policy] = map[uint64]study.Sample{}
		}
		groups[k][r.policy][r.seed] = r.sample
	}
	var fields []study.Field
	for _, k := range order {
		f := study.Field{Workload: k.workload, PoolMB: k.poolMB, Runs: bySeed(groups[k], bar.Candidate)}
		if complete(f, bar) {
			fields = append(fields, f)
		}
	}
	return fields
}

// bySeed orders the samples of those policies that have all seeds of the
// candidate, numbered from 1.
func bySeed(policies map[string]map[uint64]study.Sample, candidate string) map[string][]study.Sample {
	runs := map[string][]study.Sample{}
	for policy, samples := range policies {
		for seed := uint64(1); len(runs[policy]) < len(policies[candidate]); seed++ {
			s, ok := samples[seed]
			if !ok {
				delete(runs, policy)
				break
			}
			runs[policy] = append(runs[policy], s)
		}
	}
	return runs
}

func complete(f study.Field, bar study.Bar) bool {
	for _, policy := range bar.Policies() {
		if len(f.Runs[policy]) < 2 {
			return false
		}
	}
	return true
}
