package reach_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

// TestPatchAsksTheResolver: by the rules of OLM v0, an edit does not help if the
// head that it leads to requires what nothing provides. The user is reported, and
// an edit that helps no one is not offered.
func TestPatchAsksTheResolver(t *testing.T) {
	newest := strings.Replace(shop, `"entries": [`, `"entries": [{"name": "shop.v1.2.0", "replaces": "shop.v1.1.0"}, `, 1) +
		`{"schema": "olm.bundle", "package": "shop", "name": "shop.v1.2.0", "image": "quay.io/shop:3", "properties": [
 {"type": "olm.package", "value": {"packageName": "shop", "version": "1.2.0"}}]}
`
	for _, c := range []struct {
		after  string
		helped bool
	}{{shop, false}, {shop + till, true}} {
		report, err := release.Evaluate(t.Context(), open(newest+till), files(c.after), &release.Options{Resolver: &reach.Resolver{}})
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(report.Left, func(l release.Left) bool {
			return l.Bundles[0] == "shop.v1.2.0" && slices.Equal(l.Rules, []catalog.Rules{catalog.OLMv0})
		})
		if told == c.helped {
			t.Errorf("helped: %v, left: %q", c.helped, report.Left)
		}
		if report.Patch == nil { // OLM v1 requires nothing, so the edit helps its users
			t.Errorf("there is no patch; left: %q", report.Left)
		}
		if list := report.Diff.Packages[0].Stranded; len(list) != 1 || len(list[0].Rules) != 2 || list[0].Rules[0] != catalog.OLMv0 {
			t.Errorf("stranded: %v", list)
		}
	}
}
