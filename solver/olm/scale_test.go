package olm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestManySubscriptions resolves thousands of subscriptions at once, every
// third of which requires another package.
func TestManySubscriptions(t *testing.T) {
	n := long.N(2_000, 10_000)
	w := &wCatalog{name: "c"}
	var c olm.Case
	for i := range n {
		p := &wPackage{name: fmt.Sprintf("p%05d", i), defaultChannel: "m", channels: []*wChannel{{name: "m"}}}
		x := &wBundle{name: p.name + ".v1", version: 1, provides: []string{fmt.Sprintf("K%d", i)}}
		if i%3 == 0 {
			x.needs = []*wNeed{{api: fmt.Sprintf("L%d", i)}}
			d := &wPackage{name: fmt.Sprintf("q%05d", i), defaultChannel: "m"}
			d.bundles = []*wBundle{{name: d.name + ".v1", version: 1, provides: []string{fmt.Sprintf("L%d", i)}}}
			d.channels = []*wChannel{{name: "m", entries: []*wEntry{{name: d.name + ".v1"}}}}
			w.packages = append(w.packages, d)
		}
		p.bundles = []*wBundle{x}
		p.channels[0].entries = []*wEntry{{name: x.name}}
		w.packages = append(w.packages, p)
		c.Subscriptions = append(c.Subscriptions, p.name)
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, w.json())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Request("", &c)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Resolve(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if want := n + (n+2)/3; len(res.Chosen) != want || len(res.Generated) != want-n {
		t.Errorf("chose %d and generated %d, want %d and %d", len(res.Chosen), len(res.Generated), want, want-n)
	}
	askMany(t, r, req, len(res.Chosen))
}

// askMany asks every question about that many subscriptions.
func askMany(t *testing.T, r *olm.Resolver, req *olm.Request, chosen int) {
	t.Helper()
	ctx := context.Background()
	base, err := r.Base(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	e, err := base.WhatIf(ctx, &olm.Supposition{Unsubscribe: []string{"p00000"}})
	if err != nil || len(e.Removed) != 2 || len(e.Subscriptions) != 1 {
		t.Errorf("what if one less: %d removed, %d served otherwise, %v", len(e.Removed), len(e.Subscriptions), err)
	}
	u, err := r.UpdateOnly(ctx, req, []string{"p00003"})
	if err != nil || len(u.Resolution.Chosen) != chosen {
		t.Errorf("update only one: %v", err)
	}
	p, err := r.UpgradePath(ctx, req, []olm.Target{{Package: "p00003"}}, nil)
	if err != nil || len(p.Hops) != 1 || len(p.Hops[0].Chosen) != chosen {
		t.Errorf("the path to one: %v", err)
	}
	f, err := olm.Impact(ctx, r, r, []olm.Member{{Name: "m", Request: req}})
	if err != nil || f.Unaffected != 1 {
		t.Errorf("impact: %v, %v", f, err)
	}
}
