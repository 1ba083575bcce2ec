package repro

import (
	"strings"
	"testing"
)

func TestClaimTable(t *testing.T) {
	claim := func(text string, v Verdict, value string) Judged {
		return Judged{Figure: "fig12", Text: text, Paper: "order", Tolerance: "above 0", Value: value, Verdict: v, Why: "said there"}
	}
	causes, err := ReadCauses(strings.NewReader("figure,claim,why\nfig12,a is below b,H\nfig12,c is below d,I\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = WriteClaimTable(&out, []Judgement{
		{"quick", []Judged{claim("a is below b", Pass, "1.0 points"), claim("c is below d", Pass, "2.0 points")}},
		{"full", []Judged{claim("a is below b", Fail, "-1.0 points"), claim("e", NotTestable, "-")}},
	}, causes)
	if err != nil {
		t.Fatal(err)
	}
	want := `| figure | claim | paper | tolerated | quick | full | why |
|---|---|---|---|---|---|---|
| fig12 | a is below b | order | above 0 | PASS 1.0 points | **FAIL** -1.0 points | H |
| fig12 | c is below d | order | above 0 | PASS 2.0 points | | said there |
| fig12 | e | order | above 0 | | NOT TESTABLE | said there |

quick: 2 claims, 2 PASS.
full: 2 claims, 1 FAIL, 1 NOT TESTABLE.
`
	if got := strings.ReplaceAll(out.String(), "  |", " |"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := ReadCauses(strings.NewReader("a,b\nc,d\n")); err == nil {
		t.Error("two columns are taken")
	}
}
