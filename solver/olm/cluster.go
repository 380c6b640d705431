package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// ClusterResolution is the result of resolving several namespaces, each by
// itself, with the conflicts between them: namespaces are resolved separately,
// but APIs belong to the cluster.
type ClusterResolution struct {
	// Namespaces are in the order of the requests.
	Namespaces []NamespaceResolution
	// Conflicts are first those of APIs with two providers, in the order of the
	// APIs, then those of lost APIs, by namespace. Operators that take part in
	// one should not be installed before it is resolved.
	Conflicts []NamespaceConflict
}

// NamespaceResolution is the result for one namespace. Exactly one of
// Resolution and Unsat is set.
type NamespaceResolution struct {
	Namespace  string
	Resolution *Resolution
	Unsat      *UnsatError
}

// NamespacedOperator is an operator in a namespace.
type NamespacedOperator struct {
	Namespace string // where it is or will be installed
	Name      string // the name of its CSV
	New       bool   // it is not installed yet
}

// String returns "name in namespace".
func (o NamespacedOperator) String() string { return o.Name + " in namespace " + o.Namespace }

// NamespaceConflict is a conflict between namespaces.
type NamespaceConflict struct {
	// Operators are the conflicting operators.
	Operators []NamespacedOperator
	// APIs are the APIs in question, in order.
	APIs []catalog.GVK
	// Wait are the namespaces, by name, in which nothing should change before the
	// conflict is resolved.
	Wait []string
	// Text describes the conflict.
	Text string
	// Advice says what would help, or is "" if no trial found anything.
	Advice string
}

// ResolveNamespaces resolves namespaces and looks for conflicts between them:
//
//  1. An API that operators of two namespaces would provide, at least one of
//     them newly. A version deadlock shows up like this: the updates of two
//     operators in different namespaces require each other's new APIs, so that
//     each namespace resolves to a second copy of the other's operator.
//  2. An API, or another requirement of an operator, that an operator of
//     another namespace met before and that nothing meets after the resolution.
//
// For conflicts of the first kind it tries whether the namespaces could be
// resolved as one, and whether one of the operators can be left out by banning
// it from its namespace. The errors are those of Resolver.Resolve except
// *UnsatError, which is in the result; two requests for one namespace are also
// an error.
func (r *Resolver) ResolveNamespaces(ctx context.Context, reqs []*Request) (*ClusterResolution, error) {
	ctx, end := r.budgeted(ctx)
	out, err := r.resolveNamespaces(ctx, reqs)
	return out, end(err)
}

func (r *Resolver) resolveNamespaces(ctx context.Context, reqs []*Request) (*ClusterResolution, error) {
	c := &cluster{Resolver: r, out: &ClusterResolution{}}
	for _, req := range reqs {
		if slices.ContainsFunc(c.spaces, func(s *space) bool { return s.req.Namespace == req.Namespace }) {
			return nil, fmt.Errorf("namespace %s: there are two requests for it; combine them into one", req.Namespace)
		}
		s, err := c.resolve(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", req.Namespace, err)
		}
		c.spaces = append(c.spaces, s)
	}
	slices.SortFunc(c.spaces, func(a, b *space) int { return strings.Compare(a.req.Namespace, b.req.Namespace) })
	if err := c.twoProviders(ctx); err != nil {
		return nil, err
	}
	c.lostAPIs(ctx)
	return c.out, ctx.Err()
}

// cluster is the state of a call of ResolveNamespaces.
type cluster struct {
	*Resolver
	spaces []*space // by name
	out    *ClusterResolution
}

// space is a namespace before and after its resolution.
type space struct {
	req           *Request
	before, after []*entry
}

