package api

import (
	"reflect"
	"testing"
	"time"
)

// The clocks of a cluster may differ by minutes: what bosses and workers tell
// one another names no moment, only lengths of time and counts.
func TestNothingOnTheLinkNamesAMoment(t *testing.T) {
	moment := reflect.TypeFor[time.Time]()
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(path, typ.Elem())
		case reflect.Map:
			walk(path, typ.Key())
			walk(path, typ.Elem())
		case reflect.Struct:
			if typ == moment {
				t.Errorf("%s is a moment", path)
				return
			}
			for f := range typ.Fields() {
				walk(path+"."+f.Name, f.Type)
			}
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[Hello](), reflect.TypeFor[Report](), reflect.TypeFor[Notice]()} {
		walk(typ.Name(), typ)
	}
}
