package olm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/solver/olm"
)

// TestManySubscriptions resolves ten thousand subscriptions at once, of which
// every third brings another package.
func TestManySubscriptions(t *testing.T) {
	const n = 10_000
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
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: openCatalog(t, w.json())}}, nil)
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
}
