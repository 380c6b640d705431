package olm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestObjectivesAgainstOracle compares with the oracle, which goes through all
// selections that follow the rules and returns the first of those that are best
// by the objectives.
func TestObjectivesAgainstOracle(t *testing.T) {
	n := long.N(600, 100_000)
	for k, test := range []struct {
		name string
		opts olm.Options
	}{
		{"changes", olm.Options{Objectives: []olm.Objective{olm.FewestChanges}}},
		{"updates first", olm.Options{Objectives: []olm.Objective{olm.FewestUpdates, olm.FewestAdditions}}},
		{"additions first", olm.Options{Objectives: []olm.Objective{olm.FewestAdditions, olm.FewestUpdates}}},
		{"steady", olm.Options{NoDowngrades: true, StayOnChannel: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			other, skipped := 0, 0
			rnd := rand.New(rand.NewPCG(6, uint64(k)))
			for b := range batches(t, n/4) {
				r, err := olm.NewResolver(b.sources, &test.opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range b.worlds {
					install(w, rnd)
					want, first, ok := newOracle(w).leastOf(&test.opts)
					if !ok {
						skipped++
						continue
					}
					res, err := r.Resolve(context.Background(), w.request())
					var unsat *olm.UnsatError
					if errors.As(err, &unsat) != (want == nil) || err != nil && unsat == nil {
						t.Fatalf("oracle solved it: %v; got error %v\n%s", want != nil, err, w)
					}
					if want == nil {
						continue
					}
					var got []string
					for _, c := range res.Chosen {
						got = append(got, c.String())
					}
					if news := newOracle(w).news(want); fmt.Sprint(got) != fmt.Sprint(news) {
						t.Fatalf("got %v, want %v\n%s", got, news, w)
					}
					if !slices.Equal(want, first) {
						other++
					}
				}
			}
			t.Logf("%d worlds: in %d the answer is not the one without; %d had too many answers", n/4, other, skipped)
			if other*60 < n/4 || skipped*10 > n/4 {
				t.Error("too few worlds to mean something")
			}
		})
	}
}

// leastOf returns the selection that is best by the objectives, and the one
// that is best without them; nil if there is none. ok is false if there are too
// many.
func (o *oracle) leastOf(opts *olm.Options) (best, first []*option, ok bool) {
	queue, found := o.demands(nil)
	if !found {
		return nil, nil, true
	}
	var least []int
	budget := 20_000
	ok = o.all(queue, nil, &budget, func(selected []*option) {
		if first == nil {
			first = selected
		}
		updates, additions := 0, 0
		for _, x := range selected {
			at := slices.IndexFunc(o.existing, func(e *option) bool { return e.pkgName == x.pkgName })
			switch {
			case x.entry == nil || at >= 0 && o.existing[at].bundle.name == x.bundle.name:
			case at >= 0:
				updates++
			default:
				additions++
			}
			if x.entry != nil && at >= 0 && (opts.NoDowngrades && x.bundle.version < o.existing[at].bundle.version ||
				opts.StayOnChannel && o.leaves(x, o.existing[at])) {
				return
			}
		}
		var cost []int
		for _, k := range opts.Objectives {
			cost = append(cost, map[olm.Objective]int{olm.FewestChanges: updates + additions, olm.FewestUpdates: updates, olm.FewestAdditions: additions}[k])
		}
		if best == nil || slices.Compare(cost, least) < 0 {
			best, least = selected, cost
		}
	})
	return best, first, ok
}

// leaves reports whether an option is of another channel than the installed
// operator.
func (o *oracle) leaves(x, current *option) bool {
	for _, s := range o.w.subs {
		if s.pkg == x.pkgName && s.channel == x.channel.name {
			return false
		}
	}
	lists := func(ch *wChannel) bool {
		return slices.ContainsFunc(ch.entries, func(e *wEntry) bool { return e.name == current.bundle.name })
	}
	if lists(x.channel) {
		return false
	}
	for _, p := range x.catalog.packages {
		if p.name == x.pkgName && slices.ContainsFunc(p.channels, lists) {
			return true
		}
	}
	return false
}

func TestObjectiveUnknown(t *testing.T) {
	_, err := olm.NewResolver(nil, &olm.Options{Objectives: []olm.Objective{"least-changes"}})
	if err == nil || !strings.Contains(err.Error(), `objective "least-changes"`) || !strings.Contains(err.Error(), "fewest-changes") {
		t.Errorf("got %v", err)
	}
}

// TestStayOnChannel has a default channel with a newer version that does not
// list the installed operator, and another channel that does.
func TestStayOnChannel(t *testing.T) {
	for _, test := range []struct {
		channel string
		listed  bool // by the other channel
		stay    bool
		want    string
	}{
		{"", true, false, "shop.v3"},
		{"", true, true, "shop.v2"},
		{"", false, true, "shop.v3"}, // its channel is unknown
		{"fast", true, true, "shop.v3"},
	} {
		slow := &wChannel{name: "slow", entries: []*wEntry{{name: "shop.v2", replaces: "shop.v1"}}}
		if test.listed {
			slow.entries = append(slow.entries, &wEntry{name: "shop.v1"})
		}
		one := &wBundle{name: "shop.v1", version: 1}
		w := &world{
			catalogs: []*wCatalog{{name: "c", namespace: testNamespace, packages: []*wPackage{{
				name: "shop", defaultChannel: "fast",
				bundles:  []*wBundle{one, {name: "shop.v2", version: 2}, {name: "shop.v3", version: 3}},
				channels: []*wChannel{{name: "fast", entries: []*wEntry{{name: "shop.v3", skipRange: span{1, 3}}}}, slow},
			}}}},
			installed: []*wCSV{{one, "shop"}},
			subs:      []*wSub{{name: "shop", pkg: "shop", channel: test.channel, installed: "shop.v1"}},
		}
		r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c", Namespace: testNamespace}, Catalog: samples.Text(t, w.catalogs[0].json())}}, &olm.Options{StayOnChannel: test.stay})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Resolve(context.Background(), w.request())
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Chosen) != 1 || res.Chosen[0].Name != test.want {
			t.Errorf("%+v: got %v", test, res.Chosen)
		}
	}
}
