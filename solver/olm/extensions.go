package olm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	t := &together{r: r, xs: xs, dependencies: dependencies, known: map[*entry]*bundleMember{}, out: &ExtensionSet{Choices: make([]ExtensionAnswer, len(xs))}}
	t.gather()
	n, wants, err := t.encode(ctx)
	if err != nil {
		return nil, err
	}
	best := solver.Criterion{Name: "extensions that are not served"}
	for i := range xs {
		if t.out.Choices[i].Err == nil {
			best.Terms = append(best.Terms, solver.Term{Lit: wants[i].No(), Weight: 1})
		}
	}
	o, err := solver.Minimize(ctx, &n.problem, []solver.Criterion{best}, r.opts.Solver)
	if err != nil {
		return nil, err
	}
	selected := n.selection(o.Solution)
	if err := t.check(ctx, selected); err != nil {
		return nil, fmt.Errorf("the answer found is wrong, and was not returned: %w", err)
	}
	return t.out, t.read(ctx, selected)
}

// together is one question about several Extensions: the rules of an encoding, whose
// subscriptions they are.
type together struct {
	r            *Resolver
	xs           []*Extension
	queries      []*extensionQuery
	dependencies bool
	members      []*bundleMember // of the Extensions, each list the best first; then dependencies
	known        map[*entry]*bundleMember
	out          *ExtensionSet
}

// bundleMember is a bundle that may be part of the answer.
type bundleMember struct {
	*entry
	contender *contender
	of        int // the index of the Extension; -1 for a dependency
}

