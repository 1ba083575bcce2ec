package trace

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// drain reads at most so many invocations, which have to be in order, and
// tells whether the stream came to its end.
func drain(t *testing.T, s Stream, most int) bool {
	t.Helper()
	defer s.Close()
	var last, now Invocation
	for range most {
		ok, err := s.Next(&now)
		if err != nil || !ok {
			return err == nil
		}
		if now.At < last.At || now.Exec < 0 || now.Function < 0 || now.Function >= len(s.Functions()) {
			t.Fatalf("%+v after %+v, of %d functions", now, last, len(s.Functions()))
		}
		if p := s.Functions()[now.Function]; p.Name == "" || p.MB < 0 || p.Cold < 0 {
			t.Fatalf("%+v of %+v", now, p)
		}
		last = now
	}
	return false
}

// plausible checks rows, and that few enough of them can be walked.
func plausible(t *testing.T, functions []Function) {
	t.Helper()
	sum := 0
	for _, fn := range functions {
		n := fn.Requests()
		sum += n
		if n < 0 || sum < 0 || fn.AvgExec < 0 || !(fn.MemMB >= 0 && fn.MemMB <= maxMB) {
			t.Fatalf("accepted %+v", fn)
		}
		before := time.Duration(0)
		for _, d := range fn.Exec {
			if d < before {
				t.Fatalf("accepted percentiles %v", fn.Exec)
			}
			before = d
		}
	}
	if len(functions) == 0 || sum > 1000 {
		return
	}
	w, err := PerMinute("fuzz", functions, Options{Seed: 1}, DefaultModel())
	if err != nil {
		t.Fatalf("rows that were read are no workload: %v", err)
	}
	s, err := w.Open()
	if err != nil {
		t.Fatal(err)
	}
	if !drain(t, s, sum+1) {
		t.Errorf("%d invocations do not end after so many", sum)
	}
}

// Rows of the per-minute form.
func FuzzRead(f *testing.F) {
	const one = "f,128,1,2,3,4,5,6,7,3.5,1,2\n"
	for _, seed := range []string{
		header + "f,1,0,0,0,0,0,0,0,0,1,2\n", header + one + "g" + one[1:], "id\n", header, header + "f,1e300,0,0,0,0,0,0,1e300,0,1,2\n",
		header + "f,1,2,1,0,0,0,0,0,0,1,2\n", header + "f,1,0,0,0,0,0,0,0,0,9223372036854775807,1\n", header + "f,NaN,0,0,0,0,0,0,0,0,1,2\n",
		strings.Replace(header, ",m2", "", 1) + "f,1,0,0,0,0,0,0,0,0,3\n", "\x1f\x8b", "\x28\xb5\x2f\xfd", "\"" + header,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		functions, err := Read("t.csv", bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, fn := range functions {
			if fn.ID == "" || len(fn.PerMinute) == 0 {
				t.Errorf("accepted %+v", fn)
			}
		}
		plausible(t, functions)
	})
}

// The three files of the Azure 2019 trace, and of InVitro's samples.
func FuzzAzure2019(f *testing.F) {
	const (
		counts = "HashOwner,HashApp,HashFunction,Trigger,1,2\n"
		times  = "HashOwner,HashApp,HashFunction,Average,Count,Minimum,Maximum,percentile_Average_0,percentile_Average_1,percentile_Average_25,percentile_Average_50,percentile_Average_75,percentile_Average_99,percentile_Average_100\n"
		memory = "HashOwner,HashApp,SampleCount,AverageAllocatedMb\n"
	)
	for _, seed := range [][3]string{
		{counts + "o,a,f,http,1,2\n", times + "o,a,f,5,3,1,9,1,1,2,5,7,9,9\n", memory + "o,a,4,128\n"},
		{counts + "o,a,f,http,1,2\no,a,g,timer,0,1\n", times + "o,a,f,5,3,1,9,1,1,2,5,4,9,9\n", memory + "o,a,4,1e300\n"},
		{counts + "o,a,f,http,1,2\n", times + "o,a,f,1e300,3,1,9,1,1,2,5,7,9,1e300\n", "HashFunction,AverageAllocatedMb\nf,64\n"},
		{counts + "o,a,f,http,9223372036854775807,9223372036854775807\n", times + "o,a,f,5,3,1,9,1,1,2,5,7,9,9\n", memory + "o,a,4,0\n"},
		{counts, times, memory},
		{"", "", ""},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, counts, times, memory []byte) {
		s, err := Azure2019(Set{"i", "d", "m", bytes.NewReader(counts), bytes.NewReader(times), bytes.NewReader(memory)})
		if err != nil {
			return
		}
		if len(s.Functions) == 0 || s.Skipped < 0 {
			t.Errorf("got %d functions, %d skipped", len(s.Functions), s.Skipped)
		}
		for _, fn := range s.Functions {
			if len(fn.PerMinute) != len(s.Functions[0].PerMinute) {
				t.Errorf("%s has %d minutes of %d", fn.ID, len(fn.PerMinute), len(s.Functions[0].PerMinute))
			}
		}
		plausible(t, s.Functions)
	})
}

