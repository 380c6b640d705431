package olm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/rule"
)

// A rule that uses its full cost limit on each of many bundles is bounded by
// the budget of the question, and the error reports it.
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

// Every question has the budget of one question: with any budget it gives the
// same answer as without bounds, or reports that the budget is used up.
func TestRuleBudgetOfEachQuestion(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"a","defaultChannel":"s"}` + "\n")
	var entries []string
	for i := range 3 {
		entries = append(entries, fmt.Sprintf(`{"name":"a.v%d","replaces":"a.v%d"}`, i+1, i))
	}
	b.WriteString(`{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v0"},` + strings.Join(entries, ",") + "]}\n")
	for i := range 4 {
		rule := "true"
		if i > 0 {
			rule = "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, a + b + c >= 0)))"
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"a","name":"a.v%d","image":"x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"%d.0.0"}},{"type":"olm.constraint","value":{"failureMessage":"x","cel":{"rule":%q}}}]}`+"\n", i, i, rule)
	}
	held := samples.Text(t, b.String())
	request := func(installed string) *olm.Request {
		req := &olm.Request{Subscriptions: make([]olm.Subscription, 1)}
		s := &req.Subscriptions[0]
		s.Name, s.Spec.Package, s.Status.InstalledCSV = "a", "a", installed
		if installed != "" {
			var c olm.ClusterServiceVersion
			c.Name, c.Spec.Version, c.Status.Phase = installed, "0.0.0", olm.PhaseSucceeded
			req.Installed = append(req.Installed, c)
		}
		return req
	}
	for name, ask := range map[string]func(r *olm.Resolver) (any, error){
		"Resolve": func(r *olm.Resolver) (any, error) { return r.Resolve(t.Context(), request("")) },
		"ResolveNamespaces": func(r *olm.Resolver) (any, error) {
			return r.ResolveNamespaces(t.Context(), []*olm.Request{request("")})
		},
		"UpdateOnly": func(r *olm.Resolver) (any, error) {
			return r.UpdateOnly(t.Context(), request("a.v0"), []string{"a"})
		},
		"WhyNot": func(r *olm.Resolver) (any, error) { return r.WhyNot(t.Context(), request(""), "a.v2") },
		"UpgradePath": func(r *olm.Resolver) (any, error) {
			return r.UpgradePath(t.Context(), request("a.v0"), []olm.Target{{Package: "a", Name: "a.v3"}}, nil)
		},
		"Base": func(r *olm.Resolver) (any, error) {
			b, err := r.Base(t.Context(), request(""))
			if err != nil {
				return nil, err
			}
			res, _ := b.Answer()
			return res, nil
		},
		"ResolveExtensions": func(r *olm.Resolver) (any, error) {
			return r.ResolveExtensions(t.Context(), []*olm.Extension{{Package: "a", SelfCertified: true}}, true)
		},
		"Impact": func(r *olm.Resolver) (any, error) {
			return olm.Impact(t.Context(), r, r, []olm.Member{{Name: "m", Request: request("")}})
		},
		"Adopt": func(r *olm.Resolver) (any, error) {
			req := request("a.v0")
			req.Subscriptions = nil
			return r.Adopt(t.Context(), req, "a.v0", "s")
		},
	} {
		answer := func(budget uint64) (string, error) {
			r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, &olm.Options{RuleBudget: budget})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ask(r)
			text, _ := json.Marshal(got)
			return string(text), err
		}
		want, err := answer(1 << 40)
		if err != nil || len(want) < 5 {
			t.Errorf("%s: %s, %v", name, want, err)
		}
		over, fine := 0, 0
		for budget := uint64(1000); budget < 1<<20; budget *= 7 {
			got, err := answer(budget)
			var told *rule.BudgetError
			switch {
			case errors.As(err, &told):
				over++
			case err != nil || got != want:
				t.Errorf("%s, budget %d: %s, %v; want %s", name, budget, got, err, want)
			default:
				fine++
			}
		}
		if over == 0 || fine == 0 {
			t.Errorf("%s: %d budgets are used up, %d are enough", name, over, fine)
		}
	}
}
