package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver"
)

// Make returns the best plan that brings the cluster to the goal, with a proof that none is better.
//
// The best plan takes as few unevaluated risks as possible, unless the policy asks for the direct way, which
// Plan.Detour compares it with; a risk that is known to apply is taken only if the
// policy accepts it. Among those it has the fewest steps, and then the fewest restarts of nodes; with
// LeastDisruption it is the other way round. Ties are broken by the newest releases. Steps are in an order in
// which each may begin when those before it are done:
//
//  1. work for people, and what does no harm early, comes first: members of etcd, budgets, room;
//  2. at each release the control plane restarts first and then the other pools by
//     name; then operators move, clients use other APIs, gates are acknowledged, and
//     pools are paused;
//  3. then the cluster moves;
//  4. finally nodes go out of service: a cordoned node counts as down while its pool restarts.
//
// If there is no plan, the error is a [*NoPlanError]. It is a [fairlead.FieldErrors] for a bad policy or goal,
// that of the context, a [*fairlead.InputLimitError], or a [*solver.IncompleteError] if a limit was reached.
// Nil goal and policy mean the zero values. Equal questions have equal answers.
//
// Cost: drains and room are computed pool by pool; the encoding is linear in the updates times the pools, and
// in the versions of operators times the minor versions that the cluster passes; for operators that require
// something of each other, in the products of the versions of each three.
func Make(ctx context.Context, s *Situation, goal *Goal, policy *Policy) (*Plan, error) {
	in := newInput(s, goal, policy)
	if err := in.check(); err != nil {
		return nil, err
	}
	p, no, err := in.plan(ctx)
	switch {
	case err != nil:
		return nil, err
	case no != nil:
		return nil, in.refuse(ctx, no)
	}
	return p, in.detour(ctx, p)
}

// detour notes in a plan what the direct way would be, if that has fewer updates and more
// risks that were not evaluated.
func (in *input) detour(ctx context.Context, p *Plan) error {
	count := func(p *Plan) (n int) {
		for i := range p.Steps {
			if p.Steps[i].Kind == MoveCluster {
				n++
			}
		}
		return n
	}
	from, ok := parseMinor(p.From)
	to, ok2 := parseMinor(p.To)
	if in.Policy.Direct || !ok || !ok2 || count(p) <= max(to.minor-from.minor, 1) {
		return nil // there is no shorter way
	}
	policy := *in.Policy
	policy.Direct = true
	q, no, err := newInput(in.Situation, in.Goal, &policy).planTo(ctx, p.To)
	if err != nil || no != nil || count(q) >= count(p) {
		return err
	}
	p.Detour = &Detour{Unknown: q.Cost.Unknown, Updates: count(p) - count(q), Restarts: p.Cost.Restarts - q.Cost.Restarts}
	return nil
}

// check completes the question, and reports what is wrong with it.
func (in *input) check() error {
	if in.Goal == nil {
		in.Goal = &Goal{}
	}
	if in.Policy == nil {
		in.Policy = &Policy{}
	}
	if err := in.Policy.Check(); err != nil {
		return err
	}
	var found fairlead.FieldErrors
	if in.Situation == nil || in.Situation.Cluster == nil {
		found.Add("cluster", "there is no ClusterVersion; get it with: oc get clusterversion version -o yaml")
		return found.Err()
	}
	if len(in.Policy.Windows) > 0 && in.Situation.At.IsZero() {
		found.Add("at", "windows need the time of the observation; set it")
	}
	asked := 0
	for _, is := range []bool{in.Goal.Release != "", in.Goal.Minor != "", in.Goal.Newest} {
		if is {
			asked++
		}
	}
	if asked > 1 {
		found.Add("goal", "it names a release in more than one way; set one of release, minor and newest")
	}
	if in.Goal.Minor != "" {
		if _, ok := parseMinor(in.Goal.Minor); !ok {
			found.Add("goal.minor", "%q is not a minor version such as 4.20", in.Goal.Minor)
		}
	}
	return found.Err()
}

