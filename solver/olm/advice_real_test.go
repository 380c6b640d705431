package olm_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestAdviceOnRealCatalog makes impossible requests of a real catalog and
// checks the explanations: each has at most ExplanationLines lines, and each
// piece of advice helps when it is carried out.
func TestAdviceOnRealCatalog(t *testing.T) {
	held := samples.Open(t, samples.Archive(t, "slim"))
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("pairs", func(t *testing.T) { adviceOnPairs(t, held, r) })
	t.Run("installed", func(t *testing.T) { adviceOnInstalled(t, held, r) })
}

// adviceOnPairs requests pairs of packages of a real catalog, all of them in
// long runs, and one package of a pair with the other installed.
func adviceOnPairs(t *testing.T, held *catalog.Catalog, r *olm.Resolver) {
	var names []string // that can be installed alone
	heads := map[string]string{}
	for p := range held.Packages() {
		if len(names) >= long.N(12, 1<<20) {
			break
		}
		req, err := r.Request("ns", &olm.Case{Subscriptions: []string{p.Name()}})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.Resolve(t.Context(), req); err == nil {
			names = append(names, p.Name())
			for _, c := range res.Chosen {
				if c.Package == p.Name() {
					heads[p.Name()] = c.Name
				}
			}
		}
	}
	j := &realJudge{t: t, r: r}
	for i, a := range names {
		for _, b := range names[i+1:] {
			j.ask(&olm.Case{Subscriptions: []string{a, b}}, nil)
			if j.impossible > 0 && j.last && j.installed < 100 {
				j.installed++
				j.ask(&olm.Case{Subscriptions: []string{b}}, []string{heads[a]})
			}
		}
	}
	t.Logf("%d packages, %d requests, %d impossible, %d with an operator installed, %d advised, %d pieces carried out; %d lines at most",
		len(names), j.asked, j.impossible, j.installed, j.advised, j.carried, j.longest)
}

// realJudge makes requests and checks the explanations.
type realJudge struct {
	t                            *testing.T
	r                            *olm.Resolver
	asked, impossible, installed int
	advised, carried, longest    int
	last                         bool   // whether the last request was impossible
	text                         string // the last explanation
}

func (j *realJudge) ask(c *olm.Case, installed []string) {
	j.judge(fmt.Sprintf("%v beside %v", c.Subscriptions, installed), func() *olm.Request {
		with := *c
		with.Installed = installed
		req, err := j.r.Request("ns", &with)
		if err != nil {
			j.t.Fatal(err)
		}
		return req
	})
}

// judge makes a request, which build returns each time.
func (j *realJudge) judge(what string, build func() *olm.Request) {
	j.asked++
	_, err := j.r.Resolve(j.t.Context(), build())
	var unsat *olm.UnsatError
	if j.last = errors.As(err, &unsat); !j.last {
		if err != nil {
			j.t.Fatal(err)
		}
		return
	}
	j.impossible++
	x, err := unsat.Explain(j.t.Context())
	if err != nil {
		j.t.Fatal(err)
	}
	lines := strings.Count(x.String(), "\n") + 1
	if j.longest = max(j.longest, lines); lines > olm.ExplanationLines {
		j.t.Errorf("%s: %d lines", what, lines)
	}
	if len(x.Advice) == 0 && x.None == "" {
		j.t.Errorf("%s: neither advice nor that there is none", what)
	}
	if len(x.Advice) > 0 {
		j.advised++
	}
	j.text = x.String()
	for _, text := range x.Advice {
		req := build()
		done, err := carryOut(req, text)
		if err != nil {
			j.t.Fatalf("%s: %v", text, err)
		}
		if !done {
			continue
		}
		j.carried++
		if _, err := j.r.Resolve(j.t.Context(), req); err != nil {
			j.t.Errorf("%s: %q does not help: %v", what, text, err)
		}
	}
}

