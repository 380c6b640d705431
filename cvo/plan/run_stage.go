package plan

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// player is the cluster that a plan is played on, with the engines that act there.
type player struct {
	input  *input // that of the cluster in memory, which changes
	policy *Policy
	model  *model // of the beginning
	start  string
	clock  *fairlead.ManualClock
	all    *cluster.Cluster
	r      *rand.Rand
	faulty bool

	releases *cvo.MemBackend
	served   *cluster.Faulty[*cvo.World, cvo.Action]
	state    cvo.State
	outcomes []fairlead.Outcome
	pools    *rollout.MemBackend
	calls    *cluster.Faulty[*rollout.World, rollout.Action]
	rollouts map[string]rollout.State
	drains   *drain.Runner
	hub      *hub
	machines *machines
	backend  *MemBackend
	asked    *cluster.Faulty[*World, Action]
	saved    State
	seen     string // what the plan's engine saw last
	wake     time.Time
	hopeless time.Time // since when there is no plan; zero while there is one

	due     map[string]duty // what people and install plans will have done
	busy    bool            // somebody has acted in this round
	changes int             // of what neither nodes nor pools tell

	away      map[string]int
	cordoned  map[string]bool // nodes that take no pods anyway
	workloads map[string]*workload
	looked    time.Time
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
		return nil, fmt.Errorf("the plan to %s cannot be played: %s", p.To, bad[0])
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
	y.served, y.calls, y.asked = cluster.Through(y.releases, 0, none), cluster.Through(y.pools, 0, none), cluster.Through(y.backend, 0, none)
	if err := y.build(p, opts, e.Move); err != nil {
		return nil, err
	}
	if err := y.settle(ctx, e.Move); err != nil {
		return nil, err
	}
	clock.Set(began)
	if opts.Faults {
		y.served = cluster.Through(y.releases, opts.Seed+2, cluster.Faults{Fail: 30, Lost: 30})
		y.calls = cluster.Through(y.pools, opts.Seed, cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20})
		y.asked = cluster.Through(y.backend, opts.Seed+1, cluster.Faults{Fail: 10, Lost: 20, Twice: 20})
		none = cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20, Twice: 30}
	}
	if y.hub, err = newHub(ctx, y, opts.Seed+3, none); err != nil {
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

// playImage is the image of a release.
func playImage(release string) string {
	return fmt.Sprintf("release@sha256:%x", sha256.Sum256([]byte(release)))
}

// playLevels is how many operators a release has that come one after the other.
const playLevels = 4

// tellReleases tells the releases of the plan.
func (y *player) tellReleases(p *Plan, opts *PlayOptions) {
	list := []string{y.start}
	for _, m := range y.input.Situation.Moves {
		list = append(list, m.From, m.To)
	}
	slices.Sort(list)
	for _, v := range slices.Compact(list) {
		var own *payload.Payload
		if opts.Payload != nil {
			own = opts.Payload(v)
		}
		if own == nil {
			own = playPayload(v)
		}
		y.releases.SetRelease(playImage(v), own, true, time.Minute)
	}
	y.releases.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, cvo.Release{Version: y.start, Image: playImage(y.start)})
}

// playPayload is a release of operators that come one after the other.
func playPayload(version string) *payload.Payload {
	files := map[string]string{
		"manifests/README":                   "none",
		"release-manifests/release-metadata": fmt.Sprintf(`{"kind":"cincinnati-metadata-v0","version":%q}`, version),
		"release-manifests/image-references": fmt.Sprintf(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version),
	}
	for i := range playLevels {
		name := fmt.Sprint("operators-", i+1)
		files[fmt.Sprintf("release-manifests/0000_%d0_%s_99_clusteroperator.yaml", i+2, name)] = "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: " + name +
			"\n  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\nstatus: {versions: [{name: operator, version: " + version + "}]}\n"
	}
	own, err := payload.Load(inMemory(files), nil)
	if err != nil {
		panic(err) // unreachable: it is a payload
	}
	return own
}

// inMemory returns files as a file system.
func inMemory(files map[string]string) fs.FS {
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			panic(err) // unreachable: a buffer
		}
	}
	if err := z.Close(); err != nil {
		panic(err) // unreachable: a buffer
	}
	own, err := zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		panic(err) // unreachable: it was written so
	}
	return own
}

// settle brings the cluster to rest at its release.
func (y *player) settle(ctx context.Context, move time.Duration) error {
	for range 360 {
		if err := y.release(ctx); err != nil {
			return err
		}
		if h := y.releases.Version("version").Status.History; len(h) > 0 && h[0].State == cvo.Completed {
			for i := range playLevels {
				y.releases.Operators[fmt.Sprint("operators-", i+1)] = (move - time.Minute) / playLevels
			}
			y.looked = y.out.Began
			return nil
		}
		y.clock.Set(y.clock.Now().Add(10 * time.Second))
	}
	return fmt.Errorf("the release %s does not come to rest", y.start)
}

