package olm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// installLow installs the lowest version of its package for most subscriptions
// that have nothing installed.
func installLow(w *world, rnd *rand.Rand) {
	for _, s := range w.subs {
		taken := slices.ContainsFunc(w.installed, func(c *wCSV) bool { return c.pkg == s.pkg })
		for _, p := range w.catalogs[0].packages {
			if p.name == s.pkg && s.installed == "" && !taken && rnd.IntN(100) < 75 {
				x := *p.bundles[0]
				x.deprecated, x.malformed = false, false
				w.installed = append(w.installed, &wCSV{&x, p.name})
				s.installed, s.starting = x.name, ""
			}
		}
	}
}

// ease removes much of what makes a world hard, so that paths are found.
func (d *drawer) ease() {
	for _, c := range d.w.catalogs {
		for _, p := range c.packages {
			for _, b := range p.bundles {
				if d.chance(60) {
					b.needs = nil
				}
				if d.chance(60) {
					b.provides = nil
				}
				b.deprecated, b.malformed = b.deprecated && d.chance(50), b.malformed && d.chance(50)
			}
			for _, ch := range p.channels {
				for _, e := range ch.entries {
					e.skipRange = span{}
					if d.chance(70) {
						e.skips = nil
					}
				}
			}
		}
	}
}

// TestUpgradePathAgainstOracle compares with the oracle, which searches whole
// states: the number of hops and, with one target, each hop exactly.
func TestUpgradePathAgainstOracle(t *testing.T) {
	n := long.N(200, 200_000)
	hops, dead, together, skipped := make([]int, 20), 0, 0, 0
	rnd := rand.New(rand.NewPCG(6, 6))
	for b := range batchesOf(t, n, (*drawer).ease) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			installLow(w, rnd)
			targets := drawTargets(w, rnd)
			want, verdict := bfs(w, targets)
			if verdict == "too many" {
				skipped++
				continue
			}
			got, err := r.UpgradePath(context.Background(), w.request(), targets, nil)
			var none *olm.PathError
			var unsat *olm.UnsatError
			if limit := new(olm.PathLimitError); errors.As(err, &limit) {
				skipped++
				continue
			}
			isDead := errors.As(err, &none) || errors.As(err, &unsat)
			if err != nil && !isDead || isDead != (verdict == "dead") {
				t.Fatalf("%v: oracle says %q %v, got %v\n%s", targets, verdict, want, err, w)
			}
			if isDead {
				dead++
				if none != nil {
					checkDead(t, none, w)
				}
				continue
			}
			if len(got.Hops) != len(want) {
				t.Fatalf("%v: got %d hops, want %d %v\n%s", targets, len(got.Hops), len(want), want, w)
			}
			hops[len(want)]++
			checkPath(t, r, w, targets, got, rnd)
			if len(targets) > 1 {
				together++
				continue
			}
			for i, h := range got.Hops {
				var names []string
				for _, c := range h.Chosen {
					names = append(names, c.String())
				}
				sort.Strings(names)
				if text := strings.Join(names, " ") + "; " + strings.Join(h.Installed, " "); text != want[i] {
					t.Fatalf("%v: hop %d: got %s, want %s\n%s", targets, i+1, text, want[i], w)
				}
			}
		}
	}
	t.Logf("%d worlds: by hops %v, %d without a path, %d with two targets, %d with too many states", n, hops, dead, together, skipped)
	if hops[2]*50 < n || hops[3]*500 < n || dead*10 < n || skipped*10 > n {
		t.Error("too few of a kind to mean something")
	}
}

func checkDead(t *testing.T, none *olm.PathError, w *world) {
	t.Helper()
	if len(none.Dead) == 0 || none.Nearest == nil {
		t.Fatalf("an error that says too little: %+v\n%s", none, w)
	}
	for _, d := range none.Dead {
		if d.Why == "" || strings.HasSuffix(d.Why, " ") {
			t.Fatalf("no reason: %v\n%s", none, w)
		}
	}
}

// drawTargets picks a version of one subscription's package as a target, and
// sometimes one of a second package.
func drawTargets(w *world, rnd *rand.Rand) []olm.Target {
	var targets []olm.Target
	for _, i := range rnd.Perm(len(w.subs)) {
		pkg := w.subs[i].pkg
		if slices.ContainsFunc(targets, func(t olm.Target) bool { return t.Package == pkg }) {
			continue
		}
		version := 2 + rnd.IntN(3)
		t := olm.Target{Package: pkg, Version: fmt.Sprint(version)}
		if rnd.IntN(2) == 0 {
			t = olm.Target{Package: pkg, Name: fmt.Sprintf("%s.v%d", pkg, version)}
		}
		targets = append(targets, t)
		if len(targets) == 2 || rnd.IntN(4) > 0 {
			break
		}
	}
	return targets
}

// place is a state of the oracle, and the hops that led to it.
type place struct {
	w    *world
	hops []string
}

