package cvo_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// TestOneLine: a message that is short is whole; of a long one the clause that says most is
// told, which is never cut at both ends.
func TestOneLine(t *testing.T) {
	short := "Cluster operator etcd is degraded:\n  members are missing."
	if got := cvo.OneLine(short); got != "Cluster operator etcd is degraded: members are missing" {
		t.Errorf("got %q", got)
	}
	chain := strings.Repeat("unable to sync the configuration of the network: ", 8) + "dial tcp: lookup mirror.example on 10.0.0.10:53: no such host"
	if got := cvo.OneLine(chain); !strings.HasSuffix(got, "no such host") || len([]rune(got)) > 200 || strings.HasPrefix(got, "…") && strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var links []string
		for range 1 + rnd.IntN(6) {
			links = append(links, strings.Repeat("ä", 1+rnd.IntN(250)/(1+rnd.IntN(8))))
		}
		text := strings.Join(links, ": ")
		got := cvo.OneLine(text)
		inner := strings.TrimSpace(strings.Trim(got, "…"))
		if len([]rune(got)) > 202 || inner == "" || !strings.Contains(text, inner) || strings.HasPrefix(got, "…") && strings.HasSuffix(got, "…") {
			t.Fatalf("%q: got %q", text, got)
		}
	}
}

// TestUsual: while it is too early to tell by the operators, an update is expected to
// take as long as the last one that was completed; without one, an hour. What the
// installation took says nothing.
func TestUsual(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	past := func(version string, state cvo.HistoryState, took time.Duration) cvo.History {
		h := cvo.History{Version: version, Image: "r@" + version, State: state, StartedTime: now.Add(-100 * time.Hour)}
		if took > 0 {
			end := h.StartedTime.Add(took)
			h.CompletionTime = &end
		}
		return h
	}
	install := past("4.18.0", cvo.Completed, 9*time.Hour)
	for _, c := range []struct {
		past []cvo.History
		want time.Duration
	}{
		{[]cvo.History{install}, time.Hour},
		{[]cvo.History{past("4.18.1", cvo.Completed, 31*time.Minute), install}, 31 * time.Minute},
		{[]cvo.History{past("4.18.2", cvo.Partial, 7*time.Minute), past("4.18.1", cvo.Completed, 31*time.Minute), install}, 31 * time.Minute},
		{[]cvo.History{past("4.18.2", cvo.Partial, 7*time.Minute), install}, time.Hour},
	} {
		d := &cvo.Dump{Version: &cvo.ClusterVersion{}}
		current := cvo.History{Version: "4.18.9", Image: "r@4.18.9", State: cvo.Partial, StartedTime: now.Add(-time.Minute)}
		d.Version.Status.Desired = cvo.Release{Version: "4.18.9", Image: "r@4.18.9"}
		d.Version.Status.History = append([]cvo.History{current}, c.past...)
		for i := range 3 {
			o := cvo.ClusterOperator{}
			o.Name, o.Annotations = fmt.Sprint("o", i), map[string]string{"include.release.openshift.io/x": "true"}
			o.Status.Versions = []cvo.Operand{{Name: "operator", Version: "4.18.1"}}
			d.Operators = append(d.Operators, o)
		}
		r := cvo.Inspect(d, now)
		if want := time.Duration(float64(c.want-time.Minute) * 1.2); r.Remaining == nil || *r.Remaining != want.Truncate(time.Second) {
			t.Errorf("%d entries: remaining %v, want %v", len(c.past), r.Remaining, want)
		}
	}
}