// fault draws whether something goes wrong, once in so many times.
func (y *player) fault(n int) bool { return y.faulty && y.r.IntN(n) == 0 }

// show completes what is seen of the cluster by what people keep.
func (y *player) show(s *Situation) {
	own := y.input.Situation
	if len(s.Cluster.Status.History) == 0 {
		s.Cluster.Status.Desired.Version = y.start
	}
	s.Gates, s.Moves, s.Risks, s.Configs, s.Replicas, s.Members, s.Operators, s.Removed = own.Gates, own.Moves, own.Risks, own.Configs, own.Replicas, own.Members, own.Operators, own.Removed
	s.Machines = own.Machines
	if own.Pods == nil {
		s.Pods = nil
	}
	if own.Budgets == nil {
		s.Budgets = nil
	}
	if own.Nodes == nil {
		s.Nodes = nil
	}
	if own.Pools == nil {
		s.Pools = nil
	}
}

// others carries out what no engine in memory does.
func (y *player) others(action Action) error {
	s := y.input.Situation
	switch a := action.(type) {
	case Acknowledged:
		if s.Gates.Acks == nil {
			s.Gates.Acks = map[string]string{}
		}
		s.Gates.Acks[a.Gate] = "true"
		y.changes++
	case Approve:
		if y.hub.has(a.Namespace) {
			return y.hub.approve(a)
		}
		csvs := []string{a.CSV}
		for _, step := range y.saved.Steps {
			if step.Kind == MoveOperator && step.To == a.CSV {
				csvs = append(csvs, step.With...)
				break
			}
		}
		y.later(a.String(), y.policy.Estimates.Operator, func() {
			for i := range s.Operators {
				o := &s.Operators[i]
				for _, csv := range csvs {
					if o.Namespace == a.Namespace && slices.ContainsFunc(o.Versions, func(v OperatorVersion) bool { return v.Name == csv }) {
						o.Installed = csv
					}
				}
			}
		})
	}
	return nil
}

// later has something be done in time, unless it is under way.
func (y *player) later(what string, takes time.Duration, do func()) {
	if _, there := y.due[what]; !there {
		y.due[what] = duty{y.clock.Now().Add(takes), do}
	}
}

// duties does what is due.
func (y *player) duties() {
	for _, what := range slices.Sorted(maps.Keys(y.due)) {
		if d := y.due[what]; !d.at.After(y.clock.Now()) {
			d.do()
			delete(y.due, what)
			y.changes++
		}
	}
}

// people do what a step asks of them.
func (y *player) people(step *PlanStep) {
	s := y.input.Situation
	switch step.Kind {
	case FixBudget:
		if b, there := cluster.Get(y.all, cluster.Budgets(), step.Subject); there {
			one := &Situation{Budgets: []fairlead.PodDisruptionBudget{b}}
			loosen(one, step.Subject)
			_, _ = cluster.Update(y.all, cluster.Budgets(), one.Budgets[0]) // they try again
		}
	case FreeRoom:
		y.join(y.model.example(step.Subject), "")
	case ReplaceMember:
		if y.machines.replace(step.Subject) {
			return
		}
		for i := range s.Members {
			if s.Members[i].Name == step.Subject {
				s.Members[i].Healthy = fairlead.ConditionTrue
			}
		}
	case ChangeClients:
		for i := range s.Removed {
			if s.Removed[i].API == step.Subject {
				s.Removed[i].Users = nil
			}
		}
	}
}

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

// release is a pass of cvo.
func (y *player) release(ctx context.Context) error {
	w, err := y.served.Observe(ctx, "version")
	if err != nil {
		return ctx.Err()
	}
	w.Outcomes = y.outcomes
	d := cvo.Step(y.state, w, y.clock.Now(), nil)
	y.state, y.outcomes = d.State, nil
	y.busy = y.busy || len(d.Actions) > 0
	for _, a := range d.Actions {
		err := y.served.Apply(ctx, "version", a)
		y.outcomes = append(y.outcomes, fairlead.OutcomeOf(a.Key(), err, y.clock.Now()))
	}
	return nil
}

// rollout gives a pool what the release has, and is a pass of cvo/rollout.
func (y *player) rollout(ctx context.Context, pool string) error {
	h := y.releases.Version("version").Status.History
	if len(h) > 0 && h[0].State == cvo.Completed { // a pool that was behind goes on when the play begins
		config := y.config(pool, h[0].Version)
		if err := y.pools.Edit(pool, func(w *rollout.World) error {
			w.Pool.Spec.Configuration.Name = config
			return nil
		}); err != nil {
			return err
		}
	}
	w, err := y.calls.Observe(ctx, pool)
	if err != nil {
		return ctx.Err()
	}
	d := rollout.Step(y.rollouts[pool], w, y.clock.Now(), nil)
	y.rollouts[pool] = d.State
	y.busy = y.busy || len(d.Actions) > 0
	for _, a := range d.Actions {
		_ = y.calls.Apply(ctx, pool, a) // what fails is tried again
	}
	return nil
}