// bfs searches all states of a world, in the documented order. The hops are
// "chosen; installed".
func bfs(w *world, targets []olm.Target) (hops []string, verdict string) {
	var named []string
	for _, t := range targets {
		named = append(named, t.Package)
	}
	arrived := func(w *world) bool {
		for _, t := range targets {
			if !slices.ContainsFunc(w.installed, func(c *wCSV) bool {
				return c.pkg == t.Package && (c.name == t.Name || t.Name == "" && fmt.Sprint(c.version) == t.Version)
			}) {
				return false
			}
		}
		return true
	}
	if arrived(w) {
		return nil, "arrived"
	}
	seen := map[string]bool{}
	places := []place{{w: w}}
	budget := 30_000
	for i := 0; i < len(places); i++ {
		o := newOracle(places[i].w)
		queue, ok := o.demands(named)
		if !ok {
			continue
		}
		var before [][]*option
		var found *place
		if !o.all(queue, nil, &budget, func(selected []*option) {
			if found != nil || slices.ContainsFunc(before, func(less []*option) bool { return contains(selected, less) }) {
				return // a superfluous operator only gets in the way
			}
			before = append(before, selected)
			next := place{w: o.after(selected)}
			if key := next.w.state(); !seen[key] {
				seen[key] = true
				next.hops = append(slices.Clone(places[i].hops), strings.Join(o.news(selected), " ")+"; "+strings.Join(next.w.names(), " "))
				places = append(places, next)
				if arrived(next.w) {
					found = &next
				}
			}
		}) {
			return nil, "too many"
		}
		if found != nil {
			return found.hops, "arrived"
		}
	}
	return nil, "dead"
}

func contains(all, some []*option) bool {
	return !slices.ContainsFunc(some, func(x *option) bool { return !slices.Contains(all, x) })
}

// after returns the world after a selection is installed.
func (o *oracle) after(selected []*option) *world {
	next := &world{catalogs: o.w.catalogs}
	for _, s := range o.w.subs {
		c, _ := o.forSub(s)
		moved := *s
		for _, x := range c.candidates {
			if x.entry != nil && slices.Contains(selected, x) {
				moved.installed = x.bundle.name
			}
		}
		next.subs = append(next.subs, &moved)
	}
	for _, x := range selected {
		at := slices.IndexFunc(o.w.installed, func(c *wCSV) bool { return c.name == x.bundle.name })
		if at >= 0 {
			next.installed = append(next.installed, o.w.installed[at])
			continue
		}
		next.installed = append(next.installed, &wCSV{x.bundle, x.pkgName})
		asked := slices.ContainsFunc(o.w.subs, func(s *wSub) bool {
			c, _ := o.forSub(s)
			return slices.Contains(c.candidates, x)
		})
		if !asked {
			name := strings.TrimSuffix(strings.Join([]string{x.pkgName, x.channel.name, x.catalog.name, x.catalog.namespace}, "-"), "-")
			next.subs = append(next.subs, &wSub{name: name, pkg: x.pkgName, channel: x.channel.name, source: x.catalog.name, installed: x.bundle.name})
		}
	}
	return next
}

func (w *world) names() []string {
	var names []string
	for _, c := range w.installed {
		names = append(names, c.name)
	}
	sort.Strings(names)
	return names
}

// state identifies a state: what each subscription has installed, and which
// bundles these are.
func (w *world) state() string {
	var all []string
	for _, c := range w.installed {
		all = append(all, fmt.Sprintf("%s %p", c.name, c.wBundle))
	}
	for _, s := range w.subs {
		all = append(all, s.name+"="+s.installed)
	}
	sort.Strings(all)
	return strings.Join(all, ";")
}

// checkPath checks that a path does not depend on the order in which a request
// lists things, and that its drawings contain everything installed on the way.
func checkPath(t *testing.T, r *olm.Resolver, w *world, targets []olm.Target, p *olm.Path, rnd *rand.Rand) {
	t.Helper()
	req := w.request()
	rnd.Shuffle(len(req.Subscriptions), func(i, j int) {
		req.Subscriptions[i], req.Subscriptions[j] = req.Subscriptions[j], req.Subscriptions[i]
	})
	rnd.Shuffle(len(req.Installed), func(i, j int) { req.Installed[i], req.Installed[j] = req.Installed[j], req.Installed[i] })
	again, err := r.UpgradePath(t.Context(), req, targets, nil)
	if err != nil || printPath(again) != printPath(p) {
		t.Fatalf("%v: in another order %v\n%s\nbefore\n%s\n%s", targets, err, printPath(again), printPath(p), w)
	}
	var dot, mermaid strings.Builder
	if err := errors.Join(p.WriteDOT(&dot), p.WriteMermaid(&mermaid)); err != nil {
		t.Fatal(err)
	}
	for _, h := range p.Hops {
		for _, c := range h.Chosen {
			if !strings.Contains(dot.String(), fmt.Sprintf("%q [label", c.Name)) || !strings.Contains(mermaid.String(), c.Name) {
				t.Fatalf("%s is not drawn:\n%s", c.Name, dot.String())
			}
		}
	}
}
