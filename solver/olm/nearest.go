package olm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// nearest returns the closest alternatives to a requirement that nothing meets:
// what would meet it but is not offered, another version, another catalog,
// another name. It returns at most three findings.
func (q *query) nearest(ctx context.Context, n *need) []Finding {
	var out []Finding
	for _, e := range q.installed {
		if n.pkg != "" && e.pkg == n.pkg {
			out = append(out, Finding{Text: fmt.Sprintf("%s is installed, version %s", e.name, versionText(e.facts().version))})
		}
	}
	out = append(out, q.nearestOffered(ctx, n)...)
	return out[:min(len(out), 3)]
}

// nearKey is what nearestOffered depends on: the requirement and the visible
// catalogs.
type nearKey struct {
	need *need
	seen string
}

// nearestOffered is the part of nearest that looks at catalogs. It goes through
// all of them, so its result is cached.
func (q *query) nearestOffered(ctx context.Context, n *need) []Finding {
	key := nearKey{n, ""}
	for _, s := range q.sources {
		key.seen += s.String() + " "
	}
	if known, ok := q.near.Load(key); ok {
		return known.([]Finding)
	}
	var out []Finding
	say := func(format string, args ...any) { out = append(out, Finding{Text: fmt.Sprintf(format, args...)}) }
	q.nearestElsewhere(ctx, n, say)
	q.nearestWithheld(ctx, n, say)
	switch {
	case len(out) > 0:
	case n.constraint != nil:
		q.nearestRule(ctx, n, say)
	case n.gvk != nil:
		q.nearestAPI(*n.gvk, say)
	case n.label != nil:
		say("no operator of any catalog has that label")
	default:
		q.nearestPackage(n, say)
	}
	if ctx.Err() == nil {
		q.near.Store(key, out)
	}
	return out
}

type sayFunc func(format string, args ...any)

// nearestElsewhere looks at the catalogs that are not visible in the namespace.
func (q *query) nearestElsewhere(ctx context.Context, n *need, say sayFunc) {
	for _, s := range q.Resolver.sources {
		if slices.Contains(q.sources, s) {
			continue
		}
		if s.Err != nil {
			say("catalog %s might have it, but cannot be used: %v", s.SourceKey, s.Err)
			continue
		}
		if m, err := s.match(ctx, n); err == nil && len(m.entries) > 0 {
			say("%s of catalog %s would do, but %s", m.entries[0].name, s.SourceKey, q.hidden(s))
		}
	}
}

// nearestWithheld looks for bundles that would meet the requirement but are not
// offered: skipped, off the chain of their channel, or in a channel that cannot
// be used.
func (q *query) nearestWithheld(ctx context.Context, n *need, say sayFunc) {
	if n.constraint != nil {
		return
	}
	for _, s := range q.sources {
		for _, name := range s.packagesFor(n) {
			p := s.pkg(name)
			if p == nil {
				continue
			}
			for _, ch := range p.channels {
				for _, e := range ch.entries {
					if ok, _ := n.metBy(ctx, e.pkg, e.facts()); ok && ch.err != nil {
						say("%s would do, but its channel cannot be used: %v", e.name, ch.err)
						return
					} else if ok && e.rank < 0 {
						say("%s would do, but channel %s of package %s skips it or does not lead to it", e.name, ch.name, p.name)
						return
					}
				}
			}
		}
	}
}

// nearestRule reports where a rule could not be evaluated.
func (q *query) nearestRule(ctx context.Context, n *need, say sayFunc) {
	for _, s := range q.sources {
		if m, err := s.match(ctx, n); err == nil && len(m.failed) > 0 {
			f := m.failed[0]
			others := ""
			if n := len(m.failed) - 1; n > 0 {
				others = fmt.Sprintf(" and %d other bundle%s", n, words.Plural(n, "", "s"))
			}
			say("the rule cannot be evaluated on %s%s of catalog %s: %v", f.bundle, others, s.SourceKey, f.err)
		}
	}
}

