package olm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// alter returns a change of worlds that is different for each seed: entries are
// removed, and bundles lose the APIs that they provide.
func alter(seed uint64) func(d *drawer) {
	rnd := rand.New(rand.NewPCG(seed, 77))
	return func(d *drawer) {
		for _, c := range d.w.catalogs {
			for _, p := range c.packages {
				for _, b := range p.bundles {
					if rnd.IntN(12) == 0 {
						b.provides = nil
					}
				}
				for _, ch := range p.channels {
					down := walk(ch)
					switch at := 1 + rnd.IntN(len(down)); {
					case at == len(down):
					case rnd.IntN(4) == 0:
						ch.entries = down[:at] // the oldest are removed
					case rnd.IntN(4) == 0:
						ch.entries = down[at:] // the newest are removed
					}
				}
			}
		}
	}
}

// walk lists the entries of a channel from its head, including those that are
// skipped.
func walk(ch *wChannel) []*wEntry {
	e := chainOf(&wChannel{entries: unskipped(ch)})
	down := make([]*wEntry, len(e))
	for i := range e {
		at := slices.IndexFunc(ch.entries, func(o *wEntry) bool { return o.name == e[i].name })
		down[i] = ch.entries[at]
	}
	return down
}

func unskipped(ch *wChannel) []*wEntry {
	var all []*wEntry
	for _, e := range ch.entries {
		all = append(all, &wEntry{name: e.name, replaces: e.replaces})
	}
	return all
}

// canRise reports whether edges lead from the installed operator of a
// subscription to a head, by trying all chains of them.
func canRise(w *world, s *wSub) bool {
	o := newOracle(w)
	current := o.current(s)
	if current == nil {
		return true
	}
	type at struct {
		name    string
		version int
	}
	heads, known := map[string]bool{}, false
	var edges []*wEntry
	version := map[string]int{}
	for _, c := range w.catalogs {
		for _, p := range c.packages {
			for _, ch := range p.channels {
				if p.name == s.pkg && (s.source == "" || s.source == c.name) && (s.channel == "" || s.channel == ch.name) {
					chain := chainOf(ch)
					known = true
					heads[chain[0].name] = true
					edges = append(edges, chain...)
				}
			}
			for _, b := range p.bundles {
				version[b.name] = b.version
			}
		}
	}
	seen := map[at]bool{}
	var rise func(x at) bool
	rise = func(x at) bool {
		if heads[x.name] {
			return true
		}
		if seen[x] {
			return false
		}
		seen[x] = true
		return slices.ContainsFunc(edges, func(e *wEntry) bool {
			return (e.replaces == x.name || slices.Contains(e.skips, x.name) || e.skipRange.contains(x.version)) && rise(at{e.name, version[e.name]})
		})
	}
	return !known || rise(at{current.bundle.name, current.bundle.version})
}

// TestImpact compares the impact with the result of resolving every member
// twice.
func TestImpact(t *testing.T) {
	n := long.N(100, 100_000)
	counts := map[olm.ImpactKind]int{}
	for seed := range uint64(n / batchSize) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		was, is := drawBatchOf(t, seed, func(*drawer) {}), drawBatchOf(t, seed, alter(seed))
		opts := &olm.Options{PartialOK: true}
		before, err := olm.NewResolver(was.sources, opts)
		if err != nil {
			t.Fatal(err)
		}
		after, err := olm.NewResolver(is.sources, opts)
		if err != nil {
			t.Fatal(err)
		}
		var fleet []olm.Member
		for i, w := range was.worlds {
			install(w, rnd)
			is.worlds[i].subs, is.worlds[i].installed = w.subs, w.installed
			fleet = append(fleet, olm.Member{Name: fmt.Sprint(i), Request: w.request()})
		}
		f, err := olm.Impact(context.Background(), before, after, fleet)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]olm.MemberImpact{}
		for _, m := range f.Members {
			got[m.Name] = m
		}
		for i, w := range was.worlds {
			compareImpact(t, got[fmt.Sprint(i)], w, is.worlds[i], before, after, counts)
		}
		if nothing, err := olm.Impact(context.Background(), after, after, fleet); err != nil || nothing.Unaffected != len(fleet) {
			t.Fatalf("the same catalogs: %v, %v", nothing, err)
		}
	}
	t.Logf("%d worlds: %v", n, counts)
	for _, kind := range []olm.ImpactKind{olm.Broken, olm.Stranded, olm.Changed, olm.Mended} {
		if counts[kind]*200 < n {
			t.Errorf("too few are %s to mean something", kind)
		}
	}
}

