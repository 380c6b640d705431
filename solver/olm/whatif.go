package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Supposition is a hypothetical change to a request, or to what it is resolved
// with. The zero value, like nil, changes nothing.
type Supposition struct {
	// Subscribe are subscriptions to add. One with the name of an existing
	// subscription replaces it.
	Subscribe []Subscription `json:"subscribe,omitempty"`
	// Unsubscribe names subscriptions to remove. Their installed operators stay,
	// unless Uninstall names them.
	Unsubscribe []string `json:"unsubscribe,omitempty"`
	// Uninstall names installed CSVs to remove.
	Uninstall []string `json:"uninstall,omitempty"`
	// Pin restricts packages to one bundle each.
	Pin []Pin `json:"pin,omitempty"`
	// Ban names bundles that may not be chosen. One that is installed may stay.
	Ban []string `json:"ban,omitempty"`
	// Catalogs are catalogs to add. One with the name and namespace of an
	// existing catalog replaces it.
	Catalogs []Source `json:"-"`
	// WithoutCatalogs are catalogs to remove.
	WithoutCatalogs []SourceKey `json:"withoutCatalogs,omitempty"`
}

// Pin restricts a package to one bundle: no other is chosen, or stays
// installed. Exactly one of Name and Version is set.
type Pin struct {
	Package string `json:"package"`           // the package's name
	Name    string `json:"name,omitempty"`    // the bundle's
	Version string `json:"version,omitempty"` // or its version
}

// Effect is what a supposition changes.
type Effect struct {
	// Resolution is the answer under the supposition. It is nil if there is none.
	Resolution *Resolution `json:"resolution,omitempty"`
	// Unsat says why there is no answer under the supposition, or is nil.
	Unsat *UnsatError `json:"-"`
	// Breaks reports that there is no answer, although there is one to the
	// unchanged request; Fixes reports the opposite.
	Breaks bool `json:"breaks,omitempty"`
	Fixes  bool `json:"fixes,omitempty"` // see Breaks
	// Diff is the difference in what is chosen. If there is no answer, nothing is
	// chosen.
	Diff
}

// A Base is a request with its answer, with which suppositions are compared. It
// is safe for concurrent use; the request must not be changed.
type Base struct {
	r     *Resolver
	req   *Request
	res   *Resolution
	unsat *UnsatError
	known map[string]*entry // installed operators whose properties do not depend on subscriptions

	mu   sync.Mutex
	seen []otherCatalogs // the latest one last
}

// otherCatalogs is a resolver for catalogs other than those of the base.
type otherCatalogs struct {
	with    []Source
	without []SourceKey
	r       *Resolver
}

// maxOthers is the number of those that a Base keeps.
const maxOthers = 8

// Base resolves a request and keeps the answer for further questions. A request
// that cannot be satisfied is also a base. Otherwise, the errors are those of
// Resolve.
func (r *Resolver) Base(ctx context.Context, req *Request) (*Base, error) {
	ctx, end := r.budgeted(ctx)
	b, err := r.base(ctx, req)
	return b, end(err)
}

func (r *Resolver) base(ctx context.Context, req *Request) (*Base, error) {
	b := &Base{r: r, req: req, known: make(map[string]*entry)}
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	noted := make(map[string]bool)
	for _, c := range req.Installed {
		_, ok := c.Annotations[PropertiesAnnotation]
		noted[c.Name] = ok && c.Namespace == req.Namespace || noted[c.Name]
	}
	for _, e := range q.installed {
		if noted[e.name] {
			b.known[e.name] = e
		}
	}
	b.res, b.unsat, err = q.answer(ctx)
	return b, err
}

// Answer returns the answer to the request as it is, or why there is none.
func (b *Base) Answer() (*Resolution, *UnsatError) { return b.res, b.unsat }

// answer returns what Resolve returns, but separates requests that cannot be
// satisfied from errors.
func (q *query) answer(ctx context.Context) (*Resolution, *UnsatError, error) {
	res, err := q.resolve(ctx)
	var unsat *UnsatError
	if errors.As(err, &unsat) {
		return nil, unsat, nil
	}
	return res, nil, err
}

// WhatIf resolves the request under a supposition and reports what changes. The
// answer is the one that Resolve would give to a request, and for catalogs,
// changed in that way.
//
// Cost: that of Resolve, for catalogs whose order and requirements are already
// known. A supposed catalog is analyzed once, if it is given as the same
// *catalog.Catalog again.
//
// The errors are those of Resolve except *UnsatError, which is in the result; a
// supposition that names something that does not exist is also an error.
func (b *Base) WhatIf(ctx context.Context, s *Supposition) (*Effect, error) {
	ctx, end := b.r.budgeted(ctx)
	e, err := b.whatIf(ctx, s)
	return e, end(err)
}

func (b *Base) whatIf(ctx context.Context, s *Supposition) (*Effect, error) {
	if s == nil {
		s = &Supposition{}
	}
	req, err := b.changed(s)
	if err != nil {
		return nil, err
	}
	r, err := b.resolver(s)
	if err != nil {
		return nil, err
	}
	exclusions, err := s.exclusions()
	if err != nil {
		return nil, err
	}
	q := &query{Resolver: r, req: req, exclusions: exclusions, known: b.known}
	if err := q.read(ctx); err != nil {
		return nil, err
	}
	e := &Effect{}
	if e.Resolution, e.Unsat, err = q.answer(ctx); err != nil {
		return nil, err
	}
	e.Breaks, e.Fixes = b.unsat == nil && e.Unsat != nil, b.unsat != nil && e.Unsat == nil
	e.Diff = *b.res.Diff(e.Resolution)
	return e, nil
}

