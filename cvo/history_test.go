package cvo_test

import (
	"fmt"
	"math/rand/v2"
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

// What the operator's Test_prune pins, in the words of §1.15: eleven entries of
// which ten are kept.
func TestPrune(t *testing.T) {
	for _, c := range []struct{ name, before, gone string }{
		{"the oldest of a minor version that is neither first nor last", "4.3.1 4.3.0 4.2.5 4.2.4 4.2.3 4.2.2 4.2.1 4.2.0 4.1.2 4.1.1 4.1.0", "4.1.1"},
		{"a partial one between patches", "4.3.1 4.3.0 4.2.5 4.2.4 4.2.3 4.2.2 4.2.1 4.1.3 4.1.2p 4.1.1 4.1.0", "4.1.2"},
		{"between patches rather than between minors", "4.7.1 4.7.0 4.6.5 4.6.4 4.6.3 4.6.2p 4.6.1 4.6.0p 4.5.0 4.4.0 4.3.0", "4.6.2"},
		{"never the newest completed", "4.9.9p 4.9.8p 4.9.7p 4.9.6p 4.9.5p 4.9.4p 4.2.1 4.1.9p 4.1.8p 4.1.7p 4.1.6p", "4.1.7"},
		{"minors of other majors are others", "5.1.5 5.1.4 5.1.3 5.1.2 5.1.1 5.1.0 4.1.4 4.1.3 4.1.2 4.1.1 4.1.0", "4.1.1"},
	} {
		got := words(cvo.Prune(history(c.before), 10))
		want := strings.TrimSpace(strings.Join(strings.Fields(strings.Replace(" "+strings.ReplaceAll(c.before, " ", "  ")+" ", " "+c.gone+" ", " ", 1)), " "))
		want = strings.Replace(want, c.gone+"p ", "", 1)
		if got != want {
			t.Errorf("%s:\n%s, not\n%s", c.name, got, want)
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