// gather collects the bundles that each Extension may get, and what it has installed.
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
				t.add(c, i, &entry{id: fmt.Sprintf("%s/%s of extension %d", c.Source, c.Name, i+1), source: t.source(c.Source)})
			}
		}
		if c := t.installed(x); c != nil {
			t.add(c, i, &entry{id: fmt.Sprintf("installed %s of extension %d", c.Name, i+1)})
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

// add adds a member; an entry without an operator gets that of the bundle.
func (t *together) add(c *contender, of int, e *entry) *bundleMember {
	if e.operator == nil {
		e.operator, e.name, e.pkg, e.rank = &operator{bundle: c.Bundle, needs: t.r.needs}, c.Name, c.Package, -1
	}
	m := &bundleMember{entry: e, contender: c, of: of}
	t.members, t.known[e] = append(t.members, m), m
	return m
}

// installed returns the bundle that an Extension has installed, if a catalog has it.
func (t *together) installed(x *Extension) *contender {
	if x.Installed == nil {
		return nil
	}
	for _, s := range t.r.sources {
		if s.Err != nil || s.Disabled {
			continue
		}
		if p, ok := s.Catalog.Package(x.Package); ok {
			if b, ok := p.Bundle(x.Installed.Name); ok {
				return &contender{Candidate: Candidate{Package: x.Package, Name: b.Name(), Version: b.Version(), Source: s.SourceKey, Bundle: b}}
			}
		}
	}
	return nil
}

func (t *together) source(key SourceKey) *source {
	return t.r.sources[slices.IndexFunc(t.r.sources, func(s *source) bool { return s.SourceKey == key })]
}

// encode builds the solver problem, with a variable for each Extension: that it is served.
func (t *together) encode(ctx context.Context) (*encoding, []solver.Var, error) {
	n := newEncoding(&query{Resolver: t.r}, t)
	p := &n.problem
	wants := make([]solver.Var, len(t.xs))
	for i, x := range t.xs {
		wants[i] = p.Var(fmt.Sprintf("extension %d for package %s", i+1, x.Package))
		// The first ones first, each if possible.
		p.Any([]solver.Lit{wants[i].Yes(), p.Var(fmt.Sprintf("not extension %d", i+1)).Yes()}, nil)
	}
	candidates := make([][]solver.Var, len(t.xs))
	for _, m := range t.members {
		switch v := n.reach(m.entry); {
		case m.of < 0:
		case m.isInstalled():
			p.Any([]solver.Lit{wants[m.of].Yes(), v.Yes()}, solver.Text(m.name+" is installed, and stays if nothing takes its place"))
		default:
			candidates[m.of] = append(candidates[m.of], v)
		}
	}
	for i, x := range t.xs {
		if t.out.Choices[i].Err != nil {
			p.Forbid(wants[i], solver.Text("nothing can be chosen for package "+x.Package))
			continue
		}
		p.Depend(wants[i], candidates[i], solver.Text("an extension asks for package "+x.Package))
	}
	return n, wants, cmp.Or(n.complete(ctx), ctx.Err())
}

// refusal implements rules: what is malformed may only stay.
func (t *together) refusal(e *entry) string {
	if problem := e.facts().problem; problem != nil && !e.isInstalled() {
		return "cannot be used: " + problem.Error()
	}
	return ""
}

// exempt implements rules: what stays was beside the other before.
func (t *together) exempt(by, other *entry) bool { return by.isInstalled() && other.isInstalled() }

// meeting implements rules. Of an installed bundle that stays, only those requirements count
// that something installed meets.
func (t *together) meeting(ctx context.Context, e *entry, n *need) (by []*entry, counts bool, err error) {
	met := false
	for _, o := range t.members {
		ok, err := n.metBy(ctx, o.pkg, o.facts())
		if ctx.Err() != nil {
			return nil, false, err
		}
		if ok && o.of >= 0 {
			by = append(by, o.entry)
			met = met || o.isInstalled()
		}
	}
	if e.isInstalled() {
		return by, met, nil
	}
	if !t.dependencies {
		return by, true, nil
	}
	more, err := t.outside(ctx, t.known[e], n)
	return append(by, more...), true, err
}

// outside returns the bundles that meet a requirement and are of a package that
// no Extension requests, the best first.
func (t *together) outside(ctx context.Context, m *bundleMember, n *need) ([]*entry, error) {
	var list []*contender
	entries := map[*contender]*entry{}
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
			c := &contender{Candidate: Candidate{Package: e.pkg, Name: e.name, Version: e.bundle.Version(), Source: s.SourceKey, Bundle: e.bundle}, release: rel, priority: s.Priority, deprecated: e.facts().deprecated}
			list, entries[c] = append(list, c), e
		}
	}
	sortContenders(list)
	var by []*entry
	for _, c := range list {
		at := slices.IndexFunc(t.members, func(o *bundleMember) bool { return o.of < 0 && o.name == c.Name && o.contender.Source == c.Source })
		if at < 0 {
			at = len(t.members)
			t.add(c, -1, entries[c])
		}
		by = append(by, t.members[at].entry)
	}
	return by, nil
}

// read takes the answers from a selection, and finds the reason for each
// Extension that is not served.
func (t *together) read(ctx context.Context, selected []*entry) error {
	for _, e := range selected {
		switch m := t.known[e]; {
		case m.of < 0:
			t.out.Dependencies = append(t.out.Dependencies, m.contender.Candidate)
		case !e.isInstalled():
			t.out.Choices[m.of].Choice = t.queries[m.of].choice(m.contender)
		}
	}
	slices.SortFunc(t.out.Dependencies, func(a, b Candidate) int { return strings.Compare(a.Package, b.Package) })
	for i, x := range t.xs {
		if a := &t.out.Choices[i]; a.Choice == nil && a.Err == nil {
			text, err := t.why(ctx, i)
			if err != nil {
				return err
			}
			a.Err = &TogetherError{Package: x.Package, Text: text}
		}
	}
	return nil
}

// why returns why an Extension cannot be served together with those that are.
func (t *together) why(ctx context.Context, i int) (string, error) {
	n, wants, err := t.encode(ctx)
	if err != nil {
		return "", err
	}
	for j := range t.xs {
		if j == i || t.out.Choices[j].Choice != nil {
			n.problem.Require(wants[j], solver.Text("an extension asks for package "+t.xs[j].Package))
		}
	}
	_, err = solver.Solve(ctx, &n.problem, t.r.opts.Solver)
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
