package olm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/solver"
	"github.com/fairlead/fairlead/solver/rule"
)

// Options alter how resolution decides. The zero value decides as the
// reference does.
type Options struct {
	// GlobalNamespace is the namespace whose catalogs every namespace sees,
	// unless its operator group says otherwise.
	GlobalNamespace string

	// KeepOrder serves subscriptions in the order in which the request lists
	// them, instead of by namespace and name: where two compete, the earlier
	// one gets its better choice.
	KeepOrder bool

	// TolerateUnhealthy makes a warning of an unusable catalog that no
	// subscription of the request refers to. A subscription that names no
	// catalog refers to all of them.
	TolerateUnhealthy bool

	// PartialOK serves as many subscriptions as can be, and of the ways to do so
	// the one whose subscriptions come first. What is installed stays or is
	// updated, in any case. The Outcome of each subscription that is left out
	// says why; that no more could be served is proven. Without it one conflict
	// stops the namespace.
	PartialOK bool

	// CrossCatalogUpdates lets a subscription that names a catalog be updated
	// from another one when the named catalog offers no satisfiable update.
	CrossCatalogUpdates bool

	// Objectives come before the order of preference, the first one first: of all
	// answers those count that have the least of it. What serves most subscriptions
	// (PartialOK, where not all can be served) and UpdateOnly have an order of
	// their own, and do without.
	Objectives []Objective

	// NoDowngrades refuses bundles of a version below that of the installed
	// operator of their package: an update by a skipRange, or to another channel,
	// could lead there. Versions that cannot be read are not compared.
	NoDowngrades bool

	// StayOnChannel refuses bundles of channels that do not list the installed
	// operator of their package, unless a subscription names the channel. Where no
	// channel of the catalog lists it, all are open.
	StayOnChannel bool

	// Forbid is asked for every bundle that may be chosen; a text that is not
	// empty forbids it and is shown to users. It must be a pure function, and
	// safe for concurrent use. Installed operators are not asked about.
	Forbid func(Candidate) string

	// NotExcludes takes a constraint whose outermost kind is not as the documents
	// do: what it matches must not be installed beside the bundle. Without it,
	// like the reference, it asks for some operator that it does not match.
	NotExcludes bool

	// Variables are what CEL rules may speak of beside properties, such as a
	// cluster variable with facts of the platform. Values are what encoding/json
	// makes of them.
	Variables map[string]any

	// Rules bounds the CEL rules of constraints.
	Rules *rule.Options

	// RuleBudget bounds what the CEL rules of all bundles may cost for one
	// question, see [rule.WithBudget]; beyond it the question fails with a
	// *rule.BudgetError. What was found until then is kept, so that the same
	// question costs less the next time. 0 means DefaultRuleBudget.
	RuleBudget uint64

	// Solver bounds the search.
	Solver *solver.Options
}

// DefaultRuleBudget is about a second's work of rules that were written to be
// costly; honest rules do not count.
const DefaultRuleBudget = 1_000_000

// budgeted returns a context in which rules draw on the budget of one question.
// End is called with the question's error when it is over, and returns what to
// answer in its place.
func (r *Resolver) budgeted(ctx context.Context) (within context.Context, end func(error) error) {
	within, cancel := rule.WithBudget(ctx, cmp.Or(r.opts.RuleBudget, DefaultRuleBudget))
	return within, func(err error) error {
		var told, over *rule.BudgetError
		if err != nil && ctx.Err() == nil && !errors.As(err, &told) && errors.As(context.Cause(within), &over) {
			err = over
		}
		cancel()
		return err
	}
}

// Request is what to resolve: one namespace as it stands.
type Request struct {
	// Namespace is the namespace that is resolved. If it is empty, nothing may be
	// of a namespace.
	Namespace string
	// Subscriptions are those of the namespace; others are left out.
	Subscriptions []Subscription
	// Installed are the CSVs of the namespace; others are left out, and so are
	// copies.
	Installed []ClusterServiceVersion
	// Group is the operator group of the namespace; nil stands for one with
	// the defaults. See [group.Sole].
	Group *OperatorGroup
}

