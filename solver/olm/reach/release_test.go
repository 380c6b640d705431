package reach_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

// smallPackages visits real packages that are small enough to ask the resolver
// quickly for every user. Only their updates, versions and requirements are kept.
func smallPackages(t *testing.T, visit func(where string, c *catalog.Catalog)) {
	t.Helper()
	turn := -1
	for dir, sub := range samples.Packages(t, "published") {
		if turn++; !long.Enabled() && turn%40 != 0 {
			continue
		}
		c := samples.Open(t, sub)
		n := 0
		for p := range c.Packages() {
			for ch := range p.Channels() {
				n += len(ch.Entries())
			}
		}
		if n > 1 && n < 40 {
			visit(dir, samples.Open(t, changed(nil, c)))
		}
	}
}

// changed returns the next version of a catalog as a careless author may make it:
// entries are removed or lose what they replace or skip, or a new head is added
// that replaces or skips the old ones. If r is nil, nothing changes.
func changed(r *rand.Rand, c *catalog.Catalog) fstest.MapFS {
	var text strings.Builder
	write := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	one := func(in int) bool { return r != nil && r.IntN(in) == 0 }
	gone := map[string]bool{}
	for p := range c.Packages() {
		fresh := p.Name() + ".v999.0.0"
		write(map[string]any{"schema": catalog.SchemaPackage, "name": p.Name(), "defaultChannel": p.DefaultChannel()})
		for b := range p.Bundles() {
			if one(8) {
				gone[b.Name()] = true
			}
		}
		used := map[string]bool{}
		added := false
		for ch := range p.Channels() {
			var entries []catalog.Entry
			for _, e := range ch.Entries() {
				switch {
				case gone[e.Name]:
					continue
				case one(12):
					e.Replaces = ""
				case one(12):
					e.SkipRange, e.Skips = "", nil
				}
				entries = append(entries, e)
				used[e.Name] = true
			}
			if heads := catalog.Heads(entries); len(heads) > 0 && one(2) {
				e := catalog.Entry{Name: fresh, Replaces: heads[0], Skips: heads[1:]}
				if one(3) { // a typical mistake: what is skipped is never installed
					e.Replaces, e.Skips = "", heads
				}
				entries, added = append(entries, e), true
			}
			if len(entries) > 0 {
				write(map[string]any{"schema": catalog.SchemaChannel, "package": p.Name(), "name": ch.Name(), "entries": entries})
			}
		}
		bundle := func(name, version string, facts []catalog.Property) {
			properties := []catalog.Property{{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName": %q, "version": %q}`, p.Name(), version))}}
			for _, f := range facts {
				if f.Type != catalog.PropertyPackage {
					properties = append(properties, f)
				}
			}
			write(map[string]any{"schema": catalog.SchemaBundle, "package": p.Name(), "name": name, "image": "r.io/x:1", "properties": properties})
		}
		for b := range p.Bundles() {
			if facts, err := b.Facts(); err == nil && used[b.Name()] {
				bundle(b.Name(), b.Version(), facts)
			}
		}
		if added {
			bundle(fresh, "999.0.0", nil)
		}
	}
	return fstest.MapFS{"catalog.json": {Data: []byte(text.String())}}
}

// user is a user who has a bundle of a package installed and follows a channel.
type user struct {
	pkg, channel string
	from         catalog.Installed
}

func (u user) String() string { return u.channel + " " + u.from.Name }

// reaching asks the resolver which users of a catalog reach the head of their
// channel.
func reaching(t *testing.T, c *catalog.Catalog) (all []user) {
	t.Helper()
	for p := range c.Packages() {
		for ch := range p.Channels() {
			for _, e := range ch.Entries() {
				all = append(all, user{p.Name(), ch.Name(), catalog.Installed{Name: e.Name, Version: p.Version(e.Name)}})
			}
		}
	}
	left := lost(t, c, all)
	return slices.DeleteFunc(all, func(u user) bool { return slices.Contains(left, u.String()) || wants(t, c, u) })
}

// wants reports whether the bundle that a user has requires what the catalog does not provide: the
// cluster gets it in another way, which the resolver cannot be asked about.
func wants(t *testing.T, c *catalog.Catalog, u user) bool {
	t.Helper()
	p, _ := c.Package(u.pkg)
	b, ok := p.Bundle(u.from.Name)
	if !ok {
		return false
	}
	unmet, err := (&reach.Resolver{}).Unmet(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	own, err := b.Properties()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(own, func(o catalog.Property) bool {
		return slices.ContainsFunc(unmet, func(m catalog.Property) bool { return m.Type == o.Type && string(m.Value) == string(o.Value) })
	})
}

// lost asks the resolver which of the users do not reach the head in a catalog.
// The result is sorted.
func lost(t *testing.T, c *catalog.Catalog, users []user) (list []string) {
	t.Helper()
	r := &reach.Resolver{}
	for _, u := range users {
		why, err := r.Reach(t.Context(), c, u.pkg, u.channel, u.from)
		if err != nil {
			t.Fatal(err)
		}
		if why != "" {
			list = append(list, u.String())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestReleases: for random releases of real packages, the gate agrees with asking
// the resolver for every user, by the rules of v0; and a patch that is offered
// helps all users except those that it lists. (Users who do not get what their
// operators require even from the old catalog are judged by the graph alone: the
// resolver cannot be asked about them.)
func TestReleases(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	ctx := t.Context()
	done, stranding, patched := 0, 0, 0
	smallPackages(t, func(where string, before *catalog.Catalog) {
		users := reaching(t, before)
		asked := &reach.Resolver{} // which caches the resolver of before
		for range long.N(2, 24) {
			if done >= 2_000 {
				return
			}
			files := changed(r, before)
			report, err := release.Evaluate(ctx, before, files, &release.Options{Resolver: asked})
			if err != nil {
				t.Fatal(err)
			}
			want := lost(t, samples.Open(t, files), users)
			var got []string
			for _, p := range report.Diff.Packages {
				for _, s := range p.Stranded {
					if slices.Contains(s.Rules, catalog.OLMv0) {
						got = append(got, s.Channel+" "+s.Bundle)
					}
				}
			}
			for _, u := range report.Unresolved {
				got = append(got, u.Channel+" "+u.Bundle)
			}
			slices.Sort(got)
			got = slices.DeleteFunc(got, func(name string) bool {
				return !slices.ContainsFunc(users, func(u user) bool { return u.String() == name })
			})
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Fatalf("%s: the gate says %q, the resolver %q\n%s", where, got, want, files["catalog.json"].Data)
			}
			done++
			if len(want) > 0 {
				stranding++
			}
			if report.Patch == nil {
				continue
			}
			patched++
			after, err := report.Patch.Patched(files)
			if err != nil {
				t.Fatal(err)
			}
			left := lost(t, samples.Open(t, after), users)
			for _, name := range left {
				ch, bundle, _ := strings.Cut(name, " ")
				told := slices.ContainsFunc(report.Left, func(l release.Left) bool { return l.Channel == ch && slices.Contains(l.Bundles, bundle) })
				if !told && len(report.Unresolved) == 0 {
					t.Fatalf("%s: %s is stranded with the patch, and the report does not say so\n%s", where, name, files["catalog.json"].Data)
				}
			}
			if len(left) > len(want) {
				t.Fatalf("%s: with the patch %d are stranded, without it %d", where, len(left), len(want))
			}
		}
	})
	t.Logf("%d releases, %d strand somebody, %d with a patch", done, stranding, patched)
	if stranding == 0 || patched == 0 {
		t.Errorf("%d strand somebody, %d have a patch", stranding, patched)
	}
}
