package plan

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// player is the cluster on which a plan is simulated, with the engines that act there.
type player struct {
	input  *input // that of the cluster in memory, which changes
	policy *Policy
	model  *model // of the beginning
	start  string
	clock  *fairlead.ManualClock
	all    *cluster.Cluster
	r      *rand.Rand
	faulty bool

	// What engines act on, and through what, where calls may go wrong.
	releases     *cvo.MemBackend
	releaseCalls *cluster.Faulty[*cvo.World, cvo.Action]
	pools        *rollout.MemBackend
	poolCalls    *cluster.Faulty[*rollout.World, rollout.Action]
	backend      *MemBackend // the plan's
	planCalls    *cluster.Faulty[*World, Action]
	operators    *installer
	machines     *machines
	drains       *drain.Runner

	// What engines keep between two steps.
	state    cvo.State
	outcomes []fairlead.Outcome // of the last actions of cvo
	rollouts map[string]rollout.State
	saved    State     // the plan's
	seen     string    // what the plan's engine saw last
	wake     time.Time // when it looks again
	hopeless time.Time // since when there is no plan; zero while there is one

	due     map[string]duty // what people and install plans will have done
	busy    bool            // somebody has acted in this round
	changes int             // of what neither nodes nor pools tell

	away      map[string]int       // the restart of each node that is out of service, in out
	cordoned  map[string]bool      // nodes that take no pods anyway
	workloads map[string]*workload // by UID
	lookedAt  time.Time            // when these were looked at last
	out       *Played
}

// duty is something that somebody will have done.
type duty struct {
	at time.Time
	do func()
}

func newPlayer(ctx context.Context, in *input, p *Plan, opts *PlayOptions) (*player, error) {
	own := in.clone()
	own.Policy.GoUnseen = true
	m, bad := newModel(in, p.To)
	if bad != nil {
		return nil, fmt.Errorf("the plan to %s cannot be simulated: %s", p.To, bad[0])
	}
	began := own.Situation.At
	if began.IsZero() {
		began = time.Unix(0, 0).UTC()
	}
	e := own.Policy.Estimates.complete()
	for _, s := range p.Steps {
		if s.Kind == MoveCluster {
			e.Move = max(e.Move, s.Takes)
		}
	}
	own.Policy.Estimates = e
	clock := new(fairlead.ManualClock)
	clock.Set(began.Add(-time.Hour))
	shared := &fairlead.MemCluster{Clock: clock}
	y := &player{
		input: own, policy: own.Policy, model: m, start: m.start, clock: clock, all: cluster.Of(shared, nil, nil), r: rand.New(rand.NewPCG(opts.Seed, 20)), faulty: opts.Faults,
		releases: cvo.NewMemBackend(clock), rollouts: map[string]rollout.State{}, due: map[string]duty{},
		pools: &rollout.MemBackend{Cluster: shared, UpdateTime: func(string, string) (time.Duration, error) { return e.Reboot, nil }},
		away:  map[string]int{}, cordoned: map[string]bool{}, workloads: map[string]*workload{}, out: NewPlayed(p.Steps, began),
	}
	y.releases.Cluster = shared
	y.backend = &MemBackend{Cluster: shared, Releases: y.releases, Show: y.show, Others: y.others}
	y.backend.Ask(*own.Goal, false)
	var err error
	if y.drains, err = drain.NewRunner(&drain.MemBackend{Cluster: shared}, &own.Policy.Drain, &fairlead.RunnerOptions{Clock: clock}); err != nil {
		return nil, err
	}
	var none cluster.Faults
	y.releaseCalls, y.poolCalls, y.planCalls = cluster.Through(y.releases, 0, none), cluster.Through(y.pools, 0, none), cluster.Through(y.backend, 0, none)
	if err := y.build(p, opts, e.Move); err != nil {
		return nil, err
	}
	if err := y.settle(ctx, e.Move); err != nil {
		return nil, err
	}
	clock.Set(began)
	if opts.Faults {
		y.releaseCalls = cluster.Through(y.releases, opts.Seed+2, cluster.Faults{Fail: 30, Lost: 30})
		y.poolCalls = cluster.Through(y.pools, opts.Seed, cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20})
		y.planCalls = cluster.Through(y.backend, opts.Seed+1, cluster.Faults{Fail: 10, Lost: 20, Twice: 20})
		none = cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20, Twice: 30}
	}
	if y.operators, err = newInstaller(ctx, y, opts.Seed+3, none); err != nil {
		return nil, err
	}
	if y.machines, err = newMachines(y, opts.Seed+4, none); err != nil {
		return nil, err
	}
	return y, nil
}

