package olm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// Advice is found by trying: changes that concern a conflict are tried against
// the whole request, first one at a time, then two and three together. The
// search is complete up to three changes unless maxTrials ends it: every set of
// changes that helps contains one that concerns the conflict that remains
// without it.
const (
	maxTrials   = 150 // trial resolutions for one explanation or one answer
	maxTogether = 3   // changes at once
	maxAdvice   = 4   // sets of changes listed

	adviceConflicts = 20_000 // of the searches of all trials, so that the work is the same on every machine
	trialConflicts  = 2_000  // of the search of one of them
)

// The efforts of changes. Those with less effort are listed first.
const (
	effortTypo    = 1  // package and channel are swapped
	effortPin     = 5  // a pin is removed
	effortMove    = 10 // a subscription follows another channel or catalog, or is created for an installed operator
	effortCatalog = 15 // a catalog is added
	effortRemove  = 20 // a subscription is removed; its operator stays
	effortDelete  = 30 // an operator is deleted
)

// change is a change to a request that a user can make.
type change struct {
	key    string // changes with the same key exclude each other
	text   string
	effort int
	apply  func(t *trial)
}

// trial is a request with changes applied.
type trial struct {
	req    Request
	shown  []*source      // added catalogs
	waived map[*need]bool // requirements assumed to be met
}

// advisor looks for changes after which a request can be satisfied.
type advisor struct {
	ctx     context.Context
	q       *query
	base    *Request
	trials  int
	budget  *solver.Budget
	found   []advised
	limited bool // the search ended before it was complete
}

// advised is a set of changes that helps.
type advised struct {
	changes []change
	effort  int
	then    string // the result
}

// advise returns sets of changes that help, as text, and the steps of the first, or a report of
// what was tried without success.
func (e *UnsatError) advise(ctx context.Context, cores [][]solver.Constraint) (advice []string, steps []Step, none string, err error) {
	a := &advisor{ctx: ctx, q: e.problem.q, base: e.request, budget: solver.NewBudget(adviceConflicts)}
	if a.base == nil {
		a.base = e.problem.q.req
	}
	for depth := 1; depth <= maxTogether && len(a.found) == 0; depth++ {
		if depth < len(cores) {
			continue // conflicts that have nothing in common mostly need one change each
		}
		if err := a.search(nil, slices.Concat(cores[:1]...), depth); err != nil {
			return nil, nil, "", err
		}
	}
	if len(a.found) == 0 {
		if err := a.dropped(e); err != nil {
			return nil, nil, "", err
		}
	}
	a.fewest()
	slices.SortStableFunc(a.found, func(x, y advised) int { return cmp.Compare(x.effort, y.effort) })
	for _, f := range a.found[:min(len(a.found), maxAdvice)] {
		advice = append(advice, f.String())
	}
	if len(a.found) > 0 {
		steps = a.steps(a.found[0].changes)
	}
	switch {
	case advice != nil:
	case a.limited:
		none = fmt.Sprintf("no fix was found: %d changes of subscriptions, installed operators and catalogs were tried", a.trials)
	default:
		none = fmt.Sprintf("no fix was found: no change of subscriptions, installed operators and catalogs helps, nor do %d together", maxTogether)
	}
	return advice, steps, none, ctx.Err()
}

// fewest keeps the sets with the fewest changes: a search for several also finds
// fewer that suffice.
func (a *advisor) fewest() {
	least := math.MaxInt
	for _, f := range a.found {
		least = min(least, len(f.changes))
	}
	a.found = slices.DeleteFunc(a.found, func(f advised) bool { return len(f.changes) > least })
}

func (f *advised) String() string {
	var texts []string
	for _, c := range f.changes {
		texts = append(texts, c.text)
	}
	return strings.Join(texts, ", and ") + "; then " + f.then
}

