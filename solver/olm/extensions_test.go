package olm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// part is a bundle of a random world.
type part struct {
	pkg      string
	version  int
	provides []string
	requires []string // APIs, or packages as "p >=2"
	bars     []string // what it excludes, in the same form
}

func (p *part) name() string { return fmt.Sprintf("%s.v%d", p.pkg, p.version) }

// joint is a random world of extensions.
type joint struct {
	parts []*part
	xs    []*olm.Extension
}

func newJoint(r *rand.Rand) *joint {
	w := &joint{}
	packages := []string{"p", "q", "r", "s"}
	for _, pkg := range packages {
		for v := range 1 + r.IntN(3) {
			p := &part{pkg: pkg, version: v + 1}
			if r.IntN(2) == 0 {
				p.provides = append(p.provides, "K"+fmt.Sprint(r.IntN(3)))
			}
			for range r.IntN(3) {
				need := "K" + fmt.Sprint(r.IntN(3))
				if r.IntN(2) == 0 {
					need = fmt.Sprintf("%s >=%d.0.0", packages[r.IntN(4)], 1+r.IntN(3))
				}
				if !slices.Contains(p.requires, need) {
					p.requires = append(p.requires, need)
				}
			}
			if r.IntN(4) == 0 {
				p.bars = append(p.bars, fmt.Sprintf("%s >=%d.0.0", packages[r.IntN(4)], 1+r.IntN(3)))
			}
			w.parts = append(w.parts, p)
		}
	}
	for _, pkg := range packages {
		if r.IntN(4) == 0 {
			continue
		}
		x := &olm.Extension{Package: pkg, SelfCertified: true, Version: []string{"", "<3.0.0", ">=2.0.0", "1.0.0"}[r.IntN(4)]}
		if r.IntN(3) == 0 {
			x.Installed = &olm.InstalledBundle{Name: pkg + ".v1", Version: "1.0.0"}
		}
		w.xs = append(w.xs, x)
	}
	return w
}

