package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/words"
)

// PlayOptions configure Play. Nil means the defaults.
type PlayOptions struct {
	// Payload returns the payload of a release. Nil, or a nil result, means one whose
	// operators together take as long as the plan says.
	Payload func(release string) *payload.Payload
	// Faults makes calls fail, get lost and return stale data, processes die before they
	// save, and states get lost, at random from Seed.
	Faults bool
	Seed   uint64 // see Faults
	// Limit is how long the plan is simulated before it is abandoned. Zero means three
	// times what the plan takes, windows included, plus a day.
	Limit time.Duration
}

// Play carries out a plan on a cluster in memory, starting from the situation: cvo updates
// the cluster to releases, cvo/rollout updates the nodes of pools, lifecycle/drain drains
// them, solver/olm/install carries out the approved install plans, lifecycle and
// lifecycle/quorum delete machines and replace members of etcd, controllers and a
// scheduler place pods elsewhere, and [Step] requests one thing after the other. Each
// decides as it would on a cluster.
//
//  1. Reboots, work for people, and the time until the deployment of a new version of an
//     operator is ready take as long as the policy estimates; a node that people add is
//     like one of its pool.
//  2. Things that were not observed turn out well, and an unevaluated risk does no harm.
//  3. A plan that cannot be carried out is a result, not an error: Played.Stuck says why.
//
// The error is that of the context, or says why no cluster can be made from the
// situation. The situation is not changed. Equal questions have equal answers.
func Play(ctx context.Context, s *Situation, goal *Goal, policy *Policy, p *Plan, opts *PlayOptions) (*Played, error) {
	if opts == nil {
		opts = &PlayOptions{}
	}
	in := newInput(s, goal, policy)
	if err := in.check(); err != nil {
		return nil, err
	}
	y, err := newPlayer(ctx, in, p, opts)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(opts.Limit, 3*max(p.Takes, y.out.Planned)+24*time.Hour)
	for y.clock.Now().Sub(y.out.Began) < limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		over, err := y.round(ctx)
		if err != nil {
			return nil, err
		}
		if over {
			return y.result(), nil
		}
		y.pass()
	}
	y.out.Stuck = fmt.Sprintf("it was abandoned after %s", words.Span(limit))
	if len(y.saved.Steps) > 0 {
		y.out.Stuck += "; the next step is to " + y.saved.Steps[0].String()
	}
	return y.result(), nil
}

// round lets every engine act once. It reports whether the simulation is over.
func (y *player) round(ctx context.Context) (over bool, err error) {
	y.duties()
	if err := y.release(ctx); err != nil {
		return false, err
	}
	for _, p := range y.pools.List() {
		if err := y.rollout(ctx, p.Name); err != nil {
			return false, err
		}
	}
	if err := y.operators.act(ctx); err != nil {
		return false, err
	}
	if err := y.machines.act(ctx); err != nil {
		return false, err
	}
	for _, node := range y.input.Goal.Nodes {
		_, _ = y.drains.Reconcile(ctx, node) // failures are retried
	}
	y.look()
	return y.plan(ctx)
}

// plan lets the plan's engine act, if something has changed or it is due.
func (y *player) plan(ctx context.Context) (over bool, err error) {
	now := y.clock.Now()
	if y.fault(60) {
		y.saved, y.seen = State{}, "" // it begins again
	}
	if seen := y.signature(); seen == y.seen && now.Before(y.wake) {
		return false, nil
	} else {
		y.seen = seen
	}
	w, err := y.planCalls.Observe(ctx, "version")
	if err != nil {
		y.seen = ""
		return false, nil // it is looked again
	}
	d := Step(y.saved, w, now, y.policy)
	y.wake = now.Add(10 * time.Minute)
	if !d.Wake.IsZero() && d.Wake.Before(y.wake) {
		y.wake = d.Wake
	}
	if y.fault(40) {
		y.seen = ""
		return false, nil // it dies before it saves
	}
	if len(d.State.Steps) > 0 || len(d.Blocked) == 0 { // else nothing is known of what is left
		y.out.Follow(d.State.Steps, now)
	}
	y.out.Replans += max(0, d.State.Replans-y.saved.Replans)
	y.saved = d.State
	y.busy = y.busy || len(d.Actions) > 0
	for _, a := range d.Actions {
		if err := y.planCalls.Apply(ctx, "version", a); err != nil {
			y.seen = "" // it is tried again
		}
	}
	if !slices.ContainsFunc(d.Blocked, hopeless) {
		y.hopeless = time.Time{}
	}
	for _, b := range d.Blocked {
		switch {
		case hopeless(b) && y.hopeless.IsZero():
			y.hopeless = now
		case hopeless(b) && now.Sub(y.hopeless) >= patience:
			y.out.Stuck = b.Message
			return true, nil
		case b.Reason == ReasonPeople && len(d.State.Steps) > 0:
			step := d.State.Steps[0]
			y.later("people "+step.String(), step.Takes, func() { y.people(&step) })
		}
	}
	if len(d.State.Steps) == 0 && len(d.Blocked) == 0 {
		y.out.Done = true
		return true, nil
	}
	return false, nil
}

