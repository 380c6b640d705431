package cvo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/long"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// history reads "4.1.3 4.1.2p 4.1.1": newest first, p for partial.
func history(text string) []cvo.History {
	var list []cvo.History
	for word := range strings.FieldsSeq(text) {
		h := cvo.History{State: cvo.Completed, StartedTime: noon, CompletionTime: &noon, Version: strings.TrimSuffix(word, "p"), Image: "image-" + strings.TrimSuffix(word, "p")}
		if strings.HasSuffix(word, "p") {
			h.State = cvo.Partial
		}
		list = append(list, h)
	}
	return list
}

func words(list []cvo.History) string {
	var out []string
	for _, h := range list {
		out = append(out, h.Version+map[cvo.HistoryState]string{cvo.Partial: "p"}[h.State])
	}
	return strings.Join(out, " ")
}

// The five rows of Test_prune, and more: eleven entries of which ten are kept.
func TestPrune(t *testing.T) {
	for _, c := range []struct {
		name, before string
		gone         int // index
	}{
		{"partial update within a minor transition", "4.6.3 4.5.3 4.4.3 4.3.3 4.3.2 4.3.1 4.2.1 4.1.4p 4.1.3p 4.1.2p 4.1.1", 9},
		{"partial update within a z-stream transition", "4.5.3 4.4.3 4.4.3 4.4.2 4.1.10 4.1.9 4.1.4 4.1.3p 4.1.2 4.0.1p 4.0.1", 7},
		{"prune oldest not in mostImportantWeight set", "4.11.0 4.10.0 4.9.0 4.8.0 4.7.0 4.6.0 4.5.0 4.4.0 4.3.0 4.2.0 4.1.0", 9},
		{"prune only partial not in mostImportantWeight set", "4.11.0 4.10.0p 4.9.0 4.8.0 4.7.0 4.6.0p 4.5.0 4.4.0 4.3.0 4.2.0 4.1.0", 5},
		{"prune the z-stream partial over the minor partial", "4.11.0 4.10.0 4.9.0 4.8.0 4.6.1 4.6.1p 4.6.0 4.4.0 4.3.0p 4.2.0 4.1.0", 5},
		// What they leave open.
		{"the oldest of a minor version that is neither first nor last", "4.3.1 4.3.0 4.2.5 4.2.4 4.2.3 4.2.2 4.2.1 4.2.0 4.1.2 4.1.1 4.1.0", 9},
		{"a completed one inside a minor version rather than a partial one between minors", "4.9.0 4.8.0 4.7.0 4.6.0 4.5.0 4.3.3 4.3.2 4.3.1 4.2.0p 4.1.0 4.0.0", 6},
		{"a partial one between patches rather than an older completed one", "4.9.0 4.8.0 4.7.0 4.6.0 4.5.9 4.5.8p 4.5.7 4.5.6 4.5.5 4.5.4 4.0.0", 5},
		{"never the newest completed", "4.9.9p 4.9.8p 4.9.7p 4.9.6p 4.9.5p 4.9.4p 4.2.1 4.1.9p 4.1.8p 4.1.7p 4.1.6p", 9},
		{"minors of other majors are others", "5.1.5 5.1.4 5.1.3 5.1.2 5.1.1 5.1.0 4.1.4 4.1.3 4.1.2 4.1.1 4.1.0", 9},
	} {
		before := history(c.before)
		want := words(slices.Delete(slices.Clone(before), c.gone, c.gone+1))
		if got := words(cvo.Prune(before, 10)); got != want {
			t.Errorf("%s:\n%s, not\n%s", c.name, got, want)
		}
	}
}