// A Resolver resolves requests against a fixed set of catalogs. What it learns
// about them (the order of channels, who meets which requirement) it keeps.
// It is safe for concurrent use.
type Resolver struct {
	opts    Options
	sources []*source
	needs   *needTable
	near    sync.Map // of nearKey to []Finding
}

// NewResolver returns a Resolver for these catalogs, whose order does not
// matter. Two of one name and namespace are an error, and so are one with
// neither Catalog nor Err, objectives that there are not, and options for rules that
// rule.NewCompiler refuses.
func NewResolver(sources []Source, opts *Options) (*Resolver, error) {
	r := &Resolver{}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.opts.check(); err != nil {
		return nil, err
	}
	var err error
	if r.needs, err = newNeedTable(&r.opts); err != nil {
		return nil, err
	}
	r.sources, err = newSources(sources, r.needs)
	return r, err
}

// newSources makes sources of which nothing is known yet, by name.
func newSources(given []Source, needs *needTable) ([]*source, error) {
	var all []*source
	for _, s := range given {
		if s.Catalog == nil && s.Err == nil {
			return nil, fmt.Errorf("catalog %s: neither content nor an error; set one of the two", s.SourceKey)
		}
		all = append(all, &source{
			Source:  s,
			needs:   needs,
			pkgs:    make(map[string]*pkgIndex),
			matches: make(map[*need]*matches),
		})
	}
	slices.SortFunc(all, func(a, b *source) int { return a.compare(b.SourceKey) })
	for i := 1; i < len(all); i++ {
		if all[i].SourceKey == all[i-1].SourceKey {
			return nil, fmt.Errorf("catalog %s: given twice; give each a name of its own", all[i].SourceKey)
		}
	}
	return all, nil
}

// Resolve is NewResolver and Resolver.Resolve in one, for a single use.
func Resolve(ctx context.Context, sources []Source, req *Request, opts *Options) (*Resolution, error) {
	r, err := NewResolver(sources, opts)
	if err != nil {
		return nil, err
	}
	return r.Resolve(ctx, req)
}

// Visible returns the catalogs that the namespace of a request sees, in the order
// of preference.
func (r *Resolver) Visible(req *Request) []Source {
	var all []Source
	for _, s := range r.visible(req) {
		all = append(all, s.Source)
	}
	return all
}

// Order returns the subscriptions of a request's namespace in the order in which
// they are served.
func (r *Resolver) Order(req *Request) []Subscription {
	var all []Subscription
	for _, s := range (&query{Resolver: r, req: req}).ordered() {
		all = append(all, *s)
	}
	return all
}

// visible returns the catalogs that a namespace sees, in order of preference:
// higher priority, then the namespace's own before others, then by name.
func (r *Resolver) visible(req *Request) []*source {
	var seen []*source
	for _, s := range r.sources {
		if s.Disabled {
			continue
		}
		global := s.Namespace == r.opts.GlobalNamespace && !req.Group.ExcludesGlobal()
		if s.Namespace == req.Namespace || global {
			seen = append(seen, s)
		}
	}
	slices.SortStableFunc(seen, func(a, b *source) int {
		if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
			return c
		}
		if own := a.Namespace == req.Namespace; own != (b.Namespace == req.Namespace) {
			if own {
				return -1
			}
			return 1
		}
		return a.compare(b.SourceKey)
	})
	return seen
}

// healthy drops unusable catalogs from seen where that is allowed, with a
// warning each, and otherwise fails.
func (r *Resolver) healthy(seen []*source, subs []*Subscription) ([]*source, []Warning, error) {
	var usable []*source
	var warnings []Warning
	for _, s := range seen {
		if s.Err == nil {
			usable = append(usable, s)
			continue
		}
		err := &SourceError{s.SourceKey, s.Err}
		if !r.opts.TolerateUnhealthy || slices.ContainsFunc(subs, func(sub *Subscription) bool {
			return sub.source() == SourceKey{} || sub.source() == s.SourceKey
		}) {
			return nil, nil, err
		}
		warnings = append(warnings, Warning{Subject: "catalog " + s.String(), Text: err.Error() + "; no subscription refers to it, so it was left out"})
	}
	return usable, warnings, nil
}
