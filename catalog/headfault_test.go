package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

// TestHeadFault: a channel without a single head names the entry that makes it so, in every
// place that says so.
func TestHeadFault(t *testing.T) {
	chain := func(change func(e []catalog.Entry)) []catalog.Entry {
		e := chained(4)
		change(e)
		return e
	}
	for name, c := range map[string]struct {
		entries []catalog.Entry
		other   []catalog.Entry
		entry   string
		words   []string // of the cause and the hint
	}{
		"the newest is skipped by an older one": {entries: chain(func(e []catalog.Entry) { e[1].Skips = []string{"p.v0.0.3"} }),
			entry: "p.v0.0.1", words: []string{"p.v0.0.3, the newest, is skipped by p.v0.0.1", "remove p.v0.0.3 from the skips of p.v0.0.1"}},
		"the newest skips itself": {entries: chain(func(e []catalog.Entry) { e[3].Skips = []string{"p.v0.0.3"} }),
			entry: "p.v0.0.3", words: []string{"skips itself", "its own skips"}},
		"the newest is replaced by the oldest": {entries: chain(func(e []catalog.Entry) { e[0].Replaces = "p.v0.0.3" }),
			entry: "p.v0.0.0", words: []string{"is replaced by p.v0.0.0", "nothing if it is the oldest"}},
		"the prefix is missing": {entries: chain(func(e []catalog.Entry) { e[2].Replaces = "v0.0.1" }),
			entry: "p.v0.0.2", words: []string{"did you mean p.v0.0.1", "write p.v0.0.1"}},
		"two replace the same": {entries: chain(func(e []catalog.Entry) { e[3].Replaces = "p.v0.0.1" }),
			entry: "p.v0.0.3", words: []string{"both p.v0.0.2 and p.v0.0.3 replace p.v0.0.1", "make p.v0.0.3 replace p.v0.0.2"}},
		"one replaces what is in another channel": {entries: chain(func(e []catalog.Entry) { e[3].Replaces = "p.v0.0.9" }),
			other: []catalog.Entry{{Name: "p.v0.0.9"}}, entry: "p.v0.0.3", words: []string{"but in c1", "add the entry p.v0.0.9 to this channel"}},
		"one replaces what is nowhere": {entries: chain(func(e []catalog.Entry) { e[2].Replaces = "p.v0.0.7" }),
			entry: "p.v0.0.2", words: []string{"p.v0.0.2 replaces p.v0.0.7 (not in the channel)", "make p.v0.0.2 replace p.v0.0.1"}},
		"one replaces nothing": {entries: chain(func(e []catalog.Entry) { e[2].Replaces = "" }),
			entry: "p.v0.0.2", words: []string{"p.v0.0.2 replaces nothing", "make p.v0.0.2 replace p.v0.0.1"}},
	} {
		channels := [][]catalog.Entry{c.entries}
		if c.other != nil {
			channels = append(channels, c.other)
		}
		text := hardText(channels...)
		p, _ := openText(t, text).Package("p")
		ch, _ := p.Channel("c0")
		f := ch.HeadFault(catalog.OLMv0)
		if f == nil || f.Entry != c.entry {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		_, report := mustCheck(t, text)
		path := ch.Graph(catalog.OLMv0).WhyNot("p.v0.0.0", "p.v0.0.3")
		for _, w := range c.words {
			if !strings.Contains(f.Why+" "+f.Hint, w) {
				t.Errorf("%s: no %q in %q, %q", name, w, f.Why, f.Hint)
			}
		}
		if path == nil || len(f.Heads) > 0 && !strings.Contains(path.String(), f.Why) {
			t.Errorf("%s: the path does not say so: %v", name, path)
		}
		if !slices.ContainsFunc(report.Findings(), func(d *catalog.Diagnostic) bool { return strings.Contains(d.Message, f.Why) && d.Hint == f.Hint }) {
			t.Errorf("%s: the check does not say so: %v", name, report.Findings())
		}
	}
}

// TestHeadFaultHelps: where one entry is to replace another one, doing that leaves fewer heads.
func TestHeadFaultHelps(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 46))
	helped := 0
	for range long.N(300, 20_000) {
		entries := chained(3 + r.IntN(8))
		for range 1 + r.IntN(2) {
			e := &entries[r.IntN(len(entries))]
			e.Replaces = pick(r, []string{"", "v0.0.1", "p.v0.9.9", fmt.Sprintf("p.v0.0.%d", r.IntN(len(entries)))})
		}
		p, _ := openText(t, hardText(entries)).Package("p")
		ch, _ := p.Channel("c0")
		f := ch.HeadFault(catalog.AsWritten)
		if (f == nil) != (len(ch.Heads()) == 1) {
			t.Fatalf("%v: %+v", ch.Heads(), f)
		}
		if f == nil || f.Entry == "" {
			continue
		}
		at := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == f.Entry })
		if at < 0 {
			t.Fatalf("%+v names no entry of %+v", f, entries)
		}
		other, ok := strings.CutPrefix(f.Hint, "make "+f.Entry+" replace ")
		if f.Meant != "" {
			other, ok = f.Meant, true
		}
		if !ok || len(f.Heads) != 2 {
			continue
		}
		other, _, _ = strings.Cut(other, ",")
		repaired := slices.Clone(entries)
		repaired[at].Replaces = other
		if heads := catalog.Heads(repaired); f.Meant == "" && len(heads) != 1 {
			t.Fatalf("%+v: %q leaves heads %q", entries, f.Hint, heads)
		}
		helped++
	}
	if helped < 50 {
		t.Errorf("only %d could be helped", helped)
	}
}

// TestHeadFaultRules: what counts as an entry, and which of its skips is meant.
func TestHeadFaultRules(t *testing.T) {
	fault := func(rules catalog.Rules, text string) *catalog.HeadFault {
		p, _ := openText(t, text).Package("p")
		ch, _ := p.Channel("c0")
		return ch.HeadFault(rules)
	}
	// An entry without a bundle is a head as it is written, and OLM does not see it: it has no version either,
	// so that none of the two is the newer one.
	lines := strings.Split(strings.TrimSpace(hardText(append(chained(2), catalog.Entry{Name: "p.v0.0.9"}))), "\n")
	bare := strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		return strings.Contains(l, "olm.bundle") && strings.Contains(l, "p.v0.0.9")
	}), "\n")
	if f := fault(catalog.OLMv0, bare); f != nil {
		t.Errorf("OLM: %+v", f)
	}
	if f := fault(catalog.AsWritten, bare); f == nil || len(f.Heads) != 2 || f.Entry != "" || !strings.Contains(f.Hint, "the newest of them") {
		t.Errorf("as written: %+v", f)
	}
	// An entry that is listed twice is one head.
	e := chained(3)
	if f := fault(catalog.AsWritten, hardText(append(e, e[2]))); f != nil {
		t.Errorf("twice: %+v", f)
	}
	// The second of its skips lacks the prefix; a name that means the entry itself is not the cause.
	e = chained(4)
	e[2].Replaces, e[3].Skips = "", []string{"p.v0.0.0", "v0.0.1"}
	if f := fault(catalog.OLMv0, hardText(e)); f == nil || f.Entry != "p.v0.0.3" || f.Field != "skips" || f.Index != 1 || f.Meant != "p.v0.0.1" {
		t.Errorf("skips: %+v", f)
	}
	e = chained(4)
	e[2].Replaces = "v0.0.2"
	if f := fault(catalog.OLMv0, hardText(e)); f == nil || f.Meant != "" {
		t.Errorf("itself: %+v", f)
	}
}