func compareImpact(t *testing.T, m olm.MemberImpact, was, is *world, before, after *olm.Resolver, counts map[olm.ImpactKind]int) {
	t.Helper()
	served := func(r *olm.Resolver) map[string]string {
		res, err := r.Resolve(context.Background(), was.request())
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, o := range res.Subscriptions {
			all[o.Subscription] = o.Operator
		}
		return all
	}
	a, b := served(before), served(after)
	for i, s := range was.subs {
		want := olm.ImpactKind("")
		rose, rises := canRise(was, s), canRise(is, is.subs[i])
		switch {
		case a[s.name] != "" && b[s.name] == "":
			want = olm.Broken
		case a[s.name] == "" && b[s.name] == "":
		case a[s.name] == "":
			want = olm.Mended
		case rose && !rises:
			want = olm.Stranded
		case a[s.name] != b[s.name]:
			want = olm.Changed
		case !rose && rises:
			want = olm.Freed
		}
		got := olm.SubscriptionImpact{}
		for _, x := range m.Subscriptions {
			if x.Subscription == s.name {
				got = x
			}
		}
		if got.Kind != want || want != "" && (got.Before != a[s.name] || got.After != b[s.name]) || (want == olm.Broken || want == olm.Stranded) && len(got.Why) == 0 {
			t.Fatalf("%s: got %+v, want %q\nbefore\n%s\nafter\n%s", s.name, got, want, was, is)
		}
		counts[want]++
	}
}

// TestImpactConcurrently assesses parts of a fleet at the same time: a member's
// impact does not depend on the other members.
func TestImpactConcurrently(t *testing.T) {
	was, is := drawBatch(t, 3), drawBatchOf(t, 3, alter(3))
	resolvers := func() (before, after *olm.Resolver) {
		before, err := olm.NewResolver(was.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		if after, err = olm.NewResolver(is.sources, nil); err != nil {
			t.Fatal(err)
		}
		return before, after
	}
	var fleet []olm.Member
	for i, w := range was.worlds {
		fleet = append(fleet, olm.Member{Name: fmt.Sprint(i), Request: w.request()})
	}
	assess := func(before, after *olm.Resolver, fleet []olm.Member) string {
		f, err := olm.Impact(context.Background(), before, after, fleet)
		if err != nil {
			return err.Error()
		}
		text, _ := json.Marshal(f.Members)
		return string(text)
	}
	before, after := resolvers()
	var want []string
	for i := range fleet {
		want = append(want, assess(before, after, fleet[i:i+1]))
	}
	before, after = resolvers()
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			for _, i := range rand.New(rand.NewPCG(uint64(k), 1)).Perm(len(fleet)) {
				if got := assess(before, after, fleet[i:i+1]); got != want[i] {
					t.Errorf("member %d: got %s, want %s", i, got, want[i])
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkImpact assesses a fleet of five thousand members, each different.
func BenchmarkImpact(b *testing.B) {
	open := func(versions int) *olm.Resolver {
		held := samples.Text(b, chainedPackages(300, versions))
		r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	before, after := open(20), open(21)
	rnd := rand.New(rand.NewPCG(1, 1))
	var fleet []olm.Member
	for i := range 5000 {
		c := &olm.Case{}
		for _, p := range rnd.Perm(300)[:10] {
			c.Subscriptions = append(c.Subscriptions, fmt.Sprintf("p%03d/stable", p))
			c.Installed = append(c.Installed, fmt.Sprintf("p%03d.v%d", p, 1+rnd.IntN(20)))
		}
		req, err := before.Request("", c)
		if err != nil {
			b.Fatal(err)
		}
		fleet = append(fleet, olm.Member{Name: fmt.Sprint(i), Request: req})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := olm.Impact(context.Background(), before, after, fleet); err != nil {
			b.Fatal(err)
		}
	}
}