func (c *cluster) resolve(ctx context.Context, req *Request) (*space, error) {
	q, err := c.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	s := &space{req: req, before: q.installed}
	n := NamespaceResolution{Namespace: req.Namespace}
	s.after, err = q.solve(ctx)
	var unsat *UnsatError
	switch {
	case errors.As(err, &unsat) && q.opts.PartialOK:
		p, err := q.solveParts(ctx, unsat.problem)
		if err != nil {
			return nil, err
		}
		s.after = append(p.selected, p.kept...)
		if n.Resolution, err = q.resultOf(ctx, p); err != nil {
			return nil, err
		}
	case errors.As(err, &unsat):
		s.after, n.Unsat = s.before, unsat
	case err != nil:
		return nil, err
	default:
		if n.Resolution, err = q.result(ctx, s.after); err != nil {
			return nil, err
		}
	}
	c.out.Namespaces = append(c.out.Namespaces, n)
	return s, nil
}

// holder is an operator in the namespace where it is or will be installed.
type holder struct {
	space *space
	entry *entry
}

func (h holder) operator() NamespacedOperator {
	return NamespacedOperator{Namespace: h.space.req.Namespace, Name: h.entry.name, New: !h.entry.isInstalled()}
}

// twoProviders finds APIs with providers in several namespaces. APIs that the
// same operators provide are one conflict.
func (c *cluster) twoProviders(ctx context.Context) error {
	providers := make(map[catalog.GVK][]holder)
	for _, s := range c.spaces {
		for _, e := range s.after {
			for _, g := range e.facts().gvks {
				providers[g] = append(providers[g], holder{s, e})
			}
		}
	}
	byWho := make(map[string]int) // position in out.Conflicts
	for _, g := range sortedKeys(providers, compareGVK) {
		all := providers[g]
		wait, why := clash(all)
		if len(wait) == 0 {
			continue
		}
		conflict := NamespaceConflict{APIs: []catalog.GVK{g}, Wait: wait, Text: why}
		for _, h := range all {
			conflict.Operators = append(conflict.Operators, h.operator())
		}
		who := fmt.Sprint(conflict.Operators)
		if at, ok := byWho[who]; ok {
			known := &c.out.Conflicts[at]
			known.APIs = append(known.APIs, g)
			continue
		}
		byWho[who] = len(c.out.Conflicts)
		together, err := c.tryTogether(ctx, all)
		if err != nil {
			return err
		}
		without, err := c.tryWithout(ctx, all)
		if err != nil {
			return err
		}
		conflict.Advice = together
		if conflict.Advice != "" && without != "" {
			conflict.Advice += "; or "
		}
		conflict.Advice += without
		c.out.Conflicts = append(c.out.Conflicts, conflict)
	}
	for i := range c.out.Conflicts {
		conflict := &c.out.Conflicts[i]
		rule := "in a cluster an API has one provider"
		if conflict.Text != "" {
			rule = "one operator may be installed for several tenants, but " + conflict.Text
		}
		conflict.Text = fmt.Sprintf("%s would be provided by %s; %s", listAPIs(conflict.APIs), listOperators(conflict.Operators), rule)
	}
	return nil
}

// tryTogether resolves the namespaces of some operators as if they were one.
func (c *cluster) tryTogether(ctx context.Context, all []holder) (string, error) {
	first := all[0].space.req
	merged := &Request{Namespace: first.Namespace, Group: first.Group}
	var names []string
	for _, s := range c.spaces {
		if !slices.ContainsFunc(all, func(h holder) bool { return h.space == s }) {
			continue
		}
		names = append(names, s.req.Namespace)
		for _, sub := range s.req.Subscriptions {
			if sub.Namespace == s.req.Namespace {
				sub.Name, sub.Namespace = s.req.Namespace+"/"+sub.Name, merged.Namespace
				merged.Subscriptions = append(merged.Subscriptions, sub)
			}
		}
		for _, csv := range s.req.Installed {
			if csv.Namespace == s.req.Namespace {
				csv.Namespace = merged.Namespace
				merged.Installed = append(merged.Installed, csv)
			}
		}
	}
	res, err := c.Resolve(ctx, merged)
	if err != nil || len(res.Chosen) == 0 {
		return "", ctx.Err() // no advice if they cannot be resolved together
	}
	var chosen []string
	for _, choice := range res.Chosen {
		chosen = append(chosen, choice.Name)
	}
	return fmt.Sprintf("install the operators of namespaces %s in one namespace; there nothing prevents %s",
		listNames(names), listNames(chosen)), nil
}

