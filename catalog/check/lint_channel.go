package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/cause"
	"github.com/fairlead/fairlead/catalog/internal/look"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// channel lints the entries of a channel and the updates that they offer. The error is that of
// ctx.
func (l *linter) channel(ctx context.Context, ch *catalog.Channel) error {
	versions, work := versionsOf(ch), look.At(ctx)
	for i, e := range ch.Entries() {
		if err := work.After(1 + len(e.Skips)); err != nil {
			return err
		}
		l.redundantSkips(ch, e, i)
		if l.on[LintSkipRange] {
			l.skipRange(ch, e, i, versions)
		}
		if l.on[LintDowngrade] {
			l.downgrades(ch, e, i, versions)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.on[LintStuck] {
		if err := l.stuck(ch, work); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g := ch.Graph(catalog.AsWritten); l.on[LintUpdateCycle] && g.Cyclic() {
		return l.updateCycle(ch, g, work)
	}
	return nil
}

// versions are those of the bundles that entries of a channel have or name.
type versions struct {
	of      map[string]semverx.Version
	entries []int // indexes of entries with a version, by version
	sorted  []semverx.Version
}

func versionsOf(ch *catalog.Channel) *versions {
	v := &versions{of: map[string]semverx.Version{}}
	for b := range ch.Package().Bundles() {
		if version := semverx.Tolerant(b.Version()); !version.IsZero() {
			v.of[b.Name()] = version
		}
	}
	for i, e := range ch.Entries() {
		if _, ok := v.of[e.Name]; ok {
			v.entries = append(v.entries, i)
		}
	}
	slices.SortStableFunc(v.entries, func(a, b int) int { return v.of[ch.Entries()[a].Name].Compare(v.of[ch.Entries()[b].Name]) })
	for _, i := range v.entries {
		v.sorted = append(v.sorted, v.of[ch.Entries()[i].Name])
	}
	return v
}

func (l *linter) redundantSkips(ch *catalog.Channel, e catalog.Entry, i int) {
	for k, s := range e.Skips {
		switch s {
		case "":
		case e.Replaces:
			l.add(LintRedundantSkip, ch.Document(), at("entries", i, "skips", k), fmt.Sprintf("%q both replaces and skips %q; skipping cuts the chain of replaces there", e.Name, s),
				"keep one of the two: replaces if earlier versions should stay installable")
		case e.Name:
			l.add(LintRedundantSkip, ch.Document(), at("entries", i, "skips", k), fmt.Sprintf("%q skips itself", e.Name), "remove it from its own skips")
		}
	}
	if e.Replaces != "" && e.Replaces == e.Name {
		l.add(LintRedundantSkip, ch.Document(), at("entries", i, "replaces"), fmt.Sprintf("%q replaces itself", e.Name), "name the bundle before it")
	}
}

// skipRange reports ranges that include too much, or nothing.
func (l *linter) skipRange(ch *catalog.Channel, e catalog.Entry, i int, all *versions) {
	r, err := semverx.ParseRange(e.SkipRange)
	if e.SkipRange == "" || err != nil {
		return
	}
	add := func(message, hint string) {
		l.add(LintSkipRange, ch.Document(), at("entries", i, "skipRange"), fmt.Sprintf("the skipRange %q of %q %s", e.SkipRange, e.Name, message), hint)
	}
	for _, text := range r.Lints() {
		add("is suspicious: "+text, "correct the range")
	}
	own, ok := all.of[e.Name]
	if !ok {
		return
	}
	var at []int // of later entries
	r.Spans(len(all.sorted), func(i int) semverx.Version { return all.sorted[i] }, func(lo, hi int) {
		for hi > lo && all.sorted[hi-1].Compare(own) > 0 {
			hi--
			at = append(at, all.entries[hi])
		}
	})
	slices.Sort(at)
	var later []string
	for _, i := range at {
		later = append(later, ch.Entries()[i].Name)
	}
	switch {
	case len(later) > 0:
		add("includes later versions: "+words.First(later, listed), "end it below "+own.String())
	case r.Contains(own):
		add("includes its own version", "end it below "+own.String())
	}
}

// stuck reports entries that users may have installed and that have no update,
// though the catalog is valid: OLM v0 does not go through skipped entries.
// Those with a common cause are one finding, at the first. The error is that of the work.
func (l *linter) stuck(ch *catalog.Channel, work *look.Look) error {
	heads := ch.Heads()
	if len(heads) != 1 {
		return nil
	}
	g := ch.Graph(catalog.OLMv0)
	if !g.Installable(heads[0]) {
		return nil
	}
	obstacles := g.Obstacles(heads[0])
	leads := map[string]bool{heads[0]: true}
	for name := range g.Reaching(heads[0]) {
		leads[name] = true
	}
	var users []cause.User
	var entries []int // of users
	for i, e := range ch.Entries() {
		if leads[e.Name] {
			continue
		}
		leads[e.Name] = true // once
		if err := work.After(user); err != nil {
			return err
		}
		why := "no entry accepts it"
		if w := obstacles.From(e.Name); w != nil {
			why = strings.Join(w.Reasons, "; ")
		}
		users, entries = append(users, cause.User{Bundle: e.Name, Version: ch.Package().Version(e.Name), Why: why}), append(entries, i)
	}
	for _, same := range cause.Groups(users) {
		var names []string
		for _, i := range same.Users {
			names = append(names, strconv.Quote(users[i].Bundle))
		}
		who, what := words.List(names, "and", 3), fmt.Sprintf("add %s to the skips of %q, or use a skipRange that includes its version", names[0], heads[0])
		if len(names) > 1 {
			who = fmt.Sprintf("%d versions (%s)", len(names), who)
			what = fmt.Sprintf("add them to the skips of %q, or use a skipRange that includes their versions", heads[0])
		}
		l.add(LintStuck, ch.Document(), at("entries", entries[same.Users[0]], "name"), fmt.Sprintf("users of %s get no update to the head %q from OLM v0: %s", who, heads[0], same.Why), what)
	}
	return nil
}

// user is how much work it is, in entries, to say why a user gets no update.
const user = 64

// downgrades reports updates by replaces and skips to a lower version.
func (l *linter) downgrades(ch *catalog.Channel, e catalog.Entry, i int, all *versions) {
	to, ok := all.of[e.Name]
	if !ok {
		return
	}
	names := append([]string{e.Replaces}, e.Skips...)
	names = slices.DeleteFunc(names, func(name string) bool {
		from, known := all.of[name]
		return !known || from.Compare(to) <= 0
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(all.of[b].Compare(all.of[a]), cmp.Compare(a, b)) })
	for _, from := range slices.Compact(names) {
		kind := catalog.EdgeSkips
		if from == e.Replaces {
			kind = catalog.EdgeReplaces
		}
		l.add(LintDowngrade, ch.Document(), at("entries", i), fmt.Sprintf("it leads from %q down to %q, by %s", from, e.Name, kind),
			"reverse the edge, or remove it")
	}
}

// updateCycle reports the first cycle of updates in a channel. Cycles of
// replaces alone make a catalog invalid; this also finds those by skips and
// ranges. The error is that of the work.
func (l *linter) updateCycle(ch *catalog.Channel, g *catalog.Graph, work *look.Look) (err error) {
	const (
		unseen = iota
		open
		done
	)
	state := map[string]int{}
	var way []string
	var visit func(name string) []string
	visit = func(name string) []string {
		state[name] = open
		way = append(way, name)
		for edge := range g.Successors(name) {
			if err = work.After(1); err != nil {
				return nil
			}
			switch state[edge.To] {
			case open:
				return append(slices.Clone(way[slices.Index(way, edge.To):]), edge.To)
			case unseen:
				if cycle := visit(edge.To); cycle != nil || err != nil {
					return cycle
				}
			}
		}
		state[name] = done
		way = way[:len(way)-1]
		return nil
	}
	for _, e := range ch.Entries() {
		if state[e.Name] != unseen {
			continue
		}
		cycle := visit(e.Name)
		if cycle != nil {
			l.add(LintUpdateCycle, ch.Document(), at("entries"), "updates form a cycle: "+strings.Join(cycle, " -> "), "remove one of the edges")
		}
		if cycle != nil || err != nil {
			return err
		}
	}
	return nil
}
