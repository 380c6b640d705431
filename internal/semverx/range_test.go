package semverx_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/internal/semverx"
)

// TestParseRange is the table of the grammar: which versions each range
// contains (in) and which it does not (out), both separated by spaces.
func TestParseRange(t *testing.T) {
	tests := []struct{ text, in, out string }{
		{">1.0.0 <2.0.0 !1.2.1", "1.0.1 1.2.0 1.9.9 2.0.0-rc1", "1.0.0 1.2.1 2.0.0"},
		{">1.0.0", "2.0.0-rc1 1.0.1-alpha", "1.0.0 1.0.0-rc1 1.0.0+b"},
		{"1.x", "1.0.0 1.9.9 2.0.0-rc1", "1.0.0-alpha 2.0.0 0.9.0"},
		{"<1.x", "1.0.0-alpha 0.1.0", "1.0.0"},
		{"<=1.x", "1.0.0-alpha 1.9.9 2.0.0-rc1", "2.0.0"},
		{">1.x", "2.0.0 3.0.0", "1.9.9 2.0.0-rc1"},
		{">=1.x", "1.0.0 2.0.0", "1.0.0-alpha 0.9.9"},
		{"1.2.x", "1.2.0 1.2.9 1.3.0-rc1", "1.3.0 1.2.0-rc1 1.1.9"},
		{"=1.2.x", "1.2.0", "1.3.0"},
		{"==1.2.x", "1.2.0", "1.3.0"},
		{">1.2.x", "1.3.0", "1.2.9"},
		{"<=1.2.x", "1.2.9 0.1.0", "1.3.0"},
		{"1.x.x", "1.0.0 1.0.9", "1.1.0 1.5.0"},
		{"==1.0.0", "1.0.0 1.0.0+build", "1.0.1 1.0.0-rc1"},
		{"1.0.0+a", "1.0.0+b 1.0.0", "1.0.1"},
		{"=1.0.0", "1.0.0", "1.0.1"},
		{"!=1.0.0", "1.0.1 0.0.1", "1.0.0"},
		{"!1.0.0", "1.0.1", "1.0.0"},
		{"1.0.0 - 2.0.0", "", "1.0.0 1.5.0 2.0.0"},
		{"!1.2.x", "", "1.1.0 1.2.0 1.3.0"},
		{"!=1.x", "", "0.1.0 1.0.0 2.0.0"},
		{"<1.0.0 || >=2.0.0", "0.9.0 2.0.0", "1.0.0 1.5.0"},
		{"1.0.0 || 1.2.0 || 1.4.0", "1.0.0 1.2.0 1.4.0", "1.1.0"},
		{"> 1.0.0 <  2.0.0", "1.5.0", "1.0.0 2.0.0"},
		{">= 1.0.0", "1.0.0", "0.9.0"},
		{"  >=1.0.0   <2.0.0  ", "1.0.0", "2.0.0"},
		{"! 1.0.0", "1.0.0", "1.0.1"},
		{">=1.0.0 *", "1.0.0 9.0.0", "0.9.0"},
		{"x.1.1", "1.1.0", "1.1.1"},
		{">=1.0.0-rc.x", "1.0.0-rc.0 1.0.0", "1.0.0-beta"},
		{"<1.0.0-xyz", "1.0.0-abc", "1.0.0-xyz 1.0.0"},
		{"\t>=\t1.0.0", "1.0.0", "0.9.0"},
		{">01.x", "2.0.0", "1.0.0"},
	}
	for _, tt := range tests {
		r, err := semverx.ParseRange(tt.text)
		if err != nil {
			t.Errorf("ParseRange(%q): %v", tt.text, err)
			continue
		}
		if r.String() != tt.text {
			t.Errorf("String() = %q, want %q", r, tt.text)
		}
		for _, s := range strings.Fields(tt.in) {
			if !r.Contains(mustVersion(t, s)) {
				t.Errorf("%q does not contain %s", tt.text, s)
			}
		}
		for _, s := range strings.Fields(tt.out) {
			if r.Contains(mustVersion(t, s)) {
				t.Errorf("%q contains %s", tt.text, s)
			}
		}
		if r.Contains(semverx.Version{}) {
			t.Errorf("%q contains the zero Version", tt.text)
		}
	}
}

func TestZeroRange(t *testing.T) {
	var r semverx.Range
	if r.Contains(mustVersion(t, "1.0.0")) || r.String() != "" || r.Lints() != nil {
		t.Error("the zero Range is not empty")
	}
}

func TestParseRangeErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `no comparison in it; write ">=0.0.0-0" for any version`},
		{"*", `no comparison in it; write ">=0.0.0-0" for any version`},
		{"x", `no comparison in it; write ">=0.0.0-0" for any version`},
		{"1", `no comparison in it; write "1.x" for all of major 1`},
		{">=*", `no version in ">=*"; write ">=0.0.0-0" for any version`},
		{"latest", `no version in "latest"`},
		{"^1.0.0", `unknown operator "^"; write ">=1.0.0 <2.0.0-0"`},
		{"^0.2.3", `unknown operator "^"; write ">=0.2.3 <0.3.0-0"`},
		{"^0.0.3", `unknown operator "^"; write ">=0.0.3 <0.0.4-0"`},
		{"^0", `unknown operator "^"; write ">=0.0.0 <1.0.0-0"`},
		{"^0.0", `unknown operator "^"; write ">=0.0.0 <0.1.0-0"`},
		{"~1.2", `unknown operator "~"; write ">=1.2.0 <1.3.0-0"`},
		{"~1", `unknown operator "~"; write ">=1.0.0 <2.0.0-0"`},
		{"~> 1.2.3", `unknown operator "~>"; write ">=1.2.3 <1.3.0-0"`},
		{"^18446744073709551615.0.0", `unknown operator "^"`},
		{"1.2", `"1.2" is not a version: has 2 of the three numbers MAJOR.MINOR.PATCH; write "1.2.0", or "1.2.x" for all that begin so`},
		{">1.2", `"1.2" is not a version: has 2 of the three numbers MAJOR.MINOR.PATCH; write ">1.2.0", or ">1.2.x" for all that begin so`},
		{">=1", `"1" is not a version: has 1 of the three numbers MAJOR.MINOR.PATCH; write ">=1.0.0"`},
		{"v1.0.0", `unknown operator "v"; write "1.0.0", without the v`},
		{">=v1.0.0", `unknown operator ">=v"; write ">=1.0.0", without the v`},
		{"=>1.0.0", `unknown operator "=>"; write ">=1.0.0"`},
		{"=<1.0.0", `unknown operator "=<"; write "<=1.0.0"`},
		{"===1.0.0", `unknown operator "==="; write "=1.0.0"`},
		{"<>1.0.0", `unknown operator "<>"; write "!=1.0.0"`},
		{">=1.0.0,<2.0.0", `"1.0.0,<2.0.0" is not a version: has 5 of the three numbers MAJOR.MINOR.PATCH; separate comparisons with a space, not with a comma`},
		{">=1.0.0 <2.0.0, !1.5.0", `at offset 8: "2.0.0," is not a version: patch "0," is not a number; separate comparisons with a space, not with a comma`},
		{"1.0.0&&2.0.0", `"1.0.0&&2.0.0" is not a version: has 5 of the three numbers MAJOR.MINOR.PATCH; separate comparisons with a space, which means "and"`},
		{"1.0.0||2.0.0", `"1.0.0||2.0.0" is not a version: has 5 of the three numbers MAJOR.MINOR.PATCH; write "||" between two spaces`},
		{"1.0.0\t<2.0.0", `"1.0.0\t<2.0.0" is not a version: has 5 of the three numbers MAJOR.MINOR.PATCH; comparisons are separated by spaces only`},
		{"1.2.*", `"1.2.*" is not a version: patch "*" is not a number; write "1.2.x"`},
		{">=1.X", `"1.X" is not a version: has 2 of the three numbers MAJOR.MINOR.PATCH; write ">=1.x"`},
		{"|| 1.0.0", `nothing is before "||"`},
		{"1.0.0 ||", `at offset 8: nothing follows the last "||"`},
		{"1.0.0 || || 2.0.0", `at offset 9: nothing is between two "||"`},
		{"1.0.0 || * || 2.0.0", `at offset 11: nothing is between two "||"`},
		{">1.0.0-next", `the wildcard has no upper end: x must be the second of two components or the third of three; the letter x is read as a wildcard anywhere in a comparison; elsewhere than at the end only >= and < go with it`},
		{"1.2.3.x", `"1.2.3.0" is not a version: has 4 of the three numbers MAJOR.MINOR.PATCH; the letter x is read as a wildcard anywhere in a comparison; elsewhere than at the end only >= and < go with it`},
		{"\u0661.0.0", `"١.0.0" is not a version: major "١" is not a number`},
	}
	for _, tt := range tests {
		want := strings.Replace(tt.want, "at offset", "AT", 1)
		_, err := semverx.ParseRange(tt.in)
		var re *semverx.RangeError
		if !errors.As(err, &re) || re.Text != tt.in {
			t.Errorf("ParseRange(%q) = %v, no RangeError", tt.in, err)
			continue
		}
		prefix := "version range " + strconv.Quote(tt.in)
		if strings.HasPrefix(want, "AT") {
			want = prefix + " at offset" + want[2:]
		} else {
			want = prefix + ": " + want
		}
		if err.Error() != want {
			t.Errorf("ParseRange(%q)\n got %s\nwant %s", tt.in, err, want)
		}
	}
}

// TestHintsParse checks that every range that a hint proposes is valid.
func TestHintsParse(t *testing.T) {
	for _, s := range []string{"*", "^1.2.3", "~1.2", "^0", "v1.2.3", ">=v2", "=>1.0.0", "=<1.0.0", "<>1.0.0", "1.2.*", ">=1.X", "1.2", ">3", "1"} {
		_, err := semverx.ParseRange(s)
		var re *semverx.RangeError
		if !errors.As(err, &re) {
			t.Fatalf("ParseRange(%q): %v", s, err)
		}
		quoted := strings.Split(re.Hint, `"`)
		if len(quoted) < 3 {
			t.Errorf("ParseRange(%q): no hint", s)
		}
		for i := 1; i < len(quoted); i += 2 {
			if strings.HasPrefix(s, ">=v2") {
				continue // says only to leave out the v
			}
			if _, err := semverx.ParseRange(quoted[i]); err != nil {
				t.Errorf("the hint for %q proposes %q: %v", s, quoted[i], err)
			}
		}
	}
}

