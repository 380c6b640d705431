package semverx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/semverx"
)

func TestConstraint(t *testing.T) {
	for _, test := range []struct {
		constraint, version string
		want                bool
	}{
		{"1.0.0+1", "1.0.0", true},
		{"1.0.0+1", "1.0.0+2", true},
		{"1.0.0+1", "1.0.0+1", true},
		{"1.0.0", "1.0.0", true},
		{"1.0.0", "1.0.0+1", true},
		{">=2.0.0", "1.0.0", false},
		{">=1.0.0, <2.0.0", "1.5.0", true},
		{">=1.0.0 <2.0.0", "2.0.0", false},
		{"^1.2", "1.9.0", true},
		{"~1.2", "1.3.0", false},
		{"1.0.0 - 2.0.0", "2.0.0", true},
		{"1.x", "1.7.0", true},
		{"*", "0.1.0", true},
		{">=1.0.0", "2.0.0-rc1", false},
		{">=1.0.0-0", "2.0.0-rc1", true},
	} {
		c, err := semverx.ParseConstraint(test.constraint)
		if err != nil {
			t.Errorf("%q: %v", test.constraint, err)
			continue
		}
		v, err := semverx.Parse(test.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Contains(v); got != test.want {
			t.Errorf("%q contains %s: %v, want %v", test.constraint, v, got, test.want)
		}
		if c.Contains(semverx.Version{}) {
			t.Errorf("%q contains no version", test.constraint)
		}
	}
	for _, bad := range []string{"foobar", "not-a-valid-version", "", ">=1.0.0 <", strings.Repeat(">=1.0.0 ", 1000)} {
		_, err := semverx.ParseConstraint(bad)
		if e := (*semverx.ConstraintError)(nil); bad != "" && !errors.As(err, &e) {
			t.Errorf("%.20q: got %v, want a *ConstraintError", bad, err)
		}
	}
}
