package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

const ms = time.Millisecond

func collect(t *testing.T, s Stream) ([]Profile, []Invocation, error) {
	t.Helper()
	return Collect(Workload{Open: func() (Stream, error) { return s, nil }})
}

func TestCalls(t *testing.T) {
	const rows = "0.000,a,110,25,75\n0.5,b,2.25,99.5,297\n0.5,a,1,25,75\n"
	for name, text := range map[string]string{"no header": rows, "header": "t_ms,function,exec_ms,mem_mb,cold_ms\n" + rows} {
		t.Run(name, func(t *testing.T) {
			s, err := Calls("c.csv", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			functions, all, err := collect(t, s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Profile{{Name: "a", MB: 25, Cold: 75 * ms}, {Name: "b", MB: 100, Cold: 297 * ms}}, functions); diff != "" {
				t.Error(diff)
			}
			want := []Invocation{{0, 0, 110 * ms}, {ms / 2, 1, 2250 * time.Microsecond}, {ms / 2, 0, ms}}
			if diff := cmp.Diff(want, all); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallsNameThePlace(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"unsorted":        {"5,a,1,1,1\n4,a,1,1,1\n", `c.csv:2:1: expected a time of at least 5 ms, that of the row before, got "4"`},
		"negative":        {"-1,a,1,1,1\n", `c.csv:1:1: expected a time of at least 0 ms, got "-1"`},
		"negative exec":   {"1,a,-1,1,1\n", `c.csv:1:5: expected a time of at least 0 ms, got "-1"`},
		"not a time":      {"1,a,NaN,1,1\n", `c.csv:1:5: expected a time of at least 0 ms, got "NaN"`},
		"no name":         {"1,,1,1,1\n", `c.csv:1:3: expected the function's name`},
		"memory":          {"1,a,1,lots,1\n", `c.csv:1:7: expected a memory of 0 to 1073741824 MB, got "lots"`},
		"other memory":    {"1,a,1,1,1\n2,a,1,2,1\n", `c.csv:2:7: expected 1, the memory of a before, got "2"`},
		"other cold":      {"1,a,1,1,1\n2,a,1,1,3\n", `c.csv:2:9: expected 1, the cold start of a before, got "3"`},
		"short":           {"1,a,1,1\n", `expected the 5 columns t_ms,function,exec_ms,mem_mb,cold_ms`},
		"quote":           {"1,\"a,1,1,1\n", `c.csv:1:`},
		"header":          {"t_ms,function,exec,mem_mb,cold_ms\n", `c.csv:1:15: expected a column exec_ms, got "exec"`},
		"header in place": {"1,a,1,1,1\nt_ms,function,exec_ms,mem_mb,cold_ms\n", `c.csv:2:1: expected a time`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Calls("c.csv", strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = collect(t, s)
			var row *RowError
			if !errors.As(err, &row) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// What is written is read back the same.
func TestWriteCalls(t *testing.T) {
	w, err := PerMinute("two", two(), Options{Sigma: 1, Seed: 3}, DefaultModel())
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Open()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	n, err := WriteCalls(&text, s)
	if err != nil || n != 3110 {
		t.Fatalf("wrote %d: %v", n, err)
	}
	back, err := Calls("back.csv", &text)
	if err != nil {
		t.Fatal(err)
	}
	functions, all, err := collect(t, back)
	if err != nil {
		t.Fatal(err)
	}
	wantFunctions, want, err := Collect(w)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(fs []Profile, all []Invocation) (out []string) {
		for _, i := range all {
			out = append(out, fs[i.Function].Name+" "+i.At.String()+" "+i.Exec.String())
		}
		return out
	}
	if diff := cmp.Diff(byName(wantFunctions, want), byName(functions, all)); diff != "" {
		t.Error(diff)
	}
}

// One minute at a time gives what all at once gives.
func TestPerMinuteIsExpand(t *testing.T) {
	o := Options{First: 1, Minutes: 2, Sigma: 2, Seed: 5}
	want, err := Expand(two(), o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := PerMinute("two", two(), o, DefaultModel())
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := Collect(w)
	if err != nil || w.Span != 2*time.Minute {
		t.Fatalf("span %v, %v", w.Span, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRepeat(t *testing.T) {
	one := FromSlice("one", time.Second, []Profile{{Name: "f"}}, []Invocation{{At: 5}, {At: 7}})
	w, err := Repeat(one, 3)
	if err != nil || w.Span != 3*time.Second {
		t.Fatal(w.Span, err)
	}
	_, all, err := Collect(w)
	if err != nil {
		t.Fatal(err)
	}
	var at []time.Duration
	for _, i := range all {
		at = append(at, i.At)
	}
	if diff := cmp.Diff([]time.Duration{5, 7, time.Second + 5, time.Second + 7, 2*time.Second + 5, 2*time.Second + 7}, at); diff != "" {
		t.Error(diff)
	}
	if _, err := Repeat(FromSlice("x", 0, nil, nil), 2); err == nil {
		t.Error("a workload without a span was repeated")
	}
}

func TestModel(t *testing.T) {
	m := Model{MemScale: PaperMemScale, ColdPerMB: 2 * ms}
	if p := m.Profile("f", 100); p.MB != 367 || p.Cold != 200*ms {
		t.Errorf("%+v", p)
	}
	if p := m.Profile("f", 0); p.MB != 1 {
		t.Errorf("no memory became %d MB", p.MB)
	}
}

func TestSample(t *testing.T) {
	functions, err := Busiest()
	if err != nil {
		t.Fatal(err)
	}
	a, err := Sample(functions, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Sample(functions, 50, 1)
	c, _ := Sample(functions, 50, 2)
	if len(a) != 50 || !cmp.Equal(a, b) || cmp.Equal(a, c) {
		t.Error("samples are not what their seeds say")
	}
	for _, n := range []int{0, -1, 313} {
		if _, err := Sample(functions, n, 1); err == nil {
			t.Errorf("sampled %d of 312", n)
		}
	}
}

// The counts that the manifest of the data states.
func TestShippedSamples(t *testing.T) {
	for _, tt := range []struct {
		name                string
		functions, requests int
	}{{"s1", 312, 205_157}, {"s2", 330, FoldedRequests}, {"demo", 12, 18_365}} {
		s, ok, err := Named(tt.name)
		if err != nil || !ok {
			t.Fatal(tt.name, ok, err)
		}
		n := 0
		for _, f := range s.Functions {
			n += f.Requests()
		}
		if len(s.Functions) != tt.functions || n != tt.requests {
			t.Errorf("%s: %d functions, %d requests", tt.name, len(s.Functions), n)
		}
	}
	if _, ok, err := Named("s3"); ok || err != nil {
		t.Error("s3 exists")
	}
}

const (
	counts    = "HashOwner,HashApp,HashFunction,Trigger,1,2\no,app1,f,http,3,0\no,app1,g,timer,0,1\no,app2,h,http,5,5\no,app3,i,http,1,1\n"
	durations = "HashOwner,HashApp,HashFunction,Average,Count,Minimum,Maximum,percentile_Average_0,percentile_Average_1,percentile_Average_25,percentile_Average_50,percentile_Average_75,percentile_Average_99,percentile_Average_100\n" +
		"o,app1,f,20,3,1,100,1,2,10,9,30,90,100\no,app1,g,7,1,7,7,7,7,7,7,7,7,7\no,app2,h,1,1,1,1,1,1,1,1,1,1,1\n"
	perFunction = "HashFunction,HashOwner,HashApp,SampleCount,AverageAllocatedMb\nf,o,app1,1,100\ng,o,app1,1,30.5\nh,o,app2,1,64\n"
	perApp      = "HashOwner,HashApp,SampleCount,AverageAllocatedMb\no,app1,1,100\no,app2,1,64\n"
)

func azure(memory string) (Source, error) {
	return Azure2019(Set{
		"invocations.csv", "durations.csv", "memory.csv",
		strings.NewReader(counts), strings.NewReader(durations), strings.NewReader(memory),
	})
}

func TestAzure2019(t *testing.T) {
	tests := map[string]struct {
		memory string
		mb     []float64
	}{
		"memory by function":                  {perFunction, []float64{100, 30.5, 64}},
		"memory by application is shared out": {perApp, []float64{50, 50, 64}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := azure(tt.memory)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Functions) != 3 || s.Skipped != 1 {
				t.Fatalf("%d functions, %d skipped", len(s.Functions), s.Skipped)
			}
			for i, f := range s.Functions {
				if f.MemMB != tt.mb[i] {
					t.Errorf("%s has %v MB, want %v", f.ID, f.MemMB, tt.mb[i])
				}
			}
			f := s.Functions[0]
			if want := (Percentiles{1 * ms, 2 * ms, 10 * ms, 10 * ms, 30 * ms, 90 * ms, 100 * ms}); f.Exec != want || f.AvgExec != 20*ms {
				t.Errorf("execution %v, mean %v", f.Exec, f.AvgExec)
			}
			if diff := cmp.Diff([]int{3, 0}, f.PerMinute); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAzureNamesThePlace(t *testing.T) {
	_, err := Azure2019(Set{"i.csv", "d.csv", "m.csv", strings.NewReader(strings.Replace(counts, "h,http,5,5", "h,http,5,-5", 1)), strings.NewReader(durations), strings.NewReader(perApp)})
	if err == nil || !strings.Contains(err.Error(), `i.csv:4:17: expected a count of at least 0, got "-5"`) {
		t.Errorf("got %v", err)
	}
	_, err = Azure2019(Set{"i.csv", "d.csv", "m.csv", strings.NewReader(counts), strings.NewReader("HashFunction\n"), strings.NewReader(perApp)})
	if err == nil || !strings.Contains(err.Error(), `d.csv:1:1: expected a column Average`) {
		t.Errorf("got %v", err)
	}
	_, err = azure("HashApp,AverageAllocatedMb\nx,-1\n")
	if err == nil || !strings.Contains(err.Error(), `memory.csv:2:3: expected a number of at least 0, got "-1"`) {
		t.Errorf("got %v", err)
	}
}

func TestAzure2021(t *testing.T) {
	s, err := Azure2021("t.csv", strings.NewReader("app,func,end_timestamp,duration\na,f,10,2\na,g,9,8.5\nb,f,10.25,0.25\n"), 100)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := s.Calls()
	if err != nil {
		t.Fatal(err)
	}
	functions, all, err := collect(t, stream)
	if err != nil {
		t.Fatal(err)
	}
	want := []Invocation{{0, 1, 8500 * ms}, {7500 * ms, 0, 2 * time.Second}, {9500 * ms, 2, 250 * ms}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if functions[1] != (Profile{Name: "a/g", MB: 100, Cold: 170 * ms}) {
		t.Errorf("%+v", functions[1])
	}
	_, err = Azure2021("t.csv", strings.NewReader("app,func,end_timestamp,duration\na,f,x,2\n"), 100)
	if err == nil || !strings.Contains(err.Error(), `t.csv:2:5: expected a number of at least 0, got "x"`) {
		t.Errorf("got %v", err)
	}
}

func packed(t *testing.T, how, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	switch how {
	case "gz":
		w := gzip.NewWriter(&out)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	case "zst":
		w, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	default:
		out.WriteString(text)
	}
	return out.Bytes()
}

// Load finds out what it has been given, compressed or not.
func TestLoad(t *testing.T) {
	rows := header + "f,1,1,1,1,1,1,1,1,1,2,3\n"
	for _, how := range []string{"plain", "gz", "zst"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) string {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, packed(t, how, text), 0o644); err != nil {
					t.Fatal(err)
				}
				return path
			}
			paths := map[string]int{
				write("rows.csv", rows):                                             5,
				write("calls.csv", "1,a,1,1,1\n"):                                   1,
				write("azure21.csv", "app,func,end_timestamp,duration\na,f,10,2\n"): 1,
				write("set/x-invocations.csv", counts):                              14,
			}
			write("set/x-durations.csv", durations)
			write("set/x-memory.csv", perApp)
			paths[filepath.Join(dir, "set")] = 14
			for path, want := range paths {
				s, err := Load(path)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				w, err := s.Workload(Options{Seed: 1}, DefaultModel())
				if err != nil {
					t.Fatal(err)
				}
				if _, all, err := Collect(w); err != nil || len(all) != want {
					t.Errorf("%s: %d invocations, %v", path, len(all), err)
				}
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	for text, want := range map[string]string{
		"":                 "expected the header of a known form",
		"a,b,c\n":          "expected the header of a known form",
		"\x1f\x8bnot gzip": "gzip",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), `"invocations"`) {
		t.Errorf("a directory without a set: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A cap applies to recorded invocations too.
func TestWorkloadCaps(t *testing.T) {
	s := Source{Calls: func() (Stream, error) { return Calls("c", strings.NewReader("0,a,900,1,1\n")) }}
	w, err := s.Workload(Options{MaxExec: 400 * ms}, DefaultModel())
	if err != nil {
		t.Fatal(err)
	}
	if _, all, err := Collect(w); err != nil || all[0].Exec != 400*ms {
		t.Errorf("%v, %v", all, err)
	}
}

// By hand: 2 functions, 5 requests, 2 minutes.
func TestDescribe(t *testing.T) {
	f := []Profile{{Name: "a", MB: 100, Cold: 100 * ms}, {Name: "b", MB: 400, Cold: 400 * ms}}
	s := time.Second
	w := FromSlice("x", 120*s, f, []Invocation{
		{0, 0, 50 * ms}, {0, 1, 800 * ms}, {ms, 0, 100 * ms}, {90 * s, 0, 200 * ms}, {119 * s, 1, 100 * ms},
	})
	d, err := Describe(w)
	if err != nil {
		t.Fatal(err)
	}
	if d.Functions != 2 || d.Requests != 5 || d.Seconds != 120 {
		t.Errorf("%+v", d)
	}
	if d.RPS != (Rate{5.0 / 120, 0, 3}) || d.GBps != (Rate{1.1 / 120, 0, 0.6}) {
		t.Errorf("rates %+v %+v", d.RPS, d.GBps)
	}
	if d.MeanMB != 220 || math.Abs(d.MeanExecMS-250) > 1e-9 || d.MeanColdMS != 220 || d.ColdBelow != 0.6 {
		t.Errorf("means %v %v %v, below %v", d.MeanMB, d.MeanExecMS, d.MeanColdMS, d.ColdBelow)
	}
	if d.ColdOverExec.P50 < 0.999 || d.ColdOverExec.P50 > 1.001 || d.ColdOverExec.Max < 3.99 || d.ColdOverExec.Max > 4.01 {
		t.Errorf("ratios %+v", d.ColdOverExec)
	}
	if d.PerMinute.P50 != 1 || d.PerMinute.Max != 2 {
		t.Errorf("per minute %+v", d.PerMinute)
	}
}
