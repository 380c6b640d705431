package semverx_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/semverx"
)

// FuzzParseRange checks what holds for every text: no panic, errors of the
// documented type, and lints that agree with Contains.
func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"", ">1.0.0 <2.0.0 !1.2.1", "1.x || 2.2.x", "1.0.0 - 2.0.0", "x.1.1", ">=1.0.0-x.x", "^1.2", "~> 1.x", ">1.+5.x", "1.0.0 || || 2.0.0", "\t>=01.x"} {
		f.Add(s, "1.2.3-rc.1+b")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := semverx.ParseRange(text)
		if err != nil {
			if _, ok := err.(*semverx.RangeError); !ok || err.Error() == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		r.Lints()
		v, err := semverx.ParseTolerant(version)
		if err != nil {
			if _, ok := err.(*semverx.VersionError); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := semverx.Parse(v.String())
		if err != nil || again != v {
			t.Fatalf("%q does not read back: %v", v, err)
		}
		if never := semverx.NeverMatches(r); never && r.Contains(v) {
			t.Fatalf("%q contains %v and is said never to match", text, v)
		}
		if least, ok := semverx.Least(r); ok && !r.Contains(least) {
			t.Fatalf("%q does not contain %v, said to be its least", text, least)
		} else if ok && r.Contains(v) && v.Compare(least) < 0 {
			t.Fatalf("%q contains %v before %v, said to be its least", text, v, least)
		}
	})
}
