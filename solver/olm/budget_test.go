package olm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/rule"
)

// A rule that costs all that it may on each of many bundles is bounded by the
// budget of the question, and the answer says so.
func TestRuleBudget(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"a","defaultChannel":"s"}{"schema":"olm.channel","package":"a","name":"s","entries":[`)
	for i := range 500 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"a.v%d"`, i)
		if i > 0 {
			fmt.Fprintf(&b, `,"replaces":"a.v%d"`, i-1)
		}
		b.WriteString("}")
	}
	b.WriteString("]}\n")
	ten := "[0,1,2,3,4,5,6,7,8,9]"
	nasty := fmt.Sprintf("!%s.all(a, %s.all(b, %s.all(c, %s.all(d, %s.all(e, %s.all(f, a + b + c + d + e + f >= 0))))))", ten, ten, ten, ten, ten, ten)
	for i := range 500 {
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"a","name":"a.v%d","image":"x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"%d.0.0"}},{"type":"olm.constraint","value":{"failureMessage":"x","cel":{"rule":%q}}}]}`+"\n", i, i, nasty)
	}
	sources := []olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, b.String())}}
	r, err := olm.NewResolver(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := &olm.Request{Subscriptions: make([]olm.Subscription, 1)}
	req.Subscriptions[0].Name, req.Subscriptions[0].Spec.Package = "a", "a"
	_, err = r.Resolve(context.Background(), req)
	var over *rule.BudgetError
	if !errors.As(err, &over) || over.Budget != olm.DefaultRuleBudget || over.Of != "a.v499 of package a" {
		t.Errorf("got %v, want a *rule.BudgetError of the newest bundle", err)
	}
}
