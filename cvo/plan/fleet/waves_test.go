package fleet_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan/fleet"
	"github.com/fairlead/fairlead/internal/golden"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(t *testing.T, text string) time.Time {
	if text == "-" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return now.Add(d)
}

func size(text string) fairlead.IntOrString {
	if n, err := strconv.Atoi(text); err == nil {
		return fairlead.IntOrString{Int: n}
	}
	return fairlead.IntOrString{Text: text}
}

// read reads a row: a strategy, and a fleet.
func read(t *testing.T, c *golden.Command) (*fleet.World, *fleet.Strategy) {
	s, w := &fleet.Strategy{}, &fleet.World{}
	for _, key := range []string{"kind", "deadline", "soak", "failures", "concurrency", "first"} {
		value := c.Value(key)
		if !c.Has(key) {
			continue
		}
		switch key {
		case "kind":
			s.Order = map[string]fleet.Order{"All": fleet.All, "ProgressivePerGroup": fleet.PerGroup}[value]
		case "deadline":
			if value == "None" {
				continue
			}
			if s.Deadline, _ = time.ParseDuration(value); s.Deadline == 0 {
				s.Deadline = -1
			}
		case "soak":
			s.Soak, _ = time.ParseDuration(value)
		case "failures":
			s.Failures = size(value)
		case "concurrency":
			s.Concurrency = size(value)
		case "first":
			s.First = append(s.First, value)
		}
	}
	for line := range strings.Lines(c.Input) {
		left, right, _ := strings.Cut(strings.TrimSpace(line), ":")
		word := strings.Fields(left)
		switch word[0] {
		case "group":
			w.Groups = append(w.Groups, fleet.Group{Name: strings.Join(append(word[2:], ""), "") + "#" + word[1], Clusters: strings.Fields(right)})
			if len(word) > 2 {
				w.Groups[len(w.Groups)-1].Name = word[2]
			}
		case "is":
			w.Clusters = append(w.Clusters, fleet.Cluster{Name: word[1], Status: fleet.Status(word[2]), Since: ago(t, word[3])})
		}
	}
	return w, s
}

// TestRollout gives Choose what the RolloutHandler of Open Cluster Management is given by
// its own tests, and expects what they do; past.txt holds what differs from it.
func TestRollout(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			w, s := read(t, c)
			got, err := fleet.Choose(w, s, now)
			if err != nil {
				return err.Error()
			}
			var b strings.Builder
			when := func(at time.Time) string {
				if at.IsZero() {
					return "-"
				}
				return at.Sub(now).String()
			}
			for _, x := range got.Go {
				fmt.Fprintf(&b, "go %s %s %s\n", x.Cluster, x.Status, when(x.Again))
			}
			for _, x := range got.TimedOut {
				fmt.Fprintf(&b, "timeout %s %s\n", x.Cluster, when(x.Again))
			}
			for _, x := range got.Removed {
				fmt.Fprintf(&b, "removed %s\n", x)
			}
			if got.Stopped {
				b.WriteString("stopped\n")
			}
			if !got.Again.IsZero() {
				fmt.Fprintf(&b, "again %s\n", got.Again.Sub(now))
			}
			return b.String()
		}
	})
}

// TestWhy says of each cluster how it stands.
func TestWhy(t *testing.T) {
	w := &fleet.World{
		Groups: []fleet.Group{{Name: "a", Clusters: []string{"a1", "a2", "a3", "a4", "a5"}}, {Name: "b", Clusters: []string{"b1"}}},
		Clusters: []fleet.Cluster{
			{Name: "a1", Status: fleet.Failed, Since: now}, {Name: "a2", Status: fleet.Skip}, {Name: "a3", Status: fleet.Progressing, Since: now.Add(-time.Hour)},
			{Name: "a4", Status: fleet.TimeOut}, {Name: "a5", Status: fleet.Succeeded, Since: now.Add(-time.Hour)},
		},
	}
	s := &fleet.Strategy{Order: fleet.PerGroup, Deadline: time.Minute, Failures: fairlead.IntOrString{Int: 1}}
	for name, want := range map[string]string{
		"a1": "a1 is under way (Failed)",
		"a2": "a2 is left out",
		"a3": "a3 timed out: it was under way for longer than the deadline",
		"a4": "a4 timed out: it was under way for longer than the deadline",
		"a5": "a5 is done",
		"b1": "b1 does not start: a1 and a4 failed before it, and at most 1 may fail",
		"x":  "x is in no group, so it is never updated",
	} {
		if got, err := fleet.Why(w, s, now, name); err != nil || got != want {
			t.Errorf("%q, %v; not %q", got, err, want)
		}
	}
	for _, bad := range []fleet.Strategy{{Order: "x"}, {Concurrency: fairlead.IntOrString{Text: "x"}}, {Failures: fairlead.IntOrString{Text: "NaN%"}}, {Soak: -1}} {
		if _, err := fleet.Why(w, &bad, now, "a1"); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
