package semverx_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/semverx"
)

func mustVersion(t testing.TB, s string) semverx.Version {
	t.Helper()
	v, err := semverx.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParse(t *testing.T) {
	for _, s := range []string{"0.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3-0", "1.2.3--", "1.2.3+b.01", "1.2.3-a.b+c-d", "18446744073709551615.0.0"} {
		v, err := semverx.Parse(s)
		if err != nil || v.String() != s || v.IsZero() {
			t.Errorf("Parse(%q) = %q, %v", s, v, err)
		}
	}
	v := mustVersion(t, "1.2.3-rc.1+b.2")
	if v.Major() != 1 || v.Minor() != 2 || v.Patch() != 3 || v.Prerelease() != "rc.1" || v.Build() != "b.2" {
		t.Errorf("parts of %v: %d %d %d %q %q", v, v.Major(), v.Minor(), v.Patch(), v.Prerelease(), v.Build())
	}
	var none semverx.Version
	if !none.IsZero() || none.String() != "" || none.Compare(mustVersion(t, "0.0.0-0")) != -1 || none.Compare(none) != 0 {
		t.Errorf("the zero Version: %q, IsZero %v", none, none.IsZero())
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `version "": empty; write MAJOR.MINOR.PATCH, such as 1.0.0`},
		{"v1.0.0", `version "v1.0.0": a leading v is not part of a version; write 1.0.0`},
		{"1.0", `version "1.0": has 2 of the three numbers MAJOR.MINOR.PATCH`},
		{"1.0.0.0", `version "1.0.0.0": has 4 of the three numbers MAJOR.MINOR.PATCH`},
		{"1..0", `version "1..0": minor is empty`},
		{"01.0.0", `version "01.0.0": major "01" has a leading zero`},
		{"1.0.a", `version "1.0.a": patch "a" is not a number`},
		{"1.0.18446744073709551616", `version "1.0.18446744073709551616": patch "18446744073709551616" does not fit in 64 bits`},
		{"1.0.0-", `version "1.0.0-": prerelease "" has an empty identifier`},
		{"1.0.0-a..b", `version "1.0.0-a..b": prerelease "a..b" has an empty identifier`},
		{"1.0.0-a_b", `version "1.0.0-a_b": prerelease identifier "a_b" has characters other than letters, digits and hyphens`},
		{"1.0.0-01", `version "1.0.0-01": prerelease identifier "01" has a leading zero`},
		{"1.0.0-18446744073709551616", `version "1.0.0-18446744073709551616": prerelease identifier "18446744073709551616" does not fit in 64 bits`},
		{"1.0.0+a+b", `version "1.0.0+a+b": build metadata identifier "a+b" has characters other than letters, digits and hyphens`},
		{" 1.0.0", `version " 1.0.0": major " 1" is not a number`},
	}
	for _, tt := range tests {
		_, err := semverx.Parse(tt.in)
		var ve *semverx.VersionError
		if !errors.As(err, &ve) || err.Error() != tt.want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", tt.in, err, tt.want)
		}
	}
}

func TestVersionLimit(t *testing.T) {
	longest := "1.0.0-" + strings.Repeat("a", semverx.MaxVersionLen-6)
	mustVersion(t, longest)
	_, err := semverx.Parse(longest + "a")
	var limit *fairlead.InputLimitError
	if !errors.As(err, &limit) || limit.Size != semverx.MaxVersionLen+1 || limit.Max != semverx.MaxVersionLen {
		t.Errorf("one byte too long: %v", err)
	}
	if _, err := semverx.ParseTolerant(strings.Repeat("0", semverx.MaxVersionLen) + "1.0.0"); !errors.As(err, &limit) {
		t.Errorf("zeros without end: %v", err)
	}
	if len(err.Error()) > 200 {
		t.Errorf("the message repeats the whole version: %v", err)
	}
}

func TestParseTolerant(t *testing.T) {
	tests := []struct{ in, want string }{
		{"v1.0", "1.0.0"}, {"1.0", "1.0.0"}, {"1", "1.0.0"}, {" 1.2.3\n", "1.2.3"}, {"v1.2.3-rc.1+b", "1.2.3-rc.1+b"},
		{"01.002.0003", "1.2.3"}, {"00.0.0", "0.0.0"}, {"1.2.0-rc", "1.2.0-rc"}, {"1.2.00-rc", "1.2.0-rc"}, {"1.2.-rc", "1.2.0-rc"},
		{"1.2.3-01a", "1.2.3-01a"},
		{"", ""}, {"vv1.0.0", ""}, {"V1.0.0", ""}, {"v 1.0.0", ""}, {"1-rc", ""}, {"1.2+b", ""}, {"1.2.3.4", ""}, {"1.2.3-01", ""},
	}
	for _, tt := range tests {
		v, err := semverx.ParseTolerant(tt.in)
		if v.String() != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseTolerant(%q) = %q, %v; want %q", tt.in, v, err, tt.want)
		}
		var ve *semverx.VersionError
		if err != nil && (!errors.As(err, &ve) || ve.Text != tt.in) {
			t.Errorf("ParseTolerant(%q): error %v does not speak of the text as given", tt.in, err)
		}
	}
}

// TestCompare sorts a shuffled list of versions in the order of section 11 of
// SemVer, and compares every pair.
func TestCompare(t *testing.T) {
	chain := []string{
		"0.0.0-0", "0.0.0", "0.0.1", "1.0.0-0", "1.0.0-2", "1.0.0-10", "1.0.0-10.0", "1.0.0--", "1.0.0-A", "1.0.0-a", "1.0.0-a.0", "1.0.0-a.1",
		"1.0.0-a.b", "1.0.0-a-", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0-0", "1.1.0", "1.10.0", "2.0.0", "10.0.0",
	}
	for i, a := range chain {
		for j, b := range chain {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := mustVersion(t, a).Compare(mustVersion(t, b+"+any")); got != want {
				t.Errorf("%s compared with %s = %d, want %d", a, b, got, want)
			}
		}
	}
	shuffled := slices.Clone(chain)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, func(a, b string) int { return mustVersion(t, a).Compare(mustVersion(t, b)) })
	if !slices.Equal(shuffled, chain) {
		t.Errorf("sorted: %v", shuffled)
	}
}

func TestCompareAllocatesNothing(t *testing.T) {
	a, b := mustVersion(t, "1.2.3-rc.1.x.10"), mustVersion(t, "1.2.3-rc.1.x.9")
	if n := testing.AllocsPerRun(100, func() { a.Compare(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
