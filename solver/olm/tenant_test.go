package olm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// tenants is a random world of several namespaces with operator groups, as plain
// values.
type tenants struct {
	text   string // of the catalog
	spaces []tenantSpace
	needs  map[string]bool // bundles that require something
	apis   map[string][]string
}

type tenantSpace struct {
	name    string
	targets []string // of its group; nil for no group, [""] for all namespaces
	subs    map[string]string
	has     map[string]string // by package: the bundle that is installed
}

func drawTenants(seed uint64) *tenants {
	r := rand.New(rand.NewPCG(seed, 5))
	w := &tenants{needs: map[string]bool{}, apis: map[string][]string{}}
	var b strings.Builder
	versions := map[string]int{"a": 2 + r.IntN(2), "b": 1 + r.IntN(2)}
	for _, pkg := range []string{"a", "b"} {
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"s"}`+"\n", pkg)
		var entries []string
		for v := 1; v <= versions[pkg]; v++ {
			name := fmt.Sprintf("%s.v%d", pkg, v)
			entry := fmt.Sprintf(`{"name":%q}`, name)
			if v > 1 {
				entry = fmt.Sprintf(`{"name":%q,"replaces":"%s.v%d"}`, name, pkg, v-1)
			}
			entries = append(entries, entry)
			w.apis[name] = []string{"K" + pkg}
			if r.IntN(5) == 0 {
				w.apis[name] = append(w.apis[name], "Shared")
			}
			props := []string{property("olm.package", fmt.Sprintf(`{"packageName":%q,"version":"%d.0.0"}`, pkg, v))}
			for _, api := range w.apis[name] {
				props = append(props, property("olm.gvk", gvkOf(api)))
			}
			if r.IntN(12) == 0 { // met by an operator that is in every namespace
				w.needs[name] = true
				props = append(props, property("olm.package.required", `{"packageName":"base","versionRange":">=1.0.0"}`))
			}
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"i","properties":[%s]}`+"\n", pkg, name, strings.Join(props, ","))
		}
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"s","entries":[%s]}`+"\n", pkg, strings.Join(entries, ","))
	}
	w.text = b.String()
	for i := range 2 + r.IntN(3) {
		s := tenantSpace{name: fmt.Sprintf("op%d", i), subs: map[string]string{}, has: map[string]string{}}
		s.targets = [][]string{{fmt.Sprintf("t%d", i)}, {fmt.Sprintf("t%d", i)}, {fmt.Sprintf("t%d", i), fmt.Sprintf("u%d", i)}, {"t0"}, {""}, nil, {s.name}}[r.IntN(7)]
		for _, pkg := range []string{"a", "b"} {
			if pkg == "b" && r.IntN(3) > 0 {
				continue
			}
			switch r.IntN(5) {
			case 0:
				s.subs[pkg] = ""
			case 1:
				s.subs[pkg] = fmt.Sprintf("%s.v%d", pkg, 1+r.IntN(versions[pkg]))
			case 2, 3:
				s.subs[pkg] = ""
				s.has[pkg] = fmt.Sprintf("%s.v%d", pkg, 1+r.IntN(versions[pkg]))
			case 4: // it stays as it is, without a subscription
				s.has[pkg] = fmt.Sprintf("%s.v%d", pkg, 1+r.IntN(versions[pkg]))
			}
		}
		w.spaces = append(w.spaces, s)
	}
	return w
}

func (w *tenants) requests() []*olm.Request {
	var all []*olm.Request
	csv := func(ns, name, pkg string, props []string) olm.ClusterServiceVersion {
		var c olm.ClusterServiceVersion
		c.Name, c.Namespace = name, ns
		c.Annotations = map[string]string{olm.PropertiesAnnotation: `{"properties":[` + strings.Join(props, ",") + `]}`}
		c.Spec.Version = strings.TrimPrefix(name, pkg+".v") + ".0.0"
		c.Status.Phase = olm.PhaseSucceeded
		return c
	}
	for i := range w.spaces {
		s := &w.spaces[i]
		req := &olm.Request{Namespace: s.name}
		if s.targets != nil {
			req.Group = &olm.OperatorGroup{ObjectMeta: olm.ObjectMeta{Name: "g", Namespace: s.name}}
			req.Group.Status.Namespaces = s.targets
		}
		req.Installed = append(req.Installed, csv(s.name, "base.v1", "base", []string{property("olm.package", `{"packageName":"base","version":"1.0.0"}`)}))
		for _, pkg := range []string{"a", "b"} {
			if start, ok := s.subs[pkg]; ok {
				var sub olm.Subscription
				sub.Name, sub.Namespace, sub.Spec.Package, sub.Spec.StartingCSV = pkg, s.name, pkg, start
				sub.Status.InstalledCSV, sub.Status.CurrentCSV = s.has[pkg], s.has[pkg]
				req.Subscriptions = append(req.Subscriptions, sub)
			}
			if name := s.has[pkg]; name != "" {
				props := []string{property("olm.package", fmt.Sprintf(`{"packageName":%q,"version":"%s.0.0"}`, pkg, strings.TrimPrefix(name, pkg+".v")))}
				for _, api := range w.apis[name] {
					props = append(props, property("olm.gvk", gvkOf(api)))
				}
				if w.needs[name] {
					props = append(props, property("olm.package.required", `{"packageName":"base","versionRange":">=1.0.0"}`))
				}
				req.Installed = append(req.Installed, csv(s.name, name, pkg, props))
			}
		}
		all = append(all, req)
	}
	return all
}

// waits is the definition: the namespaces that must wait, given what each has
// after its own resolution.
func (w *tenants) waits(after []map[string]string) []string {
	var wait []string
	for i := range w.spaces {
		for pkg, name := range after[i] {
			if name == w.spaces[i].has[pkg] {
				continue // it is already installed
			}
			for j := range w.spaces {
				for pkg2, other := range after[j] {
					shares := slices.ContainsFunc(w.apis[name], func(api string) bool { return slices.Contains(w.apis[other], api) })
					if i == j || !shares {
						continue
					}
					fits := pkg == pkg2 && w.apart(i, j) && !w.needs[name] && !w.needs[other] && (other == name || w.spaces[j].has[pkg] == name)
					if !fits {
						wait = append(wait, w.spaces[i].name)
					}
				}
			}
		}
	}
	slices.Sort(wait)
	return slices.Compact(wait)
}

// apart reports whether the groups of two namespaces are known not to overlap.
func (w *tenants) apart(i, j int) bool {
	a, b := w.spaces[i], w.spaces[j]
	if a.targets == nil || b.targets == nil || slices.Contains(a.targets, "") || slices.Contains(b.targets, "") {
		return false
	}
	return !slices.ContainsFunc(append([]string{a.name}, a.targets...), func(n string) bool {
		return n == b.name || slices.Contains(b.targets, n)
	})
}

// TestTenants compares the namespaces that must wait for others with the
// definition, on random worlds.
func TestTenants(t *testing.T) {
	n := long.N(200, 10_000)
	waiting, several, fits := 0, 0, 0
	for seed := range uint64(n) {
		w := drawTenants(seed)
		r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, w.text)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		reqs := w.requests()
		after := make([]map[string]string, len(reqs))
		instances := map[string]int{}
		for i, req := range reqs {
			after[i] = map[string]string{}
			for pkg, name := range w.spaces[i].has {
				after[i][pkg] = name
			}
			if res, err := r.Resolve(context.Background(), req); err == nil {
				for _, c := range res.Chosen {
					after[i][c.Package] = c.Name
				}
			}
			for pkg := range after[i] {
				instances[pkg]++
			}
		}
		out, err := r.ResolveNamespaces(context.Background(), reqs)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range out.Conflicts {
			got = append(got, c.Wait...)
		}
		slices.Sort(got)
		got = slices.Compact(got)
		want := w.waits(after)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v wait, want %v\n%+v\nafter %v\n%s%+v", seed, got, want, w.spaces, after, w.text, out.Conflicts)
		}
		if len(want) > 0 {
			waiting++
		} else if instances["a"] > 1 {
			fits++
		}
		if instances["a"] > 1 {
			several++
		}
	}
	t.Logf("%d worlds: in %d a namespace waits, %d have several instances, %d of these without a conflict", n, waiting, several, fits)
	if waiting*5 < n || fits*20 < n {
		t.Error("too few of a kind")
	}
}
