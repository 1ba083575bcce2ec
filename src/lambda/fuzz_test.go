package lambda

import (
	"strings"
	"testing"
)

// Whatever requirements.txt says, what comes out of it is read again as the
// same, and no name leads out of the packages' directory.
func FuzzRequirements(f *testing.F) {
	for _, seed := range []string{"requests==2.31.0\n", "Flask_Login # x\n", "a==1; python_version<'3'\n", "-r other.txt", "a[b]==1", "../x==1", "a==1\na==2", "\x00", "é==1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ParseRequirements(text)
		if err != nil {
			return
		}
		for _, r := range all {
			again, err := ParseRequirement(r.String())
			if err != nil || again.String() != r.String() {
				t.Errorf("%q becomes %q, %v", r, again, err)
			}
			if name := PackageName(r.String()); strings.ContainsAny(r.String(), "/\n\x00") || strings.Contains(name, "..") {
				t.Errorf("%q has the name %q", r, name)
			}
		}
	})
}

// A name that is allowed is one path element, and needs no escaping anywhere.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"echo", "a.b-c_d", ".", "..", "a/b", "", "a\x00", "é", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if (CheckName(name) == nil) != ValidName(name) {
			t.Error("both disagree")
		}
		if !ValidName(name) {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsAny(name, "/\\%?#\x00 \n") {
			t.Errorf("%q is allowed", name)
		}
	})
}
