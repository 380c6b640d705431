package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/cause"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// channel lints the entries of a channel and the updates that they offer.
func (l *linter) channel(ch *catalog.Channel) {
	g := ch.Graph(catalog.AsWritten)
	for i, e := range ch.Entries() {
		l.redundantSkips(ch, e, i)
		l.skipRange(ch, e, i)
		if l.on[LintDowngrade] {
			l.downgrades(ch, g, e, i)
		}
	}
	if l.on[LintStuck] {
		l.stuck(ch)
	}
	if l.on[LintUpdateCycle] {
		l.updateCycle(ch, g)
	}
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
func (l *linter) skipRange(ch *catalog.Channel, e catalog.Entry, i int) {
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
	own := semverx.Tolerant(ch.Package().Version(e.Name))
	if own.IsZero() {
		return
	}
	var later []string
	for _, other := range ch.Entries() {
		if v := semverx.Tolerant(ch.Package().Version(other.Name)); !v.IsZero() && v.Compare(own) > 0 && r.Contains(v) {
			later = append(later, other.Name)
		}
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
// Those with a common cause are one finding, at the first.
func (l *linter) stuck(ch *catalog.Channel) {
	heads := ch.Heads()
	if len(heads) != 1 {
		return
	}
	g := ch.Graph(catalog.OLMv0)
	if !g.Installable(heads[0]) {
		return
	}
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
		why := "no entry accepts it"
		if w := g.WhyNot(e.Name, heads[0]); w != nil {
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
}

// downgrades reports updates by replaces and skips to a lower version.
func (l *linter) downgrades(ch *catalog.Channel, g *catalog.Graph, e catalog.Entry, i int) {
	to := semverx.Tolerant(ch.Package().Version(e.Name))
	for edge := range g.Predecessors(e.Name) {
		from := semverx.Tolerant(ch.Package().Version(edge.From))
		if edge.Kind != catalog.EdgeSkipRange && !to.IsZero() && !from.IsZero() && from.Compare(to) > 0 {
			l.add(LintDowngrade, ch.Document(), at("entries", i), fmt.Sprintf("it leads from %q down to %q, by %s", edge.From, e.Name, edge.Kind),
				"reverse the edge, or remove it")
		}
	}
}

// updateCycle reports the first cycle of updates in a channel. Cycles of
// replaces alone make a catalog invalid; this also finds those by skips and
// ranges.
func (l *linter) updateCycle(ch *catalog.Channel, g *catalog.Graph) {
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
			switch state[edge.To] {
			case open:
				return append(slices.Clone(way[slices.Index(way, edge.To):]), edge.To)
			case unseen:
				if cycle := visit(edge.To); cycle != nil {
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
		if cycle := visit(e.Name); cycle != nil {
			l.add(LintUpdateCycle, ch.Document(), at("entries"), "updates form a cycle: "+strings.Join(cycle, " -> "), "remove one of the edges")
			return
		}
	}
}
