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

// Options change how resolution decides. The zero value decides as the
// reference does.
type Options struct {
	// GlobalNamespace is the namespace whose catalogs every namespace sees,
	// unless its operator group says otherwise.
	GlobalNamespace string

	// KeepOrder serves subscriptions in the order in which the request lists
	// them, instead of by name: if two compete, the earlier one gets its better
	// choice.
	KeepOrder bool

	// TolerateUnhealthy turns the error of an unusable catalog into a warning if
	// no subscription of the request refers to it. A subscription that names no
	// catalog refers to all of them.
	TolerateUnhealthy bool

	// PartialOK serves as many subscriptions as possible, preferring those that
	// come first. Installed operators stay or are updated in any case. The
	// Outcome of each subscription that is left out says why; it is proven that
	// no more could be served. Without it, one conflict stops the namespace.
	PartialOK bool

	// CrossCatalogUpdates lets a subscription that names a catalog be updated
	// from another one when the named catalog offers no satisfiable update.
	CrossCatalogUpdates bool

	// Objectives take precedence over the order of preference, the first one
	// first: only the answers with the lowest value of each count. Serving the
	// most subscriptions (PartialOK, if not all can be served) and UpdateOnly
	// have their own order and ignore objectives.
	Objectives []Objective

	// NoDowngrades rejects bundles of a version below that of the installed
	// operator of their package: an update by a skipRange, or to another channel,
	// could lead to one. Versions that cannot be parsed are not compared.
	NoDowngrades bool

	// StayOnChannel rejects bundles of channels that do not list the installed
	// operator of their package, unless a subscription names the channel. If no
	// channel of the catalog lists it, all are allowed.
	StayOnChannel bool

	// Forbid is called for every bundle that may be chosen; a text that is not
	// empty forbids the bundle and is shown to users. It must be a pure function,
	// and safe for concurrent use. It is not called for installed operators.
	Forbid func(Candidate) string

	// NotExcludes interprets a constraint whose outermost kind is not as the OLM
	// documentation does: what the negated constraints match must not be
	// installed beside the bundle. Otherwise the constraint requires, as in the
	// reference, some operator that they do not match.
	NotExcludes bool

	// NoTakeover says that no subscription takes over an installed operator by its
	// startingCSV, as in a cluster that OLM itself runs: then advice does not propose it.
	NoTakeover bool

	// Variables are what CEL rules may use besides properties, such as a cluster
	// variable with facts of the platform. A value is anything that encoding/json
	// can encode; rules see the encoded form.
	Variables map[string]any

	// Rules limits the CEL rules of constraints.
	Rules *rule.Options

	// RuleBudget limits the cost of the CEL rules of all bundles for one
	// question, see [rule.WithBudget]; beyond it the question fails with a
	// *rule.BudgetError. What was found before that is kept, so the same question
	// costs less the next time. 0 means DefaultRuleBudget.
	RuleBudget uint64

	// Solver limits the search.
	Solver *solver.Options
}

// DefaultRuleBudget is about a second's work of rules that were written to be
// costly; the cost of ordinary rules is negligible.
const DefaultRuleBudget = 1_000_000

// budgeted returns a context in which rules draw on the budget of one question.
// end must be called with the error of the question when it is over, and
// returns the error to report in its place.
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

// Request is what to resolve: the current state of one namespace.
type Request struct {
	// Namespace is the namespace that is resolved. If it is empty, no object may
	// have a namespace.
	Namespace string
	// Subscriptions are those of the namespace; others are ignored.
	Subscriptions []Subscription
	// Installed are the CSVs of the namespace; others are ignored, and so are
	// copies.
	Installed []ClusterServiceVersion
	// Group is the operator group of the namespace; nil means one with the
	// defaults. See [group.Sole].
	Group *OperatorGroup
}

// A Resolver resolves requests against a fixed set of catalogs. It caches what
// it learns about them (the order of channels, which bundles meet which
// requirement). It is safe for concurrent use.
type Resolver struct {
	opts    Options
	sources []*source
	needs   *needTable
	near    sync.Map // of nearKey to []Finding
}

// NewResolver returns a Resolver for these catalogs, whose order does not
// matter. Two catalogs of the same name and namespace are an error, and so are
// one with neither Catalog nor Err, unknown objectives, and options for rules
// that rule.NewCompiler rejects.
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

// newSources creates sources with empty caches, sorted by name.
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
	slices.SortFunc(all, func(a, b *source) int { return a.Compare(b.SourceKey) })
	for i := 1; i < len(all); i++ {
		if all[i].SourceKey == all[i-1].SourceKey {
			return nil, fmt.Errorf("catalog %s: given twice; give each a name of its own", all[i].SourceKey)
		}
	}
	return all, nil
}

// Resolve combines NewResolver and Resolver.Resolve, for a single use.
func Resolve(ctx context.Context, sources []Source, req *Request, opts *Options) (*Resolution, error) {
	r, err := NewResolver(sources, opts)
	if err != nil {
		return nil, err
	}
	return r.Resolve(ctx, req)
}

// Visible returns the catalogs that are visible in the namespace of a request,
// in the order of preference.
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

// visible returns the catalogs that are visible in a namespace, in order of
// preference: higher priority, then the namespace's own before others, then by
// name.
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
		return a.Compare(b.SourceKey)
	})
	return seen
}

// healthy drops unusable catalogs from seen if that is allowed, with a warning
// for each, and otherwise fails.
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
			return sub.Source() == SourceKey{} || sub.Source() == s.SourceKey
		}) {
			return nil, nil, err
		}
		warnings = append(warnings, Warning{Subject: "catalog " + s.String(), Text: err.Error() + "; no subscription refers to it, so it was left out"})
	}
	return usable, warnings, nil
}