// The rows of the tests of what Prune goes by: isTheInitialEntry,
// isAFinalEntry, isTheMostRecentCompletedEntry, isTheFirstOrLastCompletedInAMinor,
// isPartialPortionOfMinorTransition, isPartialWithinAZStream.
func TestPruneParts(t *testing.T) {
	const (
		six   = "0.0.10p 0.0.9p 0.0.8p 0.0.7 0.0.6p 0.0.5p"
		three = "4.3.3 4.3.2 4.3.1 4.2.1 4.2.1p 4.2.1p 4.2.1p 4.1.1"
		open  = "4.3.3p 4.3.2 4.3.1 4.2.1 4.2.1p 4.2.1p 4.2.1p 4.1.1"
		begun = "4.3.3 4.3.2 4.3.1 4.2.1 4.2.1p 4.2.1p 4.2.1p 4.1.1p"
	)
	for _, c := range []struct {
		name string
		f    func([]cvo.History, int) bool
		list string
		i    int
		want bool
	}{
		{"is the initial entry", cvo.Kept, six + " 0.0.4p", 6, true},
		{"is not the initial entry", cvo.Kept, six + " 0.0.4p", 5, false},
		{"is a final entry", cvo.Kept, six + " 0.0.4p", 4, true},
		{"is not a final entry", cvo.Kept, six + " 0.0.4p 0.0.3p", 5, false},
		{"is the most recent completed entry", cvo.Kept, "0.1.5p 0.1.4p 0.1.3p 0.1.2p 0.1.1p 0.0.10p 0.0.9 0.0.8p 0.0.7 0.0.6p", 6, true},
		{"is not the most recent completed entry", cvo.Kept, "0.1.5p 0.1.4p 0.1.3p 0.1.2p 0.1.1p 0.0.10p 0.0.9 0.0.8p 0.0.7 0.0.6p", 8, false},
		{"is not the most recent completed entry because partial", cvo.Kept, "0.1.5p 0.1.4p 0.1.3p 0.1.2p 0.1.1p 0.0.10p 0.0.9 0.0.8p 0.0.7 0.0.6p", 7, false},
		{"is the first completed in a minor", cvo.EdgeOfMinor, three, 3, true},
		{"is the last completed in a minor", cvo.EdgeOfMinor, open, 1, true},
		{"is the first completed in a minor because it is the first", cvo.EdgeOfMinor, three, 7, true},
		{"is the last completed in a minor because it is the last", cvo.EdgeOfMinor, three, 0, true},
		{"is not the first or the last completed in a minor, partial", cvo.EdgeOfMinor, three, 4, false},
		{"is not the first or the last completed in a minor", cvo.EdgeOfMinor, "4.3.3 4.3.2 4.4.1p 4.3.1 4.2.1 4.2.1p 4.2.1p 4.2.1p 4.1.1", 1, false},
		{"is the partial portion of a minor transition", cvo.BetweenMinors, three, 6, true},
		{"is the partial portion of a minor transition, diff target minor", cvo.BetweenMinors, "4.3.3 4.3.2 4.3.1 4.2.1p 4.1.1", 3, true},
		{"is the partial portion of a minor transition, same source minor", cvo.BetweenMinors, "4.3.3 4.3.2 4.3.1 4.2.1p 4.2.1", 3, true},
		{"is not the partial portion of a minor transition because it is the first", cvo.BetweenMinors, begun, 7, false},
		{"is not the partial portion of a minor transition because it is the last", cvo.BetweenMinors, open, 0, false},
		{"is not the partial portion of a minor transition because it is completed", cvo.BetweenMinors, three, 3, false},
		{"is the partial portion of a z-stream transition", cvo.BetweenPatches, "4.3.3 4.3.2 4.3.1 4.2.2 4.2.2p 4.2.2p 4.2.2p 4.2.1", 6, true},
		{"is the partial portion of a z-stream transition, diff target micro", cvo.BetweenPatches, "4.3.3 4.3.2 4.2.3 4.2.2p 4.2.1", 3, true},
		{"is the partial portion of a z-stream transition, same source micro", cvo.BetweenPatches, "4.3.3 4.3.2 4.2.2 4.2.1p 4.2.1", 3, true},
		{"is not the partial portion of a z-stream transition because it is the first", cvo.BetweenPatches, begun, 7, false},
		{"is not the partial portion of a z-stream transition because it is the last", cvo.BetweenPatches, open, 0, false},
		{"is not the partial portion of a z-stream transition because it is completed", cvo.BetweenPatches, three, 3, false},
		// What they leave open.
		{"between one version and itself", cvo.BetweenPatches, "4.2.1 4.2.2p 4.2.1", 1, false},
		{"between minor versions is not between patches", cvo.BetweenPatches, "4.3.1 4.2.1p 4.2.0", 1, false},
	} {
		if got := c.f(history(c.list), c.i); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The rows of Test_sameMinorVersion, Test_sameZStreamVersion and
// TestGetEffectiveMinor. The major version counts here, and what is not a number is
// none.
func TestMinorOf(t *testing.T) {
	for _, c := range [][2]string{
		{"4.3.3", "4.3"}, {"4.3.2", "4.3"}, {"4.3", "4.3"}, {"4.4.3", "4.4"}, {"v4.7.12.3+foo", "4.7"}, {"v4.7", "4.7"},
		{"", ""}, {"432", ""}, {"something@very-differe", ""}, {".3.2", ""}, {"4..3", ""}, {"5.3.3", "5.3"},
	} {
		if got := cvo.MinorOf(cvo.History{Version: c[0]}); got != c[1] {
			t.Errorf("%q: %q, not %q", c[0], got, c[1])
		}
	}
}

// The rows of Test_mergeEqualVersions, and that of a head without image.
func TestSameRelease(t *testing.T) {
	for _, c := range []struct {
		name           string
		image, version string // of the head
		to             cvo.Release
		want           bool
	}{
		{"equal", "a", "0.0.1", cvo.Release{Image: "a", Version: "0.0.1"}, true},
		{"missing current version", "a", "", cvo.Release{Image: "a", Version: "0.0.1"}, true},
		{"missing desired version", "a", "0.0.1", cvo.Release{Image: "a"}, true},
		{"version equal, desired image missing", "a", "0.0.1", cvo.Release{Version: "0.0.1"}, false},
		{"other image", "a", "0.0.1", cvo.Release{Image: "b", Version: "0.0.1"}, false},
		{"other version", "a", "0.0.1", cvo.Release{Image: "a", Version: "0.0.2"}, false},
		{"missing current image", "", "0.0.1", cvo.Release{Image: "a", Version: "0.0.1"}, true},
	} {
		if got := cvo.SameRelease(cvo.History{Image: c.image, Version: c.version}, c.to); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRecord(t *testing.T) {
	var h []cvo.History
	step := func(version, image string, done bool, want string) {
		t.Helper()
		h = cvo.Record(h, cvo.Release{Version: version, Image: image}, false, "", done, noon)
		if words(h) != want {
			t.Errorf("%s: %s, not %s", version, words(h), want)
		}
	}
	step("4.1.0", "", false, "") // without an image nothing is recorded
	step("4.1.0", "a", false, "4.1.0p")
	step("4.1.0", "a", true, "4.1.0")
	step("4.1.0", "a", false, "4.1.0")        // completed stays completed
	step("", "b", false, "p 4.1.0")           // the version is not known yet
	step("4.2.0", "b", false, "4.2.0p 4.1.0") // and now it is
	if h[0].CompletionTime != nil {
		t.Error("a partial entry at the head has ended")
	}
	step("4.2.0", "c", false, "4.2.0p 4.2.0p 4.1.0") // another image is another release
	if h[1].CompletionTime == nil || h[1].State != cvo.Partial {
		t.Errorf("the release that was left: %+v", h[1])
	}
	h = cvo.Record(h, cvo.Release{Version: "4.2.0", Image: "c"}, true, "a risk", false, noon)
	h = cvo.Record(h, cvo.Release{Version: "4.2.0", Image: "c"}, false, "", true, noon)
	if !h[0].Verified || h[0].AcceptedRisks != "a risk" {
		t.Errorf("what was noted is lost: %+v", h[0])
	}
}

// Whatever happens: at most a hundred entries, the head and the oldest stay, no
// two neighbours are the same release, and the argument is not changed.
func TestRecordProperties(t *testing.T) {
	for seed := range long.N(30, 3000) {
		r := rand.New(rand.NewPCG(5, uint64(seed)))
		var h []cvo.History
		first := ""
		for n := range 300 {
			before := words(h)
			release := cvo.Release{Version: fmt.Sprintf("4.%d.%d", r.IntN(8), r.IntN(30)), Image: fmt.Sprint("i", r.IntN(60))}
			next := cvo.Record(h, release, false, "", r.IntN(2) == 0, noon.Add(time.Duration(n)*time.Minute))
			if words(h) != before {
				t.Fatalf("seed %d: the argument was changed", seed)
			}
			h = next
			if first == "" {
				first = h[0].Image
			}
			if len(h) > 100 || h[0].Image != release.Image || h[len(h)-1].Image != first {
				t.Fatalf("seed %d: %d entries, from %s to %s", seed, len(h), h[0].Image, h[len(h)-1].Image)
			}
		}
	}
}
