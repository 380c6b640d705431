package diff_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
)

// TestUsers: users are remembered by channel and by rules: OLM with subscriptions offers
// nothing in a channel with two heads.
func TestUsers(t *testing.T) {
	c := open(`[{"name":"kiln.v1.0.0"},{"name":"kiln.v2.0.0","replaces":"kiln.v1.0.0"},{"name":"kiln.v3.0.0","replaces":"kiln.v1.0.0"}]`, "1.0.0", "2.0.0", "3.0.0")
	p, _ := c.Package("kiln")
	for ch := range p.Channels() {
		base := diff.NewBase(c)
		for _, r := range []catalog.Rules{catalog.AsWritten, catalog.OLMv0, catalog.OLMv1, catalog.AsWritten} {
			if got, want := base.Users(ch, r), diff.NewBase(c).Users(ch, r); !slices.Equal(got, want) {
				t.Errorf("%v: %v, and without others %v", r, got, want)
			}
		}
		if slices.Equal(base.Users(ch, catalog.OLMv0), base.Users(ch, catalog.AsWritten)) {
			t.Errorf("rules make no difference: %v", base.Users(ch, catalog.OLMv0))
		}
	}
}