// build makes the nodes, pods, budgets, pools and releases.
func (y *player) build(p *Plan, opts *PlayOptions, move time.Duration) error {
	s := y.input.Situation
	y.tellReleases(p, opts)
	for i := range s.Nodes {
		n := s.Nodes[i]
		n.Annotations = maps.Clone(n.Annotations)
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		if of, err := rollout.PrimaryPool(s.Pools, &n); err == nil && of != nil {
			config := y.config(of.Name, y.runs(of.Name))
			n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = config, config, rollout.StateDone
			delete(n.Annotations, rollout.AnnotationDesiredDrain)
			delete(n.Annotations, rollout.AnnotationLastDrain)
		}
		y.cordoned[n.Name] = n.Spec.Unschedulable
		if err := y.all.Join(n); err != nil {
			return err
		}
	}
	for i := range s.Pods {
		pod := s.Pods[i]
		if _, err := cluster.Create(y.all, cluster.Pods(), pod); err != nil {
			return err
		}
		o := pod.ControllerOf()
		if o == nil || o.Kind == "DaemonSet" || o.Kind == "Node" || !pod.Ready() || pod.DeletionTimestamp != nil {
			continue
		}
		w := y.workloads[o.UID]
		if w == nil {
			w = &workload{Disruption: Disruption{Namespace: pod.Namespace, Workload: strings.ToLower(o.Kind) + "/" + o.Name}}
			y.workloads[o.UID] = w
		}
		w.Wanted++
		w.Least, w.ready = w.Wanted, w.Wanted
	}
	for i := range s.Budgets {
		if _, err := cluster.Create(y.all, cluster.Budgets(), s.Budgets[i]); err != nil {
			return err
		}
	}
	for i := range s.Pools {
		q := s.Pools[i]
		config := y.config(q.Name, y.runs(q.Name))
		if err := y.pools.Edit(q.Name, func(w *rollout.World) error {
			w.Pool.Spec = q.Spec
			w.Pool.Spec.Configuration.Name, w.Pool.Status.Configuration.Name = config, config
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the release that the nodes of a pool run at first.
func (y *player) runs(name string) string {
	for _, p := range y.model.pools {
		if p.name == name && p.at != "" {
			return p.at
		}
	}
	if p := slices.IndexFunc(y.input.Situation.Pools, func(p cvo.Pool) bool { return p.Name == name }); p >= 0 {
		if at, _ := y.model.runsNow(&y.input.Situation.Pools[p]); at != "" {
			return at
		}
		return "older" // on their way
	}
	return y.start
}

// config names the configuration of a pool for a release, and keeps what it is of.
func (y *player) config(pool, release string) string {
	if y.input.Situation.Configs == nil {
		y.input.Situation.Configs = map[string]string{}
	}
	name := "rendered-" + pool + "-" + release
	y.input.Situation.Configs[name] = release
	return name
}

// settle lets the cluster settle at its release.
func (y *player) settle(ctx context.Context, move time.Duration) error {
	for range 360 {
		if err := y.release(ctx); err != nil {
			return err
		}
		if h := y.releases.Version("version").Status.History; len(h) > 0 && h[0].State == cvo.Completed {
			for i := range playLevels {
				y.releases.Operators[fmt.Sprint("operators-", i+1)] = (move - time.Minute) / playLevels
			}
			y.lookedAt = y.out.Began
			return nil
		}
		y.clock.Set(y.clock.Now().Add(10 * time.Second))
	}
	return fmt.Errorf("the release %s does not settle", y.start)
}

// fault draws whether something goes wrong, once in so many times.
func (y *player) fault(n int) bool { return y.faulty && y.r.IntN(n) == 0 }

// join adds a node like another one, on an instance of the cloud, and returns its name; ""
// where there is none to be like.
func (y *player) join(like *fairlead.Node, providerID string) string {
	if like == nil {
		return ""
	}
	one := &Situation{}
	addNode(one, like, 1)
	n := one.Nodes[0]
	n.Name, n.Spec.ProviderID = fmt.Sprintf("%s-%d", n.Name, y.all.Serial()), providerID
	n.Annotations = map[string]string{}
	if of, err := rollout.PrimaryPool(y.input.Situation.Pools, &n); err == nil && of != nil {
		config := y.pools.World(of.Name).Pool.Spec.Configuration.Name
		n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = config, config, rollout.StateDone
	}
	_ = y.all.Join(n) // its name is new
	return n.Name
}