func (w *joint) resolver(t *testing.T) *olm.Resolver {
	t.Helper()
	var b strings.Builder
	for i, p := range w.parts {
		if i == 0 || w.parts[i-1].pkg != p.pkg {
			fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"c"}`+"\n", p.pkg)
			var entries []string
			for _, o := range w.parts {
				if o.pkg == p.pkg {
					entries = append(entries, fmt.Sprintf(`{"name":%q,"skipRange":"<%d.0.0"}`, o.name(), o.version))
				}
			}
			fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"c","entries":[%s]}`+"\n", p.pkg, strings.Join(entries, ","))
		}
		props := []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":"%d.0.0"}}`, p.pkg, p.version)}
		for _, k := range p.provides {
			props = append(props, fmt.Sprintf(`{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":%q}}`, k))
		}
		for _, n := range p.requires {
			if pkg, versions, ok := strings.Cut(n, " "); ok {
				props = append(props, fmt.Sprintf(`{"type":"olm.package.required","value":{"packageName":%q,"versionRange":%q}}`, pkg, versions))
			} else {
				props = append(props, fmt.Sprintf(`{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":%q}}`, n))
			}
		}
		for _, n := range p.bars {
			pkg, versions, _ := strings.Cut(n, " ")
			props = append(props, fmt.Sprintf(`{"type":"olm.constraint","value":{"failureMessage":"not beside it","not":{"constraints":[{"package":{"packageName":%q,"versionRange":%q}}]}}}`, pkg, versions))
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"example.com/%s","properties":[%s]}`+"\n", p.pkg, p.name(), p.name(), strings.Join(props, ","))
	}
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(b.String())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, &olm.Options{NotExcludes: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func meets(all []*part, need string) bool {
	return slices.ContainsFunc(all, func(p *part) bool {
		if pkg, versions, ok := strings.Cut(need, " "); ok {
			var least int
			_, _ = fmt.Sscanf(versions, ">=%d", &least)
			return p.pkg == pkg && p.version >= least
		}
		return slices.Contains(p.provides, need)
	})
}

// valid reports whether bundles are compatible: the chosen ones have what they
// require, and those that stay have what they had.
func valid(chosen, stays, had []*part) bool {
	all := slices.Concat(chosen, stays)
	seen := map[string]bool{}
	for _, p := range all {
		for _, k := range append([]string{p.pkg}, p.provides...) {
			if seen[k] {
				return false
			}
			seen[k] = true
		}
	}
	for _, p := range chosen {
		for _, n := range p.requires {
			if !meets(all, n) {
				return false
			}
		}
	}
	for _, p := range stays {
		for _, n := range p.requires {
			if meets(had, n) && !meets(all, n) {
				return false
			}
		}
	}
	for _, p := range all {
		for _, n := range p.bars {
			for _, o := range all {
				before := slices.Contains(stays, p) && slices.Contains(stays, o) // they are already installed together
				if o != p && !before && meets([]*part{o}, n) {
					return false
				}
			}
		}
	}
	return true
}

// fits reports whether a bundle is in the range of an extension; versions are
// whole numbers.
func fits(x *olm.Extension, p *part) bool {
	switch x.Version {
	case "<3.0.0":
		return p.version < 3
	case ">=2.0.0":
		return p.version >= 2
	case "1.0.0":
		return p.version == 1
	}
	return true
}

// brute tries all combinations. It returns the bundle that each extension gets,
// "" for none.
func (w *joint) brute(extra []*part) (best []string, possible bool) {
	var had []*part
	for _, x := range w.xs {
		if x.Installed != nil {
			had = append(had, w.part(x.Installed.Name))
		}
	}
	most := -1
	var try func(i int, chosen, stays []*part, names []string)
	try = func(i int, chosen, stays []*part, names []string) {
		if i == len(w.xs) {
			n := 0
			for _, name := range names {
				if name != "" {
					n++
				}
			}
			better := n > most
			if n == most { // served first, then higher
				for k := range names {
					if (names[k] != "") != (best[k] != "") {
						better = names[k] != ""
						break
					}
				}
			}
			if better && valid(slices.Concat(chosen, extra), stays, had) {
				most, best = n, slices.Clone(names)
			}
			return
		}
		x := w.xs[i]
		for _, p := range slices.Backward(w.parts) {
			if p.pkg == x.Package && fits(x, p) {
				try(i+1, append(slices.Clip(chosen), p), stays, append(slices.Clip(names), p.name()))
			}
		}
		if x.Installed != nil {
			stays = append(slices.Clip(stays), w.part(x.Installed.Name))
		}
		try(i+1, chosen, stays, append(slices.Clip(names), ""))
	}
	try(0, nil, nil, nil)
	return best, most >= 0
}

func (w *joint) part(name string) *part {
	return w.parts[slices.IndexFunc(w.parts, func(p *part) bool { return p.name() == name })]
}

// TestResolveExtensions compares the joint resolution with brute force: as many
// as possible are served, the first ones first, each with the highest version
// that the ones before leave; and with dependencies the result is consistent,
// and serves no fewer.
func TestResolveExtensions(t *testing.T) {
	refused, brought, stayed := 0, 0, 0
	for seed := range uint64(long.N(1200, 20_000)) {
		w := newJoint(rand.New(rand.NewPCG(seed, 1)))
		want, possible := w.brute(nil)
		r := w.resolver(t)
		got, err := r.ResolveExtensions(t.Context(), w.xs, false)
		if !possible { // the installed bundles already conflict
			if err == nil {
				t.Fatalf("seed %d: got %+v, and nothing goes together", seed, got)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var names []string
		for i, a := range got.Choices {
			name := ""
			switch {
			case a.Choice != nil:
				name = a.Choice.Name
			case a.Err == nil:
				t.Fatalf("seed %d: extension %d has neither", seed, i)
			default:
				var together *olm.TogetherError
				if errors.As(a.Err, &together) {
					refused++
					if together.Text == "" {
						t.Fatalf("seed %d: it does not say why", seed)
					}
				}
				if w.xs[i].Installed != nil {
					stayed++
				}
			}
			names = append(names, name)
		}
		if !slices.Equal(names, want) || got.Dependencies != nil {
			t.Fatalf("seed %d: got %q, want %q", seed, names, want)
		}
		with, err := r.ResolveExtensions(t.Context(), w.xs, true)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var chosen, extra, stays, had []*part
		served, before := 0, 0
		for i, a := range with.Choices {
			if a.Choice != nil {
				served++
				chosen = append(chosen, w.part(a.Choice.Name))
			} else if is := w.xs[i].Installed; is != nil {
				stays = append(stays, w.part(is.Name))
			}
			if is := w.xs[i].Installed; is != nil {
				had = append(had, w.part(is.Name))
			}
			if names[i] != "" {
				before++
			}
		}
		for _, d := range with.Dependencies {
			brought++
			extra = append(extra, w.part(d.Name))
		}
		if !valid(slices.Concat(chosen, extra), stays, had) || served < before {
			t.Fatalf("seed %d: with dependencies got %+v", seed, with)
		}
	}
	t.Log(refused, "refused,", stayed, "stayed,", brought, "dependencies")
	if refused == 0 || brought == 0 || stayed == 0 {
		t.Error("something was never seen")
	}
}