// changed returns the request under a supposition.
func (b *Base) changed(s *Supposition) (*Request, error) {
	req := *b.req
	req.Subscriptions = slices.Clone(req.Subscriptions)
	for _, name := range s.Unsubscribe {
		at := slices.IndexFunc(req.Subscriptions, func(o Subscription) bool { return o.Name == name && o.Namespace == req.Namespace })
		if at < 0 {
			return nil, fmt.Errorf("what if subscription %s is removed: the request has none of that name", name)
		}
		req.Subscriptions = slices.Delete(req.Subscriptions, at, at+1)
	}
	for _, sub := range s.Subscribe {
		if sub.Namespace != req.Namespace {
			return nil, fmt.Errorf("what if subscription %s is added: it is in namespace %q, the request is for %q", sub.Name, sub.Namespace, req.Namespace)
		}
		at := slices.IndexFunc(req.Subscriptions, func(o Subscription) bool { return o.Name == sub.Name && o.Namespace == sub.Namespace })
		if at < 0 {
			req.Subscriptions = append(req.Subscriptions, sub)
		} else {
			req.Subscriptions[at] = sub
		}
	}
	if len(s.Uninstall) == 0 {
		return &req, nil
	}
	req.Installed = slices.Clone(req.Installed)
	for _, name := range s.Uninstall {
		at := slices.IndexFunc(req.Installed, func(c ClusterServiceVersion) bool { return c.Name == name && c.Namespace == req.Namespace })
		if at < 0 {
			return nil, fmt.Errorf("what if csv %s is uninstalled: the request has none of that name", name)
		}
		req.Installed = slices.Delete(req.Installed, at, at+1)
	}
	return &req, nil
}

// resolver returns the resolver for the catalogs of a supposition.
func (b *Base) resolver(s *Supposition) (*Resolver, error) {
	if len(s.Catalogs) == 0 && len(s.WithoutCatalogs) == 0 {
		return b.r, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.seen {
		if slices.Equal(o.without, s.WithoutCatalogs) && slices.EqualFunc(o.with, s.Catalogs, sameSource) {
			return o.r, nil
		}
	}
	r, err := b.r.with(s.Catalogs, s.WithoutCatalogs)
	if err != nil {
		return nil, err
	}
	if len(b.seen) == maxOthers {
		b.seen = slices.Delete(b.seen, 0, 1)
	}
	b.seen = append(b.seen, otherCatalogs{slices.Clone(s.Catalogs), slices.Clone(s.WithoutCatalogs), r})
	return r, nil
}

// sameSource reports whether two sources are the same to a resolution.
func sameSource(a, b Source) bool {
	return a.SourceKey == b.SourceKey && a.Priority == b.Priority && a.Catalog == b.Catalog && a.Disabled == b.Disabled &&
		(a.Err == nil) == (b.Err == nil) && (a.Err == nil || a.Err.Error() == b.Err.Error())
}

// with returns a resolver for other catalogs. What is known about those that
// stay is shared.
func (r *Resolver) with(catalogs []Source, without []SourceKey) (*Resolver, error) {
	var all []*source
	for _, s := range r.sources {
		if !slices.Contains(without, s.SourceKey) {
			all = append(all, s)
		}
	}
	for _, key := range without {
		if !slices.ContainsFunc(r.sources, func(s *source) bool { return s.SourceKey == key }) {
			return nil, fmt.Errorf("what if catalog %s is removed: there is none of that name", key)
		}
	}
	added, err := newSources(catalogs, r.needs)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *source) bool {
		return slices.ContainsFunc(added, func(o *source) bool { return o.SourceKey == s.SourceKey })
	})
	all = append(all, added...)
	slices.SortFunc(all, func(a, b *source) int { return a.Compare(b.SourceKey) })
	return &Resolver{opts: r.opts, sources: all, needs: r.needs}, nil
}

// exclusions returns what a supposition rules out.
func (s *Supposition) exclusions() (*exclusions, error) {
	b := &exclusions{banned: make(map[string]bool), pins: make(map[string]pin)}
	for _, name := range s.Ban {
		b.banned[name] = true
	}
	for _, p := range s.Pin {
		if _, twice := b.pins[p.Package]; twice {
			return nil, fmt.Errorf("pin of package %s: it is pinned twice", p.Package)
		}
		if p.Package == "" || (p.Name == "") == (p.Version == "") {
			return nil, fmt.Errorf("pin of package %q: name the package, and either a bundle's name or its version", p.Package)
		}
		var version semverx.Version
		if p.Name == "" {
			var err error
			if version, err = semverx.ParseTolerant(p.Version); err != nil {
				return nil, fmt.Errorf("pin of package %s: %q is not a version; write one such as 1.2.3, or set Name to a bundle's name", p.Package, p.Version)
			}
		}
		b.pins[p.Package] = pin{p.Name, version}
	}
	return b, nil
}