// noPlan is why there is no plan: facts that together rule it out, and the target that was tried.
type noPlan struct {
	target string
	facts  []*fact
}

// plan makes the plan for the target of the goal, or for the first of several that
// has one.
func (in *input) plan(ctx context.Context) (*Plan, *noPlan, error) {
	var first *noPlan
	for _, target := range in.targets() {
		p, no, err := in.planTo(ctx, target)
		if err != nil || p != nil {
			return p, nil, err
		}
		if first == nil {
			first = no
		}
	}
	if first == nil {
		first = &noPlan{target: in.Goal.Minor, facts: append([]*fact{in.noTarget()}, in.foreseen()...)}
	}
	return nil, first, nil
}

// channelHelp says what makes updates known.
func (in *input) channelHelp() string {
	if help := cvo.ChannelHelp(in.Situation.Cluster, in.Goal.Minor); help != "" {
		return help
	}
	return "provide the update graph of the channel"
}

// noTarget says why there is no target: no known update leads to one.
func (in *input) noTarget() *fact {
	wanted := "a newer release"
	if in.Goal.Minor != "" {
		wanted = "a release of " + in.Goal.Minor
	}
	start, moves := in.Situation.Cluster.Runs(), in.Situation.Moves
	next, moving := onItsWay(in.Situation) // if there is one, the ClusterVersion lists the updates from there
	switch {
	case len(moves) == 0 && moving:
		return &fact{
			reason: FactNoUpdates, subject: next,
			text: "the cluster is being updated to " + next + ", and no updates from there are known: the ClusterVersion lists none, and no update graph was given; provide the update graph of the channel",
			fixes: []fix{{"SetGoal", next, "set the goal to " + next, func(in *input) {
				in.Goal.Newest, in.Goal.Minor, in.Goal.Release = false, "", next
				in.Situation = withUnderWay(in.Situation, in.Goal)
			}, costLeave}},
		}
	case len(moves) == 0:
		return &fact{reason: FactNoUpdates, text: "no updates are known: the ClusterVersion lists none, and no update graph was given; " + in.channelHelp()}
	case !slices.ContainsFunc(moves, func(m Move) bool { return m.From != start && m.From != next }):
		return &fact{reason: FactNoPath, subject: in.Goal.Minor, text: "no known update leads to " + wanted + ": the ClusterVersion lists only the next hop; " + in.channelHelp()}
	default:
		return &fact{reason: FactNoPath, subject: in.Goal.Minor, text: "the update graph has no path to " + wanted + "; choose another release or channel"}
	}
}

// maxTargets is how many releases are tried: those with an update to them without risks that apply. If there
// are none, all others.
const maxTargets = 5

// targets returns the releases that meet the goal, the best one first.
func (in *input) targets() []string {
	g := in.Goal
	if g.Minor == "" && !g.Newest {
		return []string{g.Release}
	}
	start := in.Situation.Cluster.Runs()
	want, _ := parseMinor(g.Minor)
	seen := map[string]bool{start: true}
	var list []string
	add := func(name string) {
		x, ok := parseMinor(name)
		if !seen[name] && ok && (g.Newest || x == want) && semverx.Tolerant(name).Compare(semverx.Tolerant(start)) > 0 {
			list = append(list, name)
		}
		seen[name] = true
	}
	risky := func(m Move) bool {
		return slices.ContainsFunc(in.Situation.Risks, func(r Risk) bool {
			return r.Applies == fairlead.ConditionTrue && slices.Contains(m.Risks, r.Name) && !slices.Contains(in.Policy.Accept, r.Name)
		})
	}
	for _, x := range in.Situation.Moves {
		if !risky(x) {
			add(x.To)
		}
	}
	if len(list) == 0 {
		for _, x := range in.Situation.Moves {
			add(x.To)
		}
	}
	if x, ok := parseMinor(start); ok && len(list) == 0 && in.Situation.Moves != nil && (x == want || g.Newest) {
		list = append(list, start)
	}
	slices.SortFunc(list, func(a, b string) int { return semverx.Tolerant(b).Compare(semverx.Tolerant(a)) })
	return list[:min(len(list), maxTargets)]
}

