package debian

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const depends = `app
  PreDepends: base
 |Depends: first
  Depends: second
  Depends: <virtual>
    provider
    another
 |Depends: <nobody>
  Depends: fallback
  Depends: <nothing>
base
  Depends: app
<virtual>
first
  Depends: debconf
debconf
  Depends: perl-stuff
perl-stuff
provider
fallback
`

func TestParseDepends(t *testing.T) {
	graph := parseDepends(depends)
	want := map[string][]string{
		"app":  {"base", "first", "provider", "fallback"},
		"base": {"app"}, "<virtual>": {}, "first": {"debconf"}, "debconf": {"perl-stuff"},
		"perl-stuff": {}, "provider": {}, "fallback": {},
	}
	if diff := cmp.Diff(want, graph); diff != "" {
		t.Error(diff)
	}
	got := closure(graph, []string{"app"}, []string{"debconf"})
	if diff := cmp.Diff([]string{"app", "base", "fallback", "first", "provider"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseDependsOfNothing(t *testing.T) {
	if graph := parseDepends(""); len(graph) != 0 {
		t.Errorf("graph %v", graph)
	}
}

func TestResolveSaysWhatToDo(t *testing.T) {
	b := NewBuilder(t.TempDir(), nil)
	b.run = fakeApt{depends: "dash\n"}.run
	if _, err := b.resolve(t.Context(), rootsOf(Layers()[:1])); err == nil || !strings.Contains(err.Error(), "apt-get update") {
		t.Errorf("resolve with an empty index: %v", err)
	}
}
