package trace

import (
	"bytes"
	"testing"
)

// drain reads at most so many invocations, which have to be in order.
func drain(t *testing.T, s Stream, most int) {
	t.Helper()
	defer s.Close()
	var last, now Invocation
	for range most {
		ok, err := s.Next(&now)
		if err != nil || !ok {
			return
		}
		if now.At < last.At || now.Exec < 0 || now.Function < 0 || now.Function >= len(s.Functions()) {
			t.Fatalf("%+v after %+v, of %d functions", now, last, len(s.Functions()))
		}
		last = now
	}
}

// Rows of calls that strangers made.
func FuzzCalls(f *testing.F) {
	const head = "t_ms,function,exec_ms,mem_mb,cold_ms\n"
	for _, seed := range []string{head + "0,a,1,128,10\n5,a,2,128,10\n", head + "5,a,1,128,10\n0,b,1,128,10\n", head + "NaN,a,1,1,1\n", head + "1e300,a,1,1,1\n", head + "0,a,-1,1,1\n", head, "", "\"", head + "0,a,1,9e99,1\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Calls("fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		drain(t, s, 1000)
	})
}

// Rows of the Azure 2021 trace.
func FuzzAzure2021(f *testing.F) {
	const head = "app,func,end_timestamp,duration\n"
	for _, seed := range []string{head + "a,f,1.5,0.5\n", head + "a,f,1,2\n", head + "a,f,inf,0\n", head + "a,f,-1,-1\n", head, "", head + "a,f,1e308,1e308\n"} {
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
		drain(t, s, 1000)
	})
}