// planTo makes the plan for a target.
func (in *input) planTo(ctx context.Context, target string) (*Plan, *noPlan, error) {
	m, bad := newModel(in, target)
	if bad != nil {
		return nil, &noPlan{target: target, facts: bad}, nil
	}
	if err := m.tooMany(); err != nil {
		return nil, nil, err
	}
	parts := m.parts()
	var no *noPlan
	for _, x := range parts {
		facts, err := x.solve(ctx, in.Policy)
		if err != nil {
			return nil, nil, err
		}
		if facts != nil && (no == nil || len(facts) < len(no.facts)) {
			no = &noPlan{target: m.target, facts: facts}
		}
	}
	if no != nil {
		return nil, no, nil
	}
	p, late := m.order(parts)
	if late != nil {
		return nil, &noPlan{target: m.target, facts: late}, nil
	}
	for _, x := range parts {
		cert, err := x.best.Certificate(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("it was not proven that no plan of the part %q is better: %w", x.name, err)
		}
		p.Proof = append(p.Proof, Bound{x.name, cert})
	}
	return p, nil, nil
}

// The criteria, see Policy.order.
const (
	byUnknown = iota
	bySteps
	byRestarts
)

// order is the order of the criteria: unknown risks first, unless the direct way is asked
// for, and steps before restarts, unless the least disruption is preferred.
func (p *Policy) order() []int {
	list := []int{byUnknown, bySteps, byRestarts}
	if p.Prefer == LeastDisruption {
		list = []int{byUnknown, byRestarts, bySteps}
	}
	if p.Direct {
		list = append(list[1:], byUnknown)
	}
	return list
}

// criteria are what is minimised, the first one first.
func (x *part) criteria(policy *Policy) []solver.Criterion {
	list := make([]solver.Criterion, 3)
	unknown, steps, restarts := solver.Criterion{Name: "unknown risks"}, solver.Criterion{Name: "steps"}, solver.Criterion{Name: "restarts"}
	for _, v := range x.unknown {
		unknown.Terms = append(unknown.Terms, solver.Term{Lit: v.Yes(), Weight: 1})
	}
	for _, c := range x.choices {
		steps.Terms = append(steps.Terms, solver.Term{Lit: c.v.Yes(), Weight: 1})
		if c.restarts > 0 {
			restarts.Terms = append(restarts.Terms, solver.Term{Lit: c.v.Yes(), Weight: int64(c.restarts)})
		}
	}
	for i, k := range policy.order() {
		list[i] = []solver.Criterion{unknown, steps, restarts}[k]
	}
	return list
}

// solve finds the best choices of a part, or the facts that leave none.
func (x *part) solve(ctx context.Context, policy *Policy) ([]*fact, error) {
	best, err := solver.Minimize(ctx, x.p, x.criteria(policy), bounds(policy))
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		core, _, err := unsat.Core(ctx, nil)
		if err != nil {
			return nil, err
		}
		facts := []*fact{}
		for _, c := range core {
			if f, ok := c.Why.(*fact); ok && !slices.Contains(facts, f) {
				facts = append(facts, f)
			}
		}
		return facts, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the best plan of the part %q was not found: %w", x.name, err)
	}
	for _, c := range x.choices {
		if best.Solution.Has(c.v) {
			x.chosen = append(x.chosen, c)
		}
	}
	x.turns(best.Solution)
	x.best = best
	return nil, nil
}

func bounds(policy *Policy) *solver.Options {
	return &solver.Options{MaxConflicts: cmp.Or(policy.MaxConflicts, 200_000)}
}