// Rows of calls that strangers made. What was read is written so that it is
// read as the same.
func FuzzCalls(f *testing.F) {
	const head = "t_ms,function,exec_ms,mem_mb,cold_ms\n"
	for _, seed := range []string{
		head + "0,a,1,128,10\n5,a,2,128,10\n", head + "5,a,1,128,10\n0,b,1,128,10\n", head + "NaN,a,1,1,1\n", head + "1e300,a,1,1,1\n",
		head + "0,a,-1,1,1\n", head, "", "\"", head + "0,a,1,9e99,1\n", "0,a,1.5,1,0\n0.1,\"b,\"\"c\",1,2,3\n", head + "1e11,a,1e11,1e9,1e11\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Calls("fuzz", bytes.NewReader(text))
		if err != nil || !drain(t, s, 1000) {
			return
		}
		written := rewrite(t, text)
		if again := rewrite(t, written); !bytes.Equal(again, written) {
			t.Errorf("%q is written as %q", written, again)
		}
	})
}

// rewrite reads calls that have no fault and writes them.
func rewrite(t *testing.T, text []byte) []byte {
	t.Helper()
	s, err := Calls("fuzz", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := WriteCalls(&out, s); err != nil {
		t.Fatalf("%q was read, and then: %v", text, err)
	}
	return out.Bytes()
}

// Rows of the Azure 2021 trace.
func FuzzAzure2021(f *testing.F) {
	const head = "app,func,end_timestamp,duration\n"
	for _, seed := range []string{
		head + "a,f,1.5,0.5\n", head + "a,f,1,2\n", head + "a,f,inf,0\n", head + "a,f,-1,-1\n", head, "", head + "a,f,1e308,1e308\n",
		"func,app,duration,end_timestamp,x\nf,a,1,9,y\ng,a,2,3,z\n", head + "a,f,1e9,0\na,f,0,1e9\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		source, err := Azure2021("fuzz", bytes.NewReader(text), 128)
		if err != nil {
			return
		}
		s, err := source.Calls()
		if err != nil {
			t.Fatalf("rows that were read cannot be walked: %v", err)
		}
		if !drain(t, s, bytes.Count(text, []byte("\n"))+2) && !compressed(text) {
			t.Error("there are more invocations than lines")
		}
	})
}

func compressed(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// Parameters of a generated workload: what is read is written so that it is
// read as the same.
func FuzzWorkload(f *testing.F) {
	for _, name := range Generated() {
		s, err := generated(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(workloadText(f, s))
	}
	f.Add([]byte(`{"form":"ol-workload/1","name":"x","parameters":{"functions":1e300}}`))
	f.Add([]byte(`{"form":"ol-workload/2"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readWorkload("fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := readWorkload("fuzz", bytes.NewReader(workloadText(t, s)))
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%+v is read again as %+v, %v", s, again, err)
		}
		if y := s.Synthetic; y.Functions <= 0 || y.Requests <= 0 || y.Span <= 0 {
			t.Errorf("accepted %+v", y)
		}
	})
}

// Parameters behind the name of a generated workload: what is taken can be generated,
// and simulated.
func FuzzVaried(f *testing.F) {
	for _, seed := range []string{
		"burst=6", "gap_shape=NaN", "gap_shape=0.001", "exec_sigma=4,exec_function=4", "zipf_s=10", "burst=1e6,burst_sigma=4,burst_function=4",
		"burst=0.001,burst_function=4", "cold_ms=1e7,cold_function=4,cold_sigma=2", "mem_mb=1e9,mem_sigma=4", "burst_width_ms=1e9,span_ms=1",
		"exec_cap_ms=1e9,exec_mean_ms=1e8", "requests=1e10", "functions=0x5p2", "even=1", "even=0", "", "=", "burst=,", "burst=1,burst=2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source, known, err := Named("azure-like:functions=7,requests=200," + text)
		if err != nil {
			return
		}
		if !known || source.Synthetic == nil {
			t.Fatalf("%q is no generated workload", text)
		}
		if source.Synthetic.Requests > 2000 {
			return // it would only take long
		}
		w, err := source.Workload(Options{Seed: 1}, DefaultModel())
		if err != nil {
			t.Fatalf("%q was taken, and then: %v", text, err)
		}
		s, err := w.Open()
		if err != nil {
			t.Fatal(err)
		}
		if !drain(t, s, source.Synthetic.Requests+1) {
			t.Errorf("%q: more than %d requests", text, source.Synthetic.Requests)
		}
		plain(t, s.Functions(), w.Span)
	})
}

// plain: memory and cold starts are such that a simulation can add them up.
func plain(t *testing.T, functions []Profile, span time.Duration) {
	t.Helper()
	for _, p := range functions {
		if p.MB < 1 || p.MB > maxMB || p.Cold > mostCold {
			t.Errorf("%+v", p)
		}
	}
	if span <= 0 {
		t.Errorf("it takes %v", span)
	}
}

func workloadText(tb testing.TB, s Source) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := WriteWorkload(&out, s.Name, *s.Synthetic, s.Calibration); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
