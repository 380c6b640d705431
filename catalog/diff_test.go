package catalog_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/long"
)

func compare(t testing.TB, before, after *catalog.Catalog) *diff.Diff {
	t.Helper()
	d, err := diff.Compare(context.Background(), before, after, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDiffScripts runs the scripts of diffs: the input has the old catalog, a
// line "====" and the new one.
func TestDiffScripts(t *testing.T) {
	golden.Run(t, "testdata/diff/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			before, after, ok := strings.Cut(c.Input, "====\n")
			if !ok {
				t.Fatalf("%s: no line ====", c.Pos)
			}
			var out strings.Builder
			if err := compare(t, openText(t, before), openText(t, after)).WriteText(&out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
	})
}

// TestDiffProperties: a catalog does not differ from itself in whatever format
// and order; what came one way went the other; and what is filtered shows.
func TestDiffProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range long.N(40, 20_000) {
		s := newSynth(r)
		c := openText(t, s.text())
		for _, format := range formats {
			if d := compare(t, c, openText(t, inFormat(t, c, format))); !d.Empty() || d.Stranded() != 0 {
				t.Fatalf("%s differs: %+v", format, d)
			}
		}
		r.Shuffle(len(s.Channels), func(i, j int) { s.Channels[i], s.Channels[j] = s.Channels[j], s.Channels[i] })
		for _, ch := range s.Channels {
			r.Shuffle(len(ch.Entries), func(i, j int) { ch.Entries[i], ch.Entries[j] = ch.Entries[j], ch.Entries[i] })
		}
		for _, b := range s.Bundles {
			r.Shuffle(len(b.Properties), func(i, j int) { b.Properties[i], b.Properties[j] = b.Properties[j], b.Properties[i] })
		}
		if d := compare(t, c, openText(t, s.text())); !d.Empty() {
			t.Fatalf("in another order it differs: %+v", d)
		}
		part, _, err := edit.Filter(context.Background(), c, randomSelections(r, c), nil)
		if err != nil {
			t.Fatal(err)
		}
		there, back := compare(t, c, part), compare(t, part, c)
		if there.Empty() != (inFormat(t, part, catalog.FormatLines) == inFormat(t, c, catalog.FormatLines)) {
			t.Fatalf("empty: %v", there.Empty())
		}
		if swapped := swap(there); swapped != text(t, back) {
			t.Fatalf("back it is\n%sinstead of\n%s", text(t, back), swapped)
		}
	}
}

func text(t testing.TB, d *diff.Diff) string {
	var b strings.Builder
	plain := *d
	plain.Packages = nil
	for _, p := range d.Packages {
		p.Stranded = nil
		plain.Packages = append(plain.Packages, p)
	}
	if err := plain.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// swap returns the text of the diff in the other direction, without what is
// stranded.
func swap(d *diff.Diff) string {
	values := func(v *diff.Values) *diff.Values {
		if v == nil {
			return nil
		}
		return &diff.Values{Old: v.New, New: v.Old}
	}
	back := *d
	back.Packages = nil
	for _, p := range d.Packages {
		p.Added, p.Removed, p.DefaultChannel = p.Removed, p.Added, values(p.DefaultChannel)
		var channels []diff.ChannelDiff
		for _, c := range p.Channels {
			c.Added, c.Removed, c.Heads = c.Removed, c.Added, values(c.Heads)
			if c.Entries != nil {
				c.Entries = &diff.Lists{Added: c.Entries.Removed, Removed: c.Entries.Added}
			}
			if c.Edges != nil {
				c.Edges = &diff.Lists{Added: c.Edges.Removed, Removed: c.Edges.Added}
			}
			channels = append(channels, c)
		}
		var bundles []diff.BundleDiff
		for _, b := range p.Bundles {
			b.Added, b.Removed = b.Removed, b.Added
			bundles = append(bundles, b)
		}
		p.Channels, p.Bundles = channels, bundles
		back.Packages = append(back.Packages, p)
	}
	return text(nil, &back)
}

// TestStranded compares what a diff calls stranded with a search that does not
// use graphs.
func TestStranded(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	found := 0
	for range long.N(150, 20_000) {
		before, after := newSynth(r), newSynth(r)
		a, b := openText(t, before.text()), openText(t, after.text())
		want := map[string]bool{}
		for _, ch := range before.Channels {
			for _, e := range ch.Entries {
				for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
					if reaches(before, rules, ch.Package, ch.Name, e.Name) && !reaches(after, rules, ch.Package, ch.Name, e.Name) {
						want[rules.String()+" "+ch.Package+"/"+ch.Name+"/"+e.Name] = true
					}
				}
			}
		}
		got := map[string]bool{}
		for _, p := range compare(t, a, b).Packages {
			for _, s := range p.Stranded {
				for _, rules := range s.Rules {
					got[rules.String()+" "+p.Name+"/"+s.Channel+"/"+s.Bundle] = true
				}
				if s.Why == "" {
					t.Errorf("no reason for %+v", s)
				}
			}
		}
		found += len(got)
		for name := range want {
			if !got[name] {
				t.Fatalf("%s is not found to be stranded\n%s\n%s", name, before.text(), after.text())
			}
		}
		for name := range got {
			if !want[name] {
				t.Fatalf("%s is not stranded\n%s\n%s", name, before.text(), after.text())
			}
		}
	}
	if found == 0 {
		t.Error("nothing was ever stranded")
	}
}

// reaches searches for a way from a bundle to a head, entry by entry.
func reaches(s *synth, rules catalog.Rules, pkg, channel, name string) bool {
	var entries, stated []catalog.Entry
	for _, ch := range s.Channels {
		if ch.Package == pkg && ch.Name == channel {
			entries = ch.Entries
		}
		if ch.Package == pkg && (ch.Name == channel || rules == catalog.OLMv1) {
			stated = append(stated, ch.Entries...)
		}
	}
	covered, skipped := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		covered[e.Replaces] = true
		for _, s := range e.Skips {
			covered[s], skipped[s] = true, true
		}
	}
	target := map[string]bool{}
	for _, e := range entries {
		// In a valid channel what is not skipped is on the chain.
		target[e.Name] = rules == catalog.OLMv1 || !skipped[e.Name]
	}
	at := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for _, e := range stated {
			for from := range at {
				version := strings.TrimPrefix(from, pkg+".v")
				// Versions here have one digit in each place, so that texts order as they do.
				inRange := e.SkipRange != "" && "<"+version < e.SkipRange
				if !at[e.Name] && target[e.Name] && (e.Replaces == from || inRange || strings.Contains(" "+strings.Join(e.Skips, " ")+" ", " "+from+" ")) {
					at[e.Name], grown = true, true
				}
			}
		}
	}
	for _, e := range entries {
		if at[e.Name] && !covered[e.Name] {
			return true
		}
	}
	return false
}
