package olm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// ExtensionSet is the joint result for several Extensions.
type ExtensionSet struct {
	// Choices are in the order of the Extensions.
	Choices []ExtensionAnswer
	// Dependencies are the bundles that the choices require and no Extension
	// requests, by package. There are none unless they were allowed.
	Dependencies []Candidate
}

// ExtensionAnswer is the result for one of several Extensions.
type ExtensionAnswer struct {
	Choice *ExtensionChoice // nil if Err says why there is none
	// Err is an error of [Resolver.ResolveExtension], or a *TogetherError if the
	// Extension cannot be served together with the others. The installed bundle
	// then stays.
	Err error
}

// TogetherError reports that an Extension cannot be served together with
// others.
type TogetherError struct {
	Package string // the package that it requests
	Text    string // the reasons, one per line
}

// Error implements error.
func (e *TogetherError) Error() string {
	return words.Sprintf("package %s cannot be installed together with the other extensions:\n%s", e.Package, words.Text(e.Text))
}

// ResolveExtensions chooses bundles for several Extensions and respects what
// bundles require, which OLM v1 rejects:
//
//  1. Each gets a bundle that [Resolver.ResolveExtension] might choose, or
//     none.
//  2. A requirement of a bundle is met by the bundle of another Extension or,
//     with dependencies, by one of a package that no Extension requests, from
//     the catalogs that the Extension looks at.
//  3. There is at most one bundle of a package, and one provider of an API.
//  4. As many Extensions as possible are served, earlier ones first, each with
//     the best bundle that those before it leave: not deprecated, then of the
//     catalog of highest priority, then of the highest version.
//  5. An installed bundle whose Extension is not served stays, and so does what
//     it requires, as far as that is installed.
//
// The errors are those of the solver, for a context that ended, and
// *rule.BudgetError.
func (r *Resolver) ResolveExtensions(ctx context.Context, xs []*Extension, dependencies bool) (*ExtensionSet, error) {
	ctx, end := r.budgeted(ctx)
	out, err := r.resolveExtensions(ctx, xs, dependencies)
	return out, end(err)
}

func (r *Resolver) resolveExtensions(ctx context.Context, xs []*Extension, dependencies bool) (*ExtensionSet, error) {
	t := &together{r: r, xs: xs, dependencies: dependencies, out: &ExtensionSet{Choices: make([]ExtensionAnswer, len(xs))}}
	t.gather()
	p, err := t.encode(ctx)
	if err != nil {
		return nil, err
	}
	best := solver.Criterion{Name: "extensions that are not served"}
	for i := range xs {
		if t.out.Choices[i].Err == nil {
			best.Terms = append(best.Terms, solver.Term{Lit: p.wants[i].No(), Weight: 1})
		}
	}
	o, err := solver.Minimize(ctx, p.Problem, []solver.Criterion{best}, r.opts.Solver)
	if err != nil {
		return nil, err
	}
	return t.out, t.read(ctx, p, o.Solution)
}

// together is one question about several Extensions.
type together struct {
	r            *Resolver
	xs           []*Extension
	queries      []*extensionQuery
	dependencies bool
	members      []*bundleMember // of the Extensions, each list the best first; then dependencies
	out          *ExtensionSet
}

// bundleMember is a bundle that may be part of the answer.
type bundleMember struct {
	*operator
	contender *contender
	of        int  // the index of the Extension; -1 for a dependency
	stays     bool // it is installed, and stays
	v         solver.Var
}

func (m *bundleMember) String() string {
	if m.stays {
		return m.contender.Name + ", which is installed"
	}
	return m.contender.Name
}

// gather collects the bundles that each Extension may get.
func (t *together) gather() {
	for i, x := range t.xs {
		q, all, err := t.r.contenders(x)
		t.queries = append(t.queries, q)
		if err == nil {
			var best []*contender
			for _, list := range all {
				best = append(best, list[0])
			}
			_, err = q.decide(best)
		}
		if err != nil {
			t.out.Choices[i].Err = err
		} else {
			list := slices.Concat(all...)
			sortContenders(list)
			for _, c := range list {
				t.add(&bundleMember{contender: c, of: i})
			}
		}
		if x.Installed != nil {
			t.stay(i)
		}
	}
}

func sortContenders(list []*contender) {
	slices.SortStableFunc(list, func(a, b *contender) int {
		if a.deprecated != b.deprecated {
			if a.deprecated {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.priority, a.priority), b.release.compare(a.release), strings.Compare(a.Name, b.Name), a.Source.Compare(b.Source))
	})
}