// adviceOnInstalled makes impossible requests of a real catalog with installed
// operators, in five ways.
func adviceOnInstalled(t *testing.T, held *catalog.Catalog, r *olm.Resolver) {
	var packages []*catalog.Package
	var requiring []*catalog.Bundle                  // those that require a package by name
	providers := map[catalog.GVK][]*catalog.Bundle{} // for each package, its last bundle that provides the API
	for p := range held.Packages() {
		packages = append(packages, p)
		last := map[catalog.GVK]*catalog.Bundle{}
		for b := range p.Bundles() {
			for api := range b.Provides() {
				last[api] = b
			}
			for range required(t, b) {
				requiring = append(requiring, b)
				break
			}
		}
		for api, b := range last {
			providers[api] = append(providers[api], b)
		}
	}
	var clashes [][2]*catalog.Bundle
	for _, list := range providers {
		for i, a := range list {
			for _, b := range list[i+1:] {
				clashes = append(clashes, [2]*catalog.Bundle{a, b}, [2]*catalog.Bundle{b, a})
			}
		}
	}
	slices.SortFunc(clashes, func(a, b [2]*catalog.Bundle) int {
		return cmp.Or(strings.Compare(a[0].Name(), b[0].Name()), strings.Compare(a[1].Name(), b[1].Name()))
	})
	clashes = slices.CompactFunc(clashes, func(a, b [2]*catalog.Bundle) bool { return a == b })
	chance := rand.New(rand.NewPCG(18, 1))
	bundle := func(p *catalog.Package) *catalog.Bundle {
		all := slices.Collect(p.Bundles())
		return all[chance.IntN(len(all))]
	}
	j := &realJudge{t: t, r: r}
	ways := map[string]int{}
	for tries := 0; j.impossible < long.N(15, 100) && tries < 5000; tries++ {
		p, other := packages[chance.IntN(len(packages))], packages[chance.IntN(len(packages))]
		c := &olm.Case{Subscriptions: []string{p.Name()}}
		installed := []string{bundle(other).Name()}
		way := []string{"two providers", "nobody's operator", "requirement", "channel", "name"}[tries%5]
		change := func(*olm.Request) {}
		switch way {
		case "two providers":
			pair := clashes[chance.IntN(len(clashes))]
			c.Subscriptions, installed = []string{pair[1].Package().Name()}, []string{pair[0].Name()}
			if chance.IntN(2) == 0 {
				c.Subscriptions = append(c.Subscriptions, pair[0].Package().Name())
			}
			change = func(req *olm.Request) { req.Subscriptions[0].Spec.StartingCSV = pair[1].Name() }
		case "nobody's operator":
			installed = append(installed, bundle(p).Name())
			pin := bundle(p).Name()
			change = func(req *olm.Request) {
				req.Subscriptions[0].Status.InstalledCSV, req.Subscriptions[0].Status.CurrentCSV = "", ""
				if pin != installed[1] {
					req.Subscriptions[0].Spec.StartingCSV = pin
				}
			}
		case "requirement":
			b := requiring[chance.IntN(len(requiring))]
			needs := slices.Collect(required(t, b))
			c.Subscriptions = []string{b.Package().Name()}
			q, ok := held.Package(needs[chance.IntN(len(needs))])
			if !ok {
				continue
			}
			installed = []string{bundle(q).Name()}
			change = func(req *olm.Request) { req.Subscriptions[0].Spec.StartingCSV = b.Name() }
		case "channel":
			c.Subscriptions = []string{p.Name() + "/stabel"}
		case "name":
			c.Subscriptions = []string{p.Name() + "x", other.Name()}
		}
		before := j.impossible
		j.judge(fmt.Sprintf("%s: %v beside %v", way, c.Subscriptions, installed), func() *olm.Request {
			with := *c
			with.Installed = installed
			req, err := r.Request("ns", &with)
			if err != nil {
				t.Fatal(err)
			}
			change(req)
			return req
		})
		if j.impossible > before {
			if ways[way]++; ways[way] <= 4 {
				t.Logf("%s: %v beside %v\n%s", way, c.Subscriptions, installed, j.text)
			}
		}
	}
	t.Logf("%d requests, %d impossible %v, %d advised, %d pieces carried out; %d lines at most", j.asked, j.impossible, ways, j.advised, j.carried, j.longest)
	if j.impossible < long.N(15, 100) || len(ways) < long.N(4, 5) {
		t.Error("the generator does not find enough")
	}
}

// required returns the packages that a bundle requires by name.
func required(t *testing.T, b *catalog.Bundle) iter.Seq[string] {
	facts, err := b.Facts()
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		for _, p := range facts {
			var v struct {
				PackageName string `json:"packageName"`
			}
			if p.Type == "olm.package.required" && json.Unmarshal(p.Value, &v) == nil && !yield(v.PackageName) {
				return
			}
		}
	}
}
