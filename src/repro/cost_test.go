package repro

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a figure took is told with and without what it shares with earlier ones; the sum
// counts every simulation once, also if figures were written by different runs.
func TestCostsCountEverySimulationOnce(t *testing.T) {
	d := invented(Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(2)})
	for _, m := range d.Cells {
		m.Cost, m.bytes = Cost{Seconds: 2, CPU: 1}, 100
	}
	dir := t.TempDir()
	both := map[Point]bool{}
	for _, id := range []string{"fig15", "fig12"} {
		f, ok := Find(id)
		if !ok {
			t.Fatal(id)
		}
		all, err := Reproduce([]Figure{f}, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, all, d); err != nil {
			t.Fatal(err)
		}
		for _, p := range Points([]Figure{f}, d.Scene) {
			both[p] = true
		}
	}
	g, err := Gather(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := costs(dir, g.Sections)
	if err != nil || len(all) != 2 || all[0].Figure != "fig12" || all[1].Figure != "fig15" {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, c := range all {
		if c.All.CPU != float64(c.Simulations) || c.OfOwn.Seconds != 2*float64(c.Own) || c.CellBytes != 100*int64(c.Own) || c.Bytes == 0 {
			t.Errorf("%+v", c)
		}
	}
	if all[1].Own >= all[1].Simulations {
		t.Errorf("fig15 shares nothing with fig12: %+v", all[1])
	}
	f, err := os.Open(filepath.Join(dir, "costs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 4 || rows[3][0] != "all" {
		t.Fatalf("%q, %v", rows, err)
	}
	if got, most := all[0].Own+all[1].Own, len(both); got > most {
		t.Errorf("%d simulations of its own, both figures have %d", got, most)
	}
}

func TestSpentMeasuresThisThread(t *testing.T) {
	c, err := spent(func() error {
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
		return os.ErrInvalid
	})
	if err != os.ErrInvalid || c.Seconds < 0.02 || c.CPU <= 0 || c.CPU > c.Seconds+0.01 {
		t.Errorf("%+v, %v", c, err)
	}
}