func (t *together) add(m *bundleMember) *bundleMember {
	m.operator = &operator{bundle: m.contender.Bundle, needs: t.r.needs}
	t.members = append(t.members, m)
	return m
}

// stay adds the installed bundle of an Extension, if a catalog has it.
func (t *together) stay(i int) {
	x := t.xs[i]
	for _, s := range t.r.sources {
		if s.Err != nil || s.Disabled {
			continue
		}
		if p, ok := s.Catalog.Package(x.Package); ok {
			if b, ok := p.Bundle(x.Installed.Name); ok {
				c := &contender{Candidate: Candidate{Package: x.Package, Name: b.Name(), Version: b.Version(), Source: s.SourceKey, Bundle: b}}
				t.add(&bundleMember{contender: c, of: i, stays: true})
				return
			}
		}
	}
}

// encoded is the question as a solver problem.
type encoded struct {
	*solver.Problem
	wants []solver.Var // that an Extension is served
}

// encode builds the solver problem.
func (t *together) encode(ctx context.Context) (*encoded, error) {
	p := &encoded{Problem: &solver.Problem{}}
	for i, x := range t.xs {
		p.wants = append(p.wants, p.Var(fmt.Sprintf("extension %d for package %s", i+1, x.Package)))
		// The first ones first, each if possible.
		p.Any([]solver.Lit{p.wants[i].Yes(), p.Var(fmt.Sprintf("not extension %d", i+1)).Yes()}, nil)
	}
	for n, m := range t.members {
		m.v = p.Var(fmt.Sprintf("%s of %s (%d)", m, m.contender.Source, n))
	}
	for i, x := range t.xs {
		var candidates []solver.Var
		for _, m := range t.members {
			switch {
			case m.of != i:
			case m.stays:
				p.Any([]solver.Lit{p.wants[i].Yes(), m.v.Yes()}, solver.Text(m.contender.Name+" is installed, and stays if nothing takes its place"))
			default:
				candidates = append(candidates, m.v)
			}
		}
		if t.out.Choices[i].Err != nil {
			p.Forbid(p.wants[i], solver.Text("nothing can be chosen for package "+x.Package))
			continue
		}
		p.Depend(p.wants[i], candidates, solver.Text("an extension asks for package "+x.Package))
	}
	for n := 0; n < len(t.members); n++ { // dependencies are added on the way
		if err := t.requirements(ctx, p, t.members[n]); err != nil {
			return nil, err
		}
	}
	if err := t.exclude(ctx, p); err != nil {
		return nil, err
	}
	t.unique(p)
	return p, ctx.Err()
}

// exclude adds the constraints on bundles that exclude each other. Installed
// bundles that stay are exempt from each other.
func (t *together) exclude(ctx context.Context, p *encoded) error {
	for _, m := range t.members {
		for _, n := range m.facts().needs {
			if n.banned == nil {
				continue
			}
			for _, o := range t.members {
				matches, err := n.banned.Match(ctx, o.facts().prepared())
				if err != nil {
					return err
				}
				if matches && o != m && !(m.stays && o.stays) {
					p.Exclude(m.v, o.v, solver.Text(fmt.Sprintf("%s does not go with %s", m, o)))
				}
			}
		}
	}
	return ctx.Err()
}

// requirements adds the requirements of a bundle. Of an installed bundle that
// stays, only those count that something installed meets.
func (t *together) requirements(ctx context.Context, p *encoded, m *bundleMember) error {
	f := m.facts()
	if f.problem != nil && !m.stays {
		p.Forbid(m.v, solver.Text(m.contender.Name+" cannot be used: "+f.problem.Error()))
	}
	for _, n := range f.needs {
		if n.banned != nil {
			continue // see exclude
		}
		var by []solver.Var
		met := false
		for _, o := range t.members {
			ok, err := n.metBy(ctx, o.contender.Package, o.facts())
			if ctx.Err() != nil {
				return err
			}
			if ok && o.of >= 0 {
				by = append(by, o.v)
				met = met || o.stays
			}
		}
		if m.stays && !met {
			continue
		}
		if t.dependencies && !m.stays {
			more, err := t.outside(ctx, p, m, n)
			if err != nil {
				return err
			}
			by = append(by, more...)
		}
		p.Depend(m.v, by, solver.Text(fmt.Sprintf("%s requires %s", m, n)))
	}
	return ctx.Err()
}

