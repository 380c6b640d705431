package agree_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/semverx"
)

var (
	atoms = []string{
		"0", "1", "2", "3", "10", "01", "00", "x", "X", "x", "*", "rc", "rc1", "alpha", "-", "+", "next", ".", ".", ".", ".", ".x", ".x.x",
		" ", " ", " ", "  ", "||", " || ", " || || ", "|", "<", "<=", ">", ">=", "=", "==", "!", "!=", "^", "~", "v", "\t", ",",
		"9223372036854775807", "9223372036854775806", "18446744073709551615", "18446744073709551616",
		"\u0661", "\u00a0", "é", "\xff", "1.0.0", "1.2.3", "1.2", "2.0.0-rc.1", "1.0.0+b", "0.0.0", "-x", "+5", "-1",
	}
	operators = []string{"", "=", "==", "!", "!=", "<", "<=", ">", ">=", "> ", ">= ", "<  ", "= ", "! ", "^", "x.", "~"}
	numbers   = []string{"0", "1", "2", "3"}
	suffixes  = []string{"", "", "", "-0", "-1", "-a", "-a.0", "-a.1", "-rc.x", "-x.1", "-next", "-a-b", "-10", "-2", "-A", "-a.b.c", "-00", "-01", "--"}
	builds    = []string{"", "", "", "", "+b", "+x", "+1.2", "+01"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func junk(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(pick(r, atoms))
	}
	return b.String()
}

func randomVersion(r *rand.Rand) string {
	switch r.IntN(16) {
	case 0:
		return pick(r, numbers) + ".x" + pick(r, suffixes)
	case 1:
		return pick(r, numbers) + "." + pick(r, numbers) + ".x" + pick(r, suffixes)
	case 2:
		return pick(r, numbers) + ".x.x"
	case 3:
		return pick(r, numbers) + "." + pick(r, numbers)
	case 4, 5, 6:
		return junk(r, 8)
	}
	return pick(r, numbers) + "." + pick(r, numbers) + "." + pick(r, numbers) + pick(r, suffixes) + pick(r, builds)
}

func randomRange(r *rand.Rand) string {
	if r.IntN(4) == 0 {
		return junk(r, 10)
	}
	var b strings.Builder
	for i := range 1 + r.IntN(5) {
		if i > 0 {
			switch r.IntN(8) {
			case 0, 1:
				b.WriteString(" || ")
			case 2:
				b.WriteString("  ")
			case 3:
				b.WriteString(pick(r, atoms))
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(pick(r, operators) + randomVersion(r))
	}
	return b.String()
}

// version is one version as both sides read it.
type version struct {
	theirs semver.Version
	ours   semverx.Version
}

// checkVersion parses a version on both sides, strictly and tolerantly.
func checkVersion(t *testing.T, text string) (v version, ok bool) {
	t.Helper()
	theirs, theirErr := semver.Parse(text)
	ours, ourErr := semverx.Parse(text)
	if (theirErr == nil) != (ourErr == nil) || theirErr == nil && theirs.String() != ours.String() {
		t.Fatalf("Parse(%q): theirs %v, %v; ours %v, %v", text, theirs, theirErr, ours, ourErr)
	}
	tolerantTheirs, theirErr2 := semver.ParseTolerant(text)
	tolerantOurs, ourErr2 := semverx.ParseTolerant(text)
	if (theirErr2 == nil) != (ourErr2 == nil) || theirErr2 == nil && tolerantTheirs.String() != tolerantOurs.String() {
		t.Fatalf("ParseTolerant(%q): theirs %v, %v; ours %v, %v", text, tolerantTheirs, theirErr2, tolerantOurs, ourErr2)
	}
	return version{theirs, ours}, theirErr == nil
}

// contains calls their range, which may panic.
func contains(r semver.Range, v semver.Version) (in, panicked bool) {
	defer func() { panicked = recover() != nil }()
	return r(v), false
}

// checkRange parses a range on both sides and checks versions against it. Ours may
// refuse a range that theirs accepts only if theirs panics when used.
func checkRange(t *testing.T, text string, versions []version) {
	t.Helper()
	theirs, theirErr := semver.ParseRange(text)
	ours, ourErr := semverx.ParseRange(text)
	if theirErr != nil {
		if ourErr == nil {
			t.Fatalf("ParseRange(%q): theirs %v, ours takes it", text, theirErr)
		}
		return
	}
	if ourErr != nil {
		if !strings.Contains(ourErr.Error(), `nothing is between two "||"`) {
			t.Fatalf("ParseRange(%q): theirs takes it, ours %v", text, ourErr)
		}
		return
	}
	never := true
	for _, lint := range ours.Lints() {
		never = never && strings.Contains(lint, "can never match")
	}
	never = never && len(ours.Lints()) == 1+strings.Count(text, "||")
	for _, v := range versions {
		in, panicked := contains(theirs, v.theirs)
		if panicked || in != ours.Contains(v.ours) {
			t.Fatalf("range %q, version %v: theirs %v (panics: %v), ours %v", text, v.theirs, in, panicked, !in)
		}
		if in && never {
			t.Fatalf("range %q contains %v and is said never to match", text, v.theirs)
		}
	}
}

// TestVersionsAndRanges compares our reading of versions and ranges with that of a
// cluster, on random texts.
func TestVersionsAndRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pool := make([]version, 0, 64)
	for range long.N(100_000, 12_000_000) {
		if v, ok := checkVersion(t, randomVersion(r)); ok {
			if len(pool) < cap(pool) {
				pool = append(pool, v)
			} else {
				o := pool[r.IntN(len(pool))]
				if v.theirs.Compare(o.theirs) != v.ours.Compare(o.ours) {
					t.Fatalf("%v compared with %v: theirs %d, ours %d", v.theirs, o.theirs, v.theirs.Compare(o.theirs), v.ours.Compare(o.ours))
				}
				pool[r.IntN(len(pool))] = v
			}
		}
		if len(pool) == cap(pool) {
			from := r.IntN(len(pool) - 8)
			checkRange(t, randomRange(r), pool[from:from+8])
		}
	}
}

// FuzzVersionsAndRanges does the same on texts that the fuzzer generates.
func FuzzVersionsAndRanges(f *testing.F) {
	f.Add(">1.0.0 <2.0.0 !1.2.1 || 3.x", "1.2.3-rc.1+b")
	f.Add("1.0.0 || || 2.0.0", "v1.02")
	f.Add(">1.+5.x x.1.1 >=1.0.0-x.x", "1.2.-rc")
	f.Fuzz(func(t *testing.T, text, v string) {
		if len(v) > semverx.MaxVersionLen || len(text) > semverx.MaxVersionLen {
			return // theirs has no limits
		}
		var versions []version
		if v, ok := checkVersion(t, v); ok {
			versions = append(versions, v)
		}
		checkRange(t, text, versions)
	})
}

// dataDir is where real catalogs are, if there are any.
func dataDir() string {
	if dir := os.Getenv("FAIRLEAD_DATA"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "..", "shared", "data")
}

// TestSkipRangesOfTheCatalog checks every skipRange of a real catalog against every
// version in it.
func TestSkipRangesOfTheCatalog(t *testing.T) {
	f, err := os.Open(filepath.Join(dataDir(), "catalog", "slim.tar.gz"))
	if err != nil {
		t.Skipf("no real catalog at hand: %v", err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ranges, versions := map[string]bool{}, map[string]bool{}
	for files := tar.NewReader(unzipped); ; {
		if _, err := files.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		collect(t, string(data), `"skipRange":`, ranges)
		collect(t, string(data), `"version":`, versions)
	}
	var pool []version
	for text := range versions {
		if v, ok := checkVersion(t, text); ok {
			pool = append(pool, v)
		}
	}
	for text := range ranges {
		checkRange(t, text, pool)
	}
	t.Logf("%d ranges, %d versions", len(ranges), len(pool))
}

// collect adds the strings that follow a key.
func collect(t *testing.T, data, key string, into map[string]bool) {
	t.Helper()
	for _, part := range strings.Split(data, key)[1:] {
		var value any
		if err := json.NewDecoder(strings.NewReader(part)).Decode(&value); err != nil {
			t.Fatal(err)
		}
		if s, ok := value.(string); ok {
			into[s] = true
		}
	}
}