// patience is how long there may be no plan before a simulation ends: the obstacle may
// pass, such as an update that fails because the API server did not answer.
const patience = time.Hour

// hopeless reports whether there currently is no plan.
func hopeless(b fairlead.Block) bool { return b.Reason == ReasonNoPlan || b.Reason == ReasonNotMade }

// pass moves the time to when something happens or an engine wakes.
func (y *player) pass() {
	now := y.clock.Now()
	next := now.Add(time.Minute)
	if y.busy { // who has acted looks what came of it
		next = now.Add(10 * time.Second)
	}
	y.busy = false
	earlier := func(at time.Time) {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	if at, ok := y.pools.Next(); ok {
		earlier(at)
	}
	earlier(y.releases.Next("version"))
	earlier(y.wake)
	earlier(y.operators.next())
	for _, d := range y.due {
		earlier(d.at)
	}
	if least := now.Add(5 * time.Second); next.Before(least) {
		next = least
	}
	y.clock.Set(next)
}

// look records which nodes are out of service, and how many pods of workloads are ready.
func (y *player) look() {
	now := y.clock.Now()
	for _, n := range cluster.List(y.all, cluster.Nodes()) {
		i, away := y.away[n.Name]
		switch {
		case n.Spec.Unschedulable && !away && !y.cordoned[n.Name]:
			y.away[n.Name] = len(y.out.Restarts)
			y.out.Restarts = append(y.out.Restarts, PlayedRestart{Node: n.Name, From: now})
		case !n.Spec.Unschedulable && away:
			y.out.Restarts[i].Until = now
			delete(y.away, n.Name)
		}
	}
	ready := map[string]int{}
	for _, p := range cluster.List(y.all, cluster.Pods()) {
		if o := p.ControllerOf(); o != nil && p.Ready() && p.DeletionTimestamp == nil {
			ready[o.UID]++
		}
	}
	since := now.Sub(y.lookedAt)
	y.lookedAt = now
	if !y.machines.quorate() {
		y.out.NoQuorum += since
	}
	for uid, w := range y.workloads {
		w.look(ready[uid], now, since)
	}
}

// workload is what is recorded about a workload.
type workload struct {
	Disruption
	ready int
	since time.Time // when it fell short; zero while it does not
}

func (w *workload) look(ready int, now time.Time, since time.Duration) {
	if w.ready < w.Wanted {
		w.Short += since
		w.Longest = max(w.Longest, now.Sub(w.since))
	}
	if w.ready == 0 {
		w.None += since
	}
	if ready < w.Wanted && w.ready >= w.Wanted {
		w.Times++
		w.since = now
	}
	w.ready, w.Least = ready, min(w.Least, ready)
}

// result completes the result.
func (y *player) result() *Played {
	y.out.Ended, y.out.Waits = y.clock.Now(), y.machines.left()
	for _, x := range []map[string]int{y.poolCalls.Hits(), y.planCalls.Hits(), y.releaseCalls.Hits(), y.operators.calls.Hits(), y.machines.calls.Hits(), y.machines.etcdCalls.Hits()} {
		for _, n := range x {
			y.out.Faults += n
		}
	}
	y.out.Disruptions = []Disruption{}
	for _, w := range y.workloads {
		if w.Times > 0 {
			y.out.Disruptions = append(y.out.Disruptions, w.Disruption)
		}
	}
	slices.SortFunc(y.out.Disruptions, func(a, b Disruption) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Workload, b.Workload))
	})
	return y.out
}

// signature is what the next step may wait for, as far as it is cheap to tell.
func (y *player) signature() string {
	var b strings.Builder
	cv := y.releases.Version("version")
	if len(cv.Status.History) > 0 {
		fmt.Fprint(&b, cv.Status.History[0].Version, cv.Status.History[0].State, fairlead.FindCondition(cv.Status.Conditions, "Failing"))
	}
	for _, p := range y.pools.List() {
		fmt.Fprint(&b, p.Name, p.Spec.Paused, p.Spec.Configuration.Name, p.Status.Configuration.Name)
	}
	fmt.Fprint(&b, y.changes, len(y.away), len(cluster.Refs(y.all, cluster.Nodes())))
	return b.String()
}