// search tries each change that concerns a conflict together with those already
// made, and continues from the conflict that remains while more changes are
// allowed.
func (a *advisor) search(made []change, core []solver.Constraint, depth int) error {
	for _, c := range a.changes(core) {
		if slices.ContainsFunc(made, func(m change) bool { return m.key == c.key }) {
			continue
		}
		all := append(slices.Clip(made), c)
		if a.known(all) {
			continue
		}
		if a.trials >= maxTrials || a.budget.Left() == 0 {
			a.limited = true
			return nil
		}
		a.trials++
		then, left, err := a.try(all)
		switch {
		case err != nil:
			return err
		case then != "":
			f := advised{changes: all, then: then}
			for _, c := range all {
				f.effort += c.effort
			}
			a.found = append(a.found, f)
		case left != nil && depth > 1:
			core, _, err := left.conflict.Core(a.ctx, a.budget)
			if err != nil {
				return err
			}
			if err := a.search(all, core, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// known reports whether a subset of the changes, or all of them in another
// order, is already known to help.
func (a *advisor) known(all []change) bool {
	return slices.ContainsFunc(a.found, func(f advised) bool {
		return !slices.ContainsFunc(f.changes, func(c change) bool {
			return !slices.ContainsFunc(all, func(o change) bool { return o.text == c.text })
		})
	})
}

// try resolves the request with changes applied. It returns the result or the
// remaining conflict, or neither if no subscription is left or the trial fails
// otherwise, as with unusable catalogs.
func (a *advisor) try(all []change) (then string, left *UnsatError, err error) {
	t := a.trial(all)
	if len(t.req.Subscriptions) == 0 && len(a.base.Subscriptions) > 0 {
		return "", nil, nil // removing all subscriptions is not a fix
	}
	r := &Resolver{opts: a.q.opts, sources: slices.Concat(a.q.Resolver.sources, t.shown), needs: a.q.needs}
	r.opts.Solver = a.bounds()
	q := &query{Resolver: r, req: &t.req, exclusions: a.q.exclusions, waived: t.waived}
	if err := q.read(a.ctx); err != nil {
		return "", nil, a.ctx.Err()
	}
	selected, err := q.solve(a.ctx)
	if errors.As(err, &left) {
		return "", left, nil
	}
	if errors.As(err, new(*solver.IncompleteError)) {
		a.limited = true
	}
	if err != nil {
		return "", nil, a.ctx.Err()
	}
	return q.leadsTo(selected), nil, nil
}

// trial returns the request with changes applied.
func (a *advisor) trial(all []change) *trial {
	t := &trial{req: *a.base, waived: make(map[*need]bool)}
	t.req.Subscriptions = slices.Clone(a.base.Subscriptions)
	t.req.Installed = slices.Clone(a.base.Installed)
	for _, c := range all {
		c.apply(t)
	}
	return t
}

// bounds returns the options for the search of a trial.
func (a *advisor) bounds() *solver.Options {
	own := solver.Options{MaxConflicts: trialConflicts, Budget: a.budget}
	if given := a.q.opts.Solver; given != nil {
		own.Timeout = given.Timeout
		if given.MaxConflicts > 0 {
			own.MaxConflicts = min(own.MaxConflicts, given.MaxConflicts)
		}
	}
	return &own
}

// leadsTo briefly describes what a selection changes.
func (q *query) leadsTo(selected []*entry) string {
	var names []string
	for _, e := range selected {
		if !e.isInstalled() && !slices.ContainsFunc(q.installed, func(i *entry) bool { return i.name == e.name }) {
			names = append(names, e.name)
		}
	}
	slices.Sort(names)
	switch names = slices.Compact(names); len(names) {
	case 0:
		return "nothing more needs to be installed"
	case 1:
		return names[0] + " is installed"
	}
	return listNames(names) + " are installed"
}

// dropped tries to remove the subscriptions and operators of the fix with the
// least effort, for conflicts that need more than three removals.
func (a *advisor) dropped(e *UnsatError) error {
	x, err := e.conflict.Explain(a.ctx, &solver.ExplainOptions{MaxConflicts: 1, MaxFixes: 1, Budget: a.budget})
	if err != nil || len(x.Fixes) == 0 {
		return err
	}
	var all []change
	for _, c := range x.Fixes[0].Drop {
		switch why := c.Why.(type) {
		case *subNeeds:
			all = append(all, removeSubscription(why.sub))
		case *subInvalid:
			all = append(all, removeSubscription(why.sub))
		case *csvExists:
			all = append(all, deleteCSV(why.csv.name))
		default:
			return nil
		}
	}
	a.trials++
	then, _, err := a.try(all)
	if then != "" {
		a.found = append(a.found, advised{changes: all, then: then})
	}
	return err
}

// changes returns the changes that concern a conflict, the least intrusive
// first.
func (a *advisor) changes(core []solver.Constraint) []change {
	var all []change
	for _, c := range core {
		switch why := c.Why.(type) {
		case *subNeeds:
			all = append(all, a.ofSubscription(why.sub)...)
		case *subInvalid:
			all = append(all, a.ofSubscription(why.sub)...)
		case *csvExists:
			all = append(all, a.ofInstalled(why.csv)...)
		case *bundleNeeds:
			if len(why.candidates) == 0 {
				all = append(all, a.ofNeed(why.need)...)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y change) int { return cmp.Compare(x.effort, y.effort) })
	return all
}

// edit returns a change to one subscription.
func edit(name, what, text string, effort int, f func(s *Subscription)) change {
	return change{key: "subscription " + name + what, text: text, effort: effort, apply: func(t *trial) {
		for i := range t.req.Subscriptions {
			if s := &t.req.Subscriptions[i]; s.Name == name && s.Namespace == t.req.Namespace {
				f(s)
			}
		}
	}}
}

func removeSubscription(s *subscription) change {
	return change{key: "subscription " + s.Name, text: "remove subscription " + s.Name, effort: effortRemove, apply: func(t *trial) {
		t.req.Subscriptions = slices.DeleteFunc(t.req.Subscriptions, func(o Subscription) bool { return o.Name == s.Name && o.Namespace == t.req.Namespace })
	}}
}

func deleteCSV(name string) change {
	return change{key: "csv " + name, text: "delete csv " + name, effort: effortDelete, apply: func(t *trial) {
		t.req.Installed = slices.DeleteFunc(t.req.Installed, func(c ClusterServiceVersion) bool { return c.Name == name && c.Namespace == t.req.Namespace })
	}}
}

// ofSubscription returns the changes to a subscription: no pin, another
// channel, another catalog, or its removal.
func (a *advisor) ofSubscription(s *subscription) []change {
	var all []change
	if s.Spec.StartingCSV != "" && s.current == nil {
		all = append(all, edit(s.Name, " pin", fmt.Sprintf("remove startingCSV %s from subscription %s", s.Spec.StartingCSV, s.Name), effortPin,
			func(s *Subscription) { s.Spec.StartingCSV = "" }))
	}
	listed := false
	for _, src := range a.q.Resolver.visible(a.base) {
		if src.Err != nil {
			continue
		}
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		listed = true
		here := s.Source() == SourceKey{} || s.Source() == src.SourceKey
		if !here {
			all = append(all, edit(s.Name, " catalog", fmt.Sprintf("change subscription %s to catalog %s", s.Name, src.SourceKey), effortMove,
				func(o *Subscription) { o.Spec.Source, o.Spec.SourceNamespace = src.Name, src.Namespace }))
			continue
		}
		for _, ch := range p.channels {
			text := fmt.Sprintf("change subscription %s to channel %s", s.Name, ch.name)
			if s.Spec.Channel == "" || ch.name == s.Spec.Channel || ch.err != nil || slices.ContainsFunc(all, func(c change) bool { return c.text == text }) {
				continue
			}
			all = append(all, edit(s.Name, " channel", text, effortMove, func(o *Subscription) { o.Spec.Channel = ch.name }))
		}
	}
	if !listed {
		all = append(all, a.elsewhere(s)...)
	}
	if len(a.base.Subscriptions) > 1 { // otherwise no subscription would be left
		all = append(all, removeSubscription(s))
	}
	return all
}

// elsewhere returns the changes to a subscription whose package is not visible
// in the namespace: a package with a similar name, or a catalog that has it.
func (a *advisor) elsewhere(s *subscription) []change {
	var all []change
	if a.q.swapped(s) {
		all = append(all, edit(s.Name, " package", fmt.Sprintf("swap them: change subscription %s to package %s, channel %s", s.Name, s.Spec.Channel, s.Spec.Package), effortTypo,
			func(s *Subscription) { s.Spec.Package, s.Spec.Channel = s.Spec.Channel, s.Spec.Package }))
	} else if pkg := a.q.packageOfChannel(s.Spec.Package); pkg != "" && s.Spec.Channel == "" {
		channel := s.Spec.Package
		all = append(all, edit(s.Name, " package", fmt.Sprintf("change subscription %s to package %s, channel %s", s.Name, pkg, channel), effortTypo,
			func(s *Subscription) { s.Spec.Package, s.Spec.Channel = pkg, channel }))
	}
	for _, name := range a.q.similarNames(s.Spec.Package) {
		all = append(all, edit(s.Name, " package", fmt.Sprintf("change subscription %s to package %s", s.Name, name), effortPin,
			func(s *Subscription) { s.Spec.Package = name }))
	}
	for _, shown := range a.hidden(func(src *source) bool { return src.pkg(s.Spec.Package) != nil }) {
		text := fmt.Sprintf("%s, and change subscription %s to it", shown.how(), s.Name)
		c := edit(s.Name, " catalog", text, effortCatalog, func(s *Subscription) { s.Spec.Source, s.Spec.SourceNamespace = shown.Name, shown.Namespace })
		use := c.apply
		c.apply = func(t *trial) {
			use(t)
			t.shown = append(t.shown, shown.source)
		}
		all = append(all, c)
	}
	return all
}

// shownSource is a catalog as it would appear in the namespace.
type shownSource struct {
	*source
	from SourceKey // the catalog as it is now
}

// how returns what to do to make the catalog visible in the namespace.
func (s *shownSource) how() string {
	if s.from == s.SourceKey {
		return "enable catalog " + s.from.String()
	}
	return fmt.Sprintf("create catalog %s in namespace %s, too", s.from, s.Namespace)
}

// hidden returns the catalogs that are not visible in the namespace and may
// help, as they would appear in it.
func (a *advisor) hidden(helps func(*source) bool) []shownSource {
	var all []shownSource
	seen := a.q.Resolver.visible(a.base)
	for _, src := range a.q.Resolver.sources {
		if src.Err != nil || slices.Contains(seen, src) || !helps(src) {
			continue
		}
		own := src.Source
		own.Namespace, own.Disabled = a.base.Namespace, false
		shown, err := newSources([]Source{own}, a.q.needs)
		if err == nil && !slices.ContainsFunc(seen, func(s *source) bool { return s.SourceKey == own.SourceKey }) {
			all = append(all, shownSource{shown[0], src.SourceKey})
		}
	}
	return all
}

// ofInstalled returns the changes to an operator that no subscription refers
// to: a subscription for it, or its deletion.
func (a *advisor) ofInstalled(e *entry) []change {
	if a.q.opts.NoTakeover {
		return []change{deleteCSV(e.name)}
	}
	var all []change
	subscribed := false
	q := &query{Resolver: a.q.Resolver, req: a.base}
	for _, s := range q.ordered() {
		if s.Spec.Package != e.pkg {
			continue
		}
		subscribed = true
		if s.Status.InstalledCSV != "" {
			continue
		}
		all = append(all, edit(s.Name, " pin", fmt.Sprintf("set startingCSV %s on subscription %s, so that it takes over what is installed", e.name, s.Name), effortMove,
			func(s *Subscription) { s.Status.InstalledCSV, s.Status.CurrentCSV = e.name, e.name }))
	}
	if !subscribed && e.pkg != "" {
		text := fmt.Sprintf("subscribe to package %s with startingCSV %s, so that %s is updated", e.pkg, e.name, e.name)
		all = append(all, change{key: "csv " + e.name, text: text, effort: effortMove, apply: func(t *trial) {
			t.req.Subscriptions = append(t.req.Subscriptions, Subscription{
				ObjectMeta: ObjectMeta{Name: "zz-" + e.name, Namespace: t.req.Namespace},
				Spec:       SubscriptionSpec{Package: e.pkg, StartingCSV: e.name},
				Status:     SubscriptionStatus{InstalledCSV: e.name, CurrentCSV: e.name},
			})
		}})
	}
	return append(all, deleteCSV(e.name))
}

// ofNeed returns the changes for a requirement that nothing meets: a catalog
// that is not yet visible in the namespace, or else any catalog that would meet
// it.
func (a *advisor) ofNeed(n *need) []change {
	var all []change
	for _, shown := range a.hidden(func(src *source) bool {
		m, err := src.match(a.ctx, n)
		return err == nil && len(m.entries) > 0
	}) {
		text := shown.how()
		all = append(all, change{key: text, text: text, effort: effortCatalog, apply: func(t *trial) { t.shown = append(t.shown, shown.source) }})
	}
	if all == nil {
		text := "add a catalog that offers " + n.String()
		all = append(all, change{key: text, text: text, effort: effortCatalog, apply: func(t *trial) { t.waived[n] = true }})
	}
	return all
}