// tryWithout looks for a new operator whose namespace can be resolved without
// it so that the conflict disappears, and describes what that changes there.
func (c *cluster) tryWithout(ctx context.Context, all []holder) (string, error) {
	for _, h := range all {
		if h.entry.isInstalled() {
			continue
		}
		q := &query{Resolver: c.Resolver, req: h.space.req, exclusions: &exclusions{banned: map[string]bool{h.entry.name: true}}}
		if err := q.read(ctx); err != nil {
			return "", err
		}
		selected, err := q.solve(ctx)
		var unsat *UnsatError
		if errors.As(err, &unsat) {
			continue
		}
		if err != nil {
			return "", err
		}
		if c.collides(h.space, selected) {
			continue
		}
		var now []string
		for _, s := range q.subs {
			switch pick := s.pick(selected); {
			case pick == nil && s.pick(h.space.after) == nil:
			case pick == nil:
				now = append(now, s.current.name+" stays")
			case !slices.Contains(h.space.after, pick):
				now = append(now, pick.name+" is chosen")
			}
		}
		text := fmt.Sprintf("leave %s out of namespace %s", h.entry.name, h.space.req.Namespace)
		if len(now) > 0 {
			text += ", where then " + listNames(now)
		}
		return text, nil
	}
	return "", nil
}

// collides reports whether a selection for a namespace would conflict with
// another namespace over an API.
func (c *cluster) collides(in *space, selected []*entry) bool {
	for _, e := range selected {
		for _, g := range e.facts().gvks {
			if slices.ContainsFunc(c.spaces, func(s *space) bool {
				return s != in && slices.ContainsFunc(s.after, func(o *entry) bool {
					if !slices.Contains(o.facts().gvks, g) {
						return false
					}
					wait, _ := clash([]holder{{in, e}, {s, o}})
					return len(wait) > 0
				})
			}) {
				return true
			}
		}
	}
	return false
}

// lostAPIs finds requirements that an operator of another namespace met before
// and that nothing meets after.
func (c *cluster) lostAPIs(ctx context.Context) {
	for _, s := range c.spaces {
		for _, by := range s.after {
			for _, n := range by.facts().needs {
				if n.banned != nil || meets(ctx, n, s.after) != nil {
					continue
				}
				for _, other := range c.spaces {
					was := meets(ctx, n, other.before)
					if other == s || was == nil || c.metAfter(ctx, n) {
						continue
					}
					lost := holder{other, was}
					conflict := NamespaceConflict{
						Operators: []NamespacedOperator{holder{s, by}.operator(), lost.operator()},
						Text: fmt.Sprintf("%s requires %s, which %s provides; the choice for namespace %s removes it",
							holder{s, by}.operator(), n, lost.operator(), other.req.Namespace),
					}
					if conflict.Wait = []string{other.req.Namespace}; !by.isInstalled() {
						conflict.Wait = []string{s.req.Namespace} // an operator that is not installed yet can wait
					}
					if n.gvk != nil {
						conflict.APIs = []catalog.GVK{*n.gvk}
					}
					c.out.Conflicts = append(c.out.Conflicts, conflict)
				}
			}
		}
	}
}

func (c *cluster) metAfter(ctx context.Context, n *need) bool {
	return slices.ContainsFunc(c.spaces, func(s *space) bool { return meets(ctx, n, s.after) != nil })
}

// meets returns the first of some operators that meets a requirement, or nil.
func meets(ctx context.Context, n *need, among []*entry) *entry {
	for _, e := range among {
		if ok, _ := n.metBy(ctx, e.pkg, e.facts()); ok {
			return e
		}
	}
	return nil
}

func listAPIs(apis []catalog.GVK) string {
	var names []string
	for _, g := range apis {
		names = append(names, gvkText(g))
	}
	return listNames(names)
}

func listOperators(operators []NamespacedOperator) string {
	var names []string
	for _, o := range operators {
		names = append(names, o.String())
	}
	return listNames(names)
}