// outside returns the bundles that meet a requirement and are of a package that
// no Extension requests, the best first.
func (t *together) outside(ctx context.Context, p *encoded, m *bundleMember, n *need) ([]solver.Var, error) {
	var list []*contender
	for _, s := range t.r.sources {
		if s.Disabled || s.Err != nil || m.of >= 0 && t.xs[m.of].Catalogs != nil && !t.xs[m.of].Catalogs(&s.Source) {
			continue
		}
		found, err := s.match(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, e := range found.entries {
			asked := slices.ContainsFunc(t.xs, func(x *Extension) bool { return x.Package == e.pkg })
			same := func(c *contender) bool { return c.Name == e.name && c.Source == s.SourceKey }
			if asked || slices.ContainsFunc(list, same) {
				continue
			}
			rel, _ := parseRelease(e.bundle.Version(), nil)
			list = append(list, &contender{Candidate: Candidate{Package: e.pkg, Name: e.name, Version: e.bundle.Version(), Source: s.SourceKey, Bundle: e.bundle}, release: rel, priority: s.Priority, deprecated: e.facts().deprecated})
		}
	}
	sortContenders(list)
	var by []solver.Var
	for _, c := range list {
		at := slices.IndexFunc(t.members, func(o *bundleMember) bool {
			return o.of < 0 && o.contender.Name == c.Name && o.contender.Source == c.Source
		})
		if at < 0 {
			at = len(t.members)
			o := t.add(&bundleMember{contender: c, of: -1})
			o.v = p.Var(fmt.Sprintf("%s of %s (%d)", o, c.Source, at))
		}
		by = append(by, t.members[at].v)
	}
	return by, nil
}

// unique adds the constraints that there is at most one bundle of a package and
// one provider of an API.
func (t *together) unique(p *encoded) {
	packages, apis := map[string][]solver.Var{}, map[catalog.GVK][]solver.Var{}
	for _, m := range t.members {
		packages[m.contender.Package] = append(packages[m.contender.Package], m.v)
		for _, g := range m.facts().gvks {
			apis[g] = append(apis[g], m.v)
		}
	}
	for _, name := range sortedKeys(packages, strings.Compare) {
		p.Limit(1, packages[name], solver.Text("there can be only one bundle of package "+name))
	}
	for _, g := range sortedKeys(apis, compareGVK) {
		p.Limit(1, apis[g], solver.Text("there can be only one provider of "+gvkText(g)))
	}
}

// read takes the answers from a solution, and finds the reason for each
// Extension that is not served.
func (t *together) read(ctx context.Context, p *encoded, s *solver.Solution) error {
	var selected []*bundleMember
	for _, m := range t.members {
		if s.Has(m.v) {
			selected = append(selected, m)
		}
	}
	if err := t.check(ctx, selected); err != nil {
		return err
	}
	for _, m := range t.members {
		switch {
		case !s.Has(m.v) || m.stays:
		case m.of < 0:
			t.out.Dependencies = append(t.out.Dependencies, m.contender.Candidate)
		default:
			t.out.Choices[m.of].Choice = t.queries[m.of].choice(m.contender)
		}
	}
	slices.SortFunc(t.out.Dependencies, func(a, b Candidate) int { return strings.Compare(a.Package, b.Package) })
	for i, x := range t.xs {
		if a := &t.out.Choices[i]; a.Choice == nil && a.Err == nil {
			text, err := t.why(ctx, p, s, i)
			if err != nil {
				return err
			}
			a.Err = &TogetherError{Package: x.Package, Text: text}
		}
	}
	return nil
}

// why returns why an Extension cannot be served together with those that are.
func (t *together) why(ctx context.Context, before *encoded, s *solver.Solution, i int) (string, error) {
	p, err := t.encode(ctx)
	if err != nil {
		return "", err
	}
	for j := range t.xs {
		if j == i || s.Has(before.wants[j]) {
			p.Require(p.wants[j], solver.Text("an extension asks for package "+t.xs[j].Package))
		}
	}
	_, err = solver.Solve(ctx, p.Problem, t.r.opts.Solver)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		return "", err
	}
	core, _, err := unsat.Core(ctx, nil)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, c := range core {
		if c.Why == nil {
			continue
		}
		if line := c.Why.String(); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return words.JoinLines(lines), nil
}
