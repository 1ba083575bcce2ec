package lambda

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/config"
)

func TestCheckBounds(t *testing.T) {
	worker := config.Config{
		Limits:    config.Limits{MemMB: 50, Procs: 10, CPUPercent: 100, RuntimeSec: 3600},
		LimitsMax: config.Bounds{MemMB: 100, Procs: 20, RuntimeSec: 900},
	}
	for name, c := range map[string]struct {
		asks config.Limits
		key  string // of the bound that is exceeded; "": none is
		most int
	}{
		"nothing":                 {},
		"all of it":               {asks: config.Limits{MemMB: 100, Procs: 20}},
		"no bound":                {asks: config.Limits{CPUPercent: 100_000}},
		"what everybody is given": {asks: config.Limits{RuntimeSec: 3600}},
		"memory":                  {config.Limits{MemMB: 101}, "mem_mb", 100},
		"processes":               {config.Limits{Procs: 21}, "procs", 20},
		"more than anybody":       {config.Limits{RuntimeSec: 3601}, "runtime_sec", 3600},
	} {
		err := (&Config{Limits: c.asks}).CheckBounds(&worker)
		var bound *BoundError
		if !errors.As(err, &bound) {
			if err != nil || c.key != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if bound.Key != c.key || bound.Most != c.most || !strings.Contains(err.Error(), "-o limits_max."+c.key+"=") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The lambdas that come with OpenLambda fit what even a small worker allows.
func TestDefaultBoundsSuitTheRegistry(t *testing.T) {
	worker := config.New("/d", 1000)
	files, err := filepath.Glob("../../test-registry/*/" + ConfigFile)
	if err != nil || len(files) < 10 {
		t.Fatalf("%d lambdas have an %s: %v", len(files), ConfigFile, err)
	}
	for _, file := range files {
		c, _, err := ReadDir(filepath.Dir(file))
		if err == nil {
			err = c.CheckBounds(&worker)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
