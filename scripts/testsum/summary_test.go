package main

import (
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	tests := map[string]struct {
		stream string
		want   []string
		bad    bool
	}{
		"passed and skipped": {
			stream: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: needs root\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`,
			want: []string{"ok  \tp\t0.1s", "SKIPPED p TestB: b_test.go:1: needs root", "1 passed, 0 failed, 1 skipped"},
		},
		"failed": {
			stream: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want: []string{"a_test.go:1: wrong", "FAIL\tp", "0 passed, 1 failed, 0 skipped"},
			bad:  true,
		},
		"package that does not build": {
			stream: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}`,
			want: []string{"p.go:1: syntax error", "FAIL\tp [build failed]", "0 passed, 0 failed, 0 skipped"},
			bad:  true,
		},
		"test that never ended": {
			stream: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"fail","Package":"p"}`,
			want: []string{"panic: boom", "0 passed, 1 failed, 0 skipped"},
			bad:  true,
		},
		"line that is no event": {
			stream: "go: cannot find main module",
			want:   []string{"go: cannot find main module"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			sum := newSummary(&out)
			if err := sum.read(strings.NewReader(tt.stream)); err != nil {
				t.Fatal(err)
			}
			sum.close()
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("output lacks %q:\n%s", want, out.String())
				}
			}
			if sum.bad() != tt.bad {
				t.Errorf("bad() = %v, want %v", sum.bad(), tt.bad)
			}
		})
	}
}