// nearestPackage looks for other versions of the package, or a package with a
// similar name.
func (q *query) nearestPackage(n *need, say sayFunc) {
	type offer struct {
		version semverx.Version
		entry   *entry
	}
	var offers []offer
	for _, s := range q.sources {
		p := s.pkg(n.pkg)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			for _, e := range ch.chain {
				offers = append(offers, offer{e.facts().version, e})
			}
		}
	}
	if len(offers) > 0 {
		slices.SortStableFunc(offers, func(a, b offer) int { return a.version.Compare(b.version) })
		low, high := offers[0], offers[len(offers)-1]
		if low.version.Compare(high.version) == 0 {
			say("package %s has version %s (%s in channel %s), which is not in the range", n.pkg,
				versionText(high.version), high.entry.name, high.entry.channel.name)
			return
		}
		say("package %s has versions %s to %s (%s in channel %s), none in the range", n.pkg,
			versionText(low.version), versionText(high.version), high.entry.name, high.entry.channel.name)
		return
	}
	if similar := q.similarPackages(n.pkg); similar != "" {
		say("no catalog has package %s; there is %s", n.pkg, similar)
		return
	}
	say("no catalog has package %s", n.pkg)
}

func versionText(v semverx.Version) string {
	if v.IsZero() {
		return "unknown"
	}
	return v.String()
}

// nearestAPI looks for another version of the API, its kind in another group,
// or other APIs of its group.
func (q *query) nearestAPI(want catalog.GVK, say sayFunc) {
	best, bestScore := catalog.GVK{}, 0
	provider := ""
	for _, s := range q.sources {
		for p := range s.Catalog.Packages() {
			for b := range p.Bundles() {
				for _, g := range providedAPIs(b) {
					if g == want { // from a bundle that is in no channel
						continue
					}
					if score := likeness(want, g); score > bestScore {
						best, bestScore, provider = g, score, b.Name()+" of package "+p.Name()
					}
				}
			}
		}
	}
	switch bestScore {
	case 0:
		say("no catalog has an API of that kind or of that group")
	case 1:
		say("no catalog has it; of its group there is %s, which %s provides", gvkText(best), provider)
	case 2:
		say("no catalog has it; its kind is in another group: %s, which %s provides", gvkText(best), provider)
	default:
		say("no catalog has that version of it; %s provides %s", provider, gvkText(best))
	}
}

// likeness returns how close an API is to the wanted one: 3 for another
// version, 2 for the kind in another group, 1 for the group, and 0 otherwise.
func likeness(want, have catalog.GVK) int {
	switch {
	case want.Group == have.Group && want.Kind == have.Kind:
		return 3
	case want.Kind == have.Kind:
		return 2
	case want.Group == have.Group && want.Group != "":
		return 1
	}
	return 0
}

func providedAPIs(b *catalog.Bundle) []catalog.GVK {
	props, err := b.Facts()
	if err != nil {
		return nil
	}
	var gvks []catalog.GVK
	for _, p := range props {
		var v gvkValue
		if p.Type == propertyGVK && json.Unmarshal(p.Value, &v) == nil {
			gvks = append(gvks, catalog.GVK(v))
		}
	}
	return gvks
}