func TestRangeLimit(t *testing.T) {
	longest := strings.Repeat(" ", semverx.MaxRangeLen-5) + "1.0.0"
	if _, err := semverx.ParseRange(longest); err != nil {
		t.Error(err)
	}
	_, err := semverx.ParseRange(longest + " ")
	var limit *fairlead.InputLimitError
	if !errors.As(err, &limit) || limit.Max != semverx.MaxRangeLen {
		t.Errorf("one byte too long: %v", err)
	}
	var version *semverx.VersionError
	_, err = semverx.ParseRange(">=1.0.0-" + strings.Repeat("a", semverx.MaxVersionLen))
	if !errors.As(err, &limit) || !errors.As(err, &version) {
		t.Errorf("a version too long in a range: %v", err)
	}
}

func TestLints(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{">=1.0.0 <2.0.0", nil},
		{"<1.0.0 || >=2.0.0", nil},
		{"1.0.0 - 2.0.0", []string{
			`at offset 6: "-" is dropped: a hyphen makes no range here; write ">=LOW <=HIGH"`,
			`"1.0.0 - 2.0.0" can never match: no version meets all of its comparisons`}},
		{"!1.2.x", []string{
			`at offset 0: "!1.2.x" contradicts itself; write "<1.2.0 || >=1.3.0"`,
			`"!1.2.x" can never match: no version meets all of its comparisons`}},
		{">=1.0.0 *", []string{`at offset 8: "*" is dropped, as every single character is`}},
		{"1.x.x", []string{`at offset 0: "1.x.x" spans minor 0 only; write "1.x" for all of major 1`}},
		{"x.1.1", []string{`at offset 0: "x." before 1.1 is dropped: it is not an operator`}},
		{">=1.0.0-next", []string{`at offset 0: the letter x in "\u003e=1.0.0-next" is read as a wildcard, so that .x stands for .0`}},
		{">=2.0.0 <1.0.0 || 3.0.0", []string{`">=2.0.0 <1.0.0" can never match: no version meets all of its comparisons`}},
		{">1.0.0 <1.0.1-0", []string{`">1.0.0 <1.0.1-0" can never match: no version meets all of its comparisons`}},
		{">1.0.0-a <1.0.0-a.0", []string{`">1.0.0-a <1.0.0-a.0" can never match: no version meets all of its comparisons`}},
		{">1.0.0-a <1.0.0-a.1", nil},
		{"<0.0.0-0", []string{`"<0.0.0-0" can never match: no version meets all of its comparisons`}},
		{"<=0.0.0-0", nil},
		{">=1.0.0 <1.0.1-0.0 !1.0.0 !1.0.1-0", []string{`">=1.0.0 <1.0.1-0.0 !1.0.0 !1.0.1-0" can never match: no version meets all of its comparisons`}},
		{">=1.0.0 <=1.0.1-0 !1.0.0", nil},
		{">18446744073709551615.18446744073709551615.18446744073709551615", []string{
			`">18446744073709551615.18446744073709551615.18446744073709551615" can never match: no version meets all of its comparisons`}},
		{">1.18446744073709551615.18446744073709551615 <2.0.0", nil},
		{">1.1.18446744073709551615 <1.2.0-0", []string{`">1.1.18446744073709551615 <1.2.0-0" can never match: no version meets all of its comparisons`}},
	}
	for _, tt := range tests {
		r, err := semverx.ParseRange(tt.in)
		if err != nil {
			t.Errorf("ParseRange(%q): %v", tt.in, err)
			continue
		}
		got := strings.Join(r.Lints(), "\n")
		if want := strings.ReplaceAll(strings.Join(tt.want, "\n"), `\u003e`, ">"); got != want {
			t.Errorf("lints of %q\n got %s\nwant %s", tt.in, got, want)
		}
	}
}

// TestSkipRangesOfTheCatalog parses every skipRange of a real catalog.
func TestSkipRangesOfTheCatalog(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range skipRanges(t) {
		if seen[text] {
			continue
		}
		seen[text] = true
		r, err := semverx.ParseRange(text)
		if err != nil {
			t.Errorf("skipRange %q: %v", text, err)
		} else if lints := r.Lints(); lints != nil {
			t.Logf("skipRange %q: %s", text, lints)
		}
	}
	t.Logf("%d distinct skipRanges", len(seen))
}

func skipRanges(t *testing.T) []string {
	f, err := os.Open(samples.Data(t, "catalog", "slim.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for files := tar.NewReader(zip); ; {
		_, err := files.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(data), `"skipRange":`)[1:] {
			var text string
			if err := json.NewDecoder(strings.NewReader(part)).Decode(&text); err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
	}
}