// nearestSubscription returns the alternatives to a package, channel or bundle
// that a subscription names and no catalog has.
func (q *query) nearestSubscription(s *subscription) []Finding {
	named, others := q.sourcesOf(s)
	var out []Finding
	say := func(format string, args ...any) { out = append(out, Finding{Text: fmt.Sprintf(format, args...)}) }
	q.nearestHidden(s, say)
	for _, src := range others {
		if p := src.pkg(s.Spec.Package); p != nil {
			say("catalog %s has package %s", src.SourceKey, p.name)
		}
	}
	found := false
	for _, src := range named {
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		found = true
		var names []string
		for _, ch := range p.channels {
			names = append(names, ch.name)
			if e := ch.named(s.Spec.StartingCSV); e != nil {
				say("%s is in channel %s", e.name, ch.name)
			}
		}
		say("package %s of catalog %s has the channel%s %s", p.name, src.SourceKey, words.Plural(len(names), "", "s"), strings.Join(names, ", "))
	}
	if !found {
		switch pkg := q.packageOfChannel(s.Spec.Package); {
		case q.swapped(s):
			say("package and channel are swapped: package %s has channel %s", s.Spec.Channel, s.Spec.Package)
		case pkg != "":
			say("%s is a channel of package %s", s.Spec.Package, pkg)
		}
		if same := q.sameAPIs(s); same != "" {
			say("the APIs of %s, which is installed, are provided by %s", s.Status.InstalledCSV, same)
		}
		if similar := q.similarPackages(s.Spec.Package); similar != "" {
			say("there is %s", similar)
		}
	}
	return out[:min(len(out), 3)]
}

// nearestHidden reports catalogs that are not visible in the namespace: the one
// that a subscription names, one of that name in another namespace, and those
// that have its package.
func (q *query) nearestHidden(s *subscription, say sayFunc) {
	for _, src := range q.Resolver.sources {
		if slices.Contains(q.sources, src) || src.Err != nil && src.SourceKey != s.Source() {
			continue
		}
		switch {
		case src.SourceKey == s.Source():
			say("catalog %s is there, but %s", src.SourceKey, q.hidden(src))
		case s.Spec.Source != "" && src.Name != s.Spec.Source:
		case src.pkg(s.Spec.Package) != nil:
			say("catalog %s has package %s, but %s", src.SourceKey, s.Spec.Package, q.hidden(src))
		}
	}
}

// hidden returns why a catalog is not visible in the namespace.
func (q *query) hidden(s *source) string {
	text := "namespace " + q.req.Namespace + " does not see it: "
	switch global := q.opts.GlobalNamespace; {
	case s.Disabled:
		return text + "the catalog is disabled"
	case s.Err != nil:
		return fmt.Sprintf("it cannot be used: %v", s.Err)
	case s.Namespace == global:
		return text + "the operator group has annotation " + ExcludeGlobalNamespaceAnnotation + ", which hides the catalogs of the global namespace " + global
	case global == "":
		return text + "catalogs are visible only in their own namespace, because no global namespace is set"
	default:
		return text + "only catalogs of namespace " + global + ", the global one, are visible in others"
	}
}

// swapped reports whether a subscription has the package in place of the channel,
// and the channel in place of the package.
func (q *query) swapped(s *subscription) bool {
	return s.Spec.Channel != "" && slices.ContainsFunc(q.sources, func(src *source) bool {
		p, ok := src.Catalog.Package(s.Spec.Channel)
		if !ok {
			return false
		}
		_, ok = p.Channel(s.Spec.Package)
		return ok
	})
}

// sameAPIs lists up to three packages that provide an API of the operator which is
// installed for a subscription.
func (q *query) sameAPIs(s *subscription) string {
	if s.current == nil {
		return ""
	}
	own := s.current.facts().gvks
	var names []string
	for _, src := range q.sources {
		for p := range src.Catalog.Packages() {
			for b := range p.Bundles() {
				if p.Name() != s.Spec.Package && slices.ContainsFunc(own, func(g catalog.GVK) bool { return provides(b, g) }) {
					names = append(names, "package "+p.Name())
					break
				}
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return listNames(names[:min(len(names), 3)])
}

func provides(b *catalog.Bundle, want catalog.GVK) bool {
	for g := range b.Provides() {
		if g == want {
			return true
		}
	}
	return false
}

// packageOfChannel returns the one package that has a channel of that name, or
// "": users sometimes write the channel in place of the package.
func (q *query) packageOfChannel(channel string) string {
	found := ""
	for _, s := range q.sources {
		for p := range s.Catalog.Packages() {
			if _, ok := p.Channel(channel); !ok {
				continue
			}
			if found != "" && found != p.Name() {
				return ""
			}
			found = p.Name()
		}
	}
	return found
}
