package cluster_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/scene"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/taints/eviction"
)

// readScenario reads a file in testdata/scenarios. Objects have the form of the API:
// Node, Pod, PodDisruptionBudget, Machine, MachineConfigPool; and Workload for a
// controller that keeps a number of pods.
func readScenario(file string) (*scene.File, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return scene.Read(f, file, "the test of all engines", "objects", "for", "voters", "catchUp", "owners", "events")
}

// stage is a scenario that is being played: all engines act on one cluster.
type stage struct {
	*scene.File
	out       strings.Builder
	clock     *fairlead.ManualClock
	begin     time.Time
	all       *cluster.Cluster
	machines  *lifecycle.MemBackend
	evictions *eviction.MemBackend
	pools     *rollout.MemBackend
	members   *quorum.MemBackend
	requests  *drain.MemBackend
	silent    map[string]bool
	waits     map[string]string    // what engines wait for, by engine and object
	hooked    map[string]time.Time // since when hooks wait for their owners, by machine and point
	lifecycle *lifecycle.Runner
	eviction  *eviction.Runner
	rollout   *rollout.Runner
	quorum    *quorum.Runner
	drain     *drain.Runner
}

func newStage(s *scene.File) (*stage, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(s.Start())
	shared := &fairlead.MemCluster{Clock: clock}
	p := &stage{
		File: s, clock: clock, begin: clock.Now(), all: cluster.Of(shared, nil, nil), silent: map[string]bool{}, waits: map[string]string{}, hooked: map[string]time.Time{},
		machines: &lifecycle.MemBackend{Cluster: shared}, evictions: &eviction.MemBackend{Cluster: shared},
		pools: &rollout.MemBackend{Cluster: shared, UpdateTime: func(string, string) (time.Duration, error) { return 3 * time.Minute, nil }},
	}
	p.members = &quorum.MemBackend{Cluster: shared, Desired: s.Spec.Voters, CatchUp: s.Duration(s.Spec.CatchUp, 0, "catchUp")}
	p.requests = &drain.MemBackend{Cluster: shared}
	o := &fairlead.RunnerOptions{Clock: clock}
	var errs [5]error
	p.lifecycle, errs[0] = lifecycle.NewRunner(p.machines, nil, o)
	p.eviction, errs[1] = eviction.NewRunner(p.evictions, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}, o)
	p.rollout, errs[2] = rollout.NewRunner(p.pools, nil, o)
	p.quorum, errs[3] = quorum.NewRunner(p.members, nil, o)
	p.drain, errs[4] = drain.NewRunner(p.requests, nil, o)
	for _, object := range s.Objects {
		errs[0] = errors.Join(errs[0], p.put(object.JSON))
	}
	if s.Spec.Voters > 0 {
		for _, m := range p.machines.List() {
			if m.Labels[quorum.RoleLabel] == "master" {
				errs[1] = errors.Join(errs[1], p.members.AddVoter(m.String()))
			}
		}
	}
	return p, errors.Join(errs[:]...)
}

// put adds an object to the cluster.
func (p *stage) put(text json.RawMessage) error {
	var is struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return err
	}
	switch is.Kind {
	case "Node":
		n, err := decode[fairlead.Node](text)
		p.machines.PutNode(n)
		p.evictions.Report(n.Name, true)
		return err
	case "Pod":
		o, err := decode[fairlead.Pod](text)
		p.machines.PutPod(o)
		return err
	case "PodDisruptionBudget":
		o, err := decode[fairlead.PodDisruptionBudget](text)
		return errors.Join(err, p.machines.PutBudget(o))
	case "Machine":
		m, err := decode[lifecycle.Machine](text)
		m.Spec.ProviderSpec, m.Status.Phase = json.RawMessage(`{}`), cmp.Or(m.Status.Phase, lifecycle.PhaseRunning)
		if ref := m.Status.NodeRef; ref != nil && p.machines.Node(ref.Name) != nil {
			ref.Kind, ref.UID = "Node", p.machines.Node(ref.Name).UID
		}
		return errors.Join(err, p.machines.PutMachine(m))
	case "MachineConfigPool":
		o, err := decode[rollout.Pool](text)
		return errors.Join(err, p.pools.Edit(o.Name, func(w *rollout.World) error {
			w.Pool = o
			return nil
		}))
	case "Workload":
		w, err := decode[cluster.Workload](text)
		p.all.Lock()
		defer p.all.Unlock()
		p.all.AddWorkload(w)
		return err
	}
	return fmt.Errorf("there is no kind %q", is.Kind)
}

func decode[T any](text json.RawMessage) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}

func (p *stage) say(format string, args ...any) {
	fmt.Fprintf(&p.out, "%-8s %s\n", "+"+p.clock.Now().Sub(p.begin).String(), fmt.Sprintf(format, args...))
}

// play plays the scenario to its end.
func (p *stage) play() error {
	end, at, done := p.begin.Add(p.Duration(p.Spec.For, time.Hour, "for")), p.Times(), 0
	if p.Err() != nil {
		return p.Err()
	}
	for ; !p.clock.Now().After(end); p.clock.Set(p.clock.Now().Add(5 * time.Second)) {
		for ; done < len(at) && !p.clock.Now().Before(p.begin.Add(at[done])); done++ {
			if err := p.event(done); err != nil {
				return err
			}
		}
		for _, n := range p.nodes(true) {
			p.evictions.Report(n, true)
		}
		if err := p.owners(); err != nil {
			return err
		}
		p.steps()
	}
	return nil
}

// nodes returns the names of all nodes, or of those whose agent reports.
func (p *stage) nodes(reporting bool) (names []string) {
	p.all.Lock()
	defer p.all.Unlock()
	for _, n := range cluster.Refs(p.all, cluster.Nodes()) {
		if !reporting || !cluster.Unheard(n) && !p.silent[n.Name] {
			names = append(names, n.Name)
		}
	}
	return names
}

func (p *stage) event(i int) error {
	e := &p.Spec.Events[i]
	for _, object := range e.Put {
		if err := p.put(object); err != nil {
			return err
		}
		p.say("new: %s", summary(object))
	}
	switch {
	case e.Delete != "":
		p.say("somebody deletes machine %s", e.Delete)
		return p.machines.Delete(e.Delete)
	case e.Silence != "", e.Hear != "":
		name := e.Silence + e.Hear
		p.silent[name] = e.Silence != ""
		p.all.Lock()
		p.all.Silence(name, p.silent[name])
		p.all.Unlock()
		if p.silent[name] {
			p.say("node %s falls silent", name)
		} else {
			p.say("node %s reports again", name)
			p.evictions.Report(name, true)
		}
	case e.DropBudget != "":
		p.say("somebody deletes the budget %s", e.DropBudget)
		namespace, name, _ := strings.Cut(e.DropBudget, "/")
		p.machines.RemoveBudget(namespace, name)
	case e.Drain != "":
		p.say("somebody asks for node %s", e.Drain)
		p.requests.PutRequest(e.Drain, drain.Request{Name: "maintenance", Requester: "somebody", Purpose: drain.Maintenance})
	case e.Undrain != "":
		p.say("somebody gives node %s back", e.Undrain)
		p.requests.PutRequest(e.Undrain, drain.Request{Name: "maintenance", Requester: "somebody", Purpose: drain.Maintenance, Cancelled: true})
	case e.Update != "":
		p.say("all pools are to run %s", e.Update)
		return p.pools.Edit(rollout.PoolWorker, func(w *rollout.World) error {
			w.Pool.Spec.Configuration.Name = e.Update
			return nil
		})
	}
	return nil
}

func summary(object json.RawMessage) string {
	v, _ := decode[struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}](object)
	return v.Kind + " " + v.Metadata.Name
}

// owners makes the owners do their work and remove their hooks.
func (p *stage) owners() error {
	for _, m := range p.machines.List() {
		if !m.Deleting() {
			continue
		}
		for _, at := range []lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
			key := m.String() + " " + string(at)
			hooks := m.Spec.LifecycleHooks.At(at)
			if at == lifecycle.PreTerminate && !drained(m) {
				continue
			}
			if len(hooks) > 0 && p.hooked[key].IsZero() {
				p.hooked[key] = p.clock.Now()
			}
			for _, h := range hooks {
				for _, o := range p.Spec.Owners {
					if takes, err := time.ParseDuration(o.Takes); err == nil && o.Name == h.Owner && !p.clock.Now().Before(p.hooked[key].Add(takes)) {
						p.say("%s has done its work and removes %s from %s", h.Owner, h.Name, m.Name)
						if err := p.machines.Release(m.String(), at, h.Name, h.Owner); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

func drained(m *lifecycle.Machine) bool {
	c := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
	return c != nil && c.Status == "True"
}

// steps makes every engine reconcile all of its objects once.
func (p *stage) steps() {
	clear(p.waits)
	for _, m := range p.machines.List() {
		tell(p, "machine "+m.Name, m.String(), p.lifecycle.Reconcile)
	}
	for _, n := range p.nodes(false) {
		tell(p, "taints", n, p.eviction.Reconcile)
		if len(p.requests.Requests(n)) > 0 {
			tell(p, "drain "+n, n, p.drain.Reconcile)
		}
	}
	zones := func(ctx context.Context, _ string) (eviction.ZoneDecision, error) {
		return p.eviction.ReconcileZones(ctx)
	}
	tell(p, "taints", eviction.AllZones, zones)
	if p.pools.World(rollout.PoolWorker).Pool.Spec.Configuration.Name != "" {
		tell(p, "pool worker", rollout.PoolWorker, p.rollout.Reconcile)
	}
	if p.Spec.Voters > 0 {
		tell(p, "etcd", "etcd", p.quorum.Reconcile)
	}
}

// quietly are the kinds of actions that only report something.
var quietly = []string{"UpdateStatus", "RecordEvent", "Report", "SetConditions", "Mark", "MarkNotReady"}

// tell makes an engine reconcile an object, and prints what it does.
func tell[S any, A fairlead.Action](p *stage, who, object string, reconcile func(context.Context, string) (fairlead.Decision[S, A], error)) {
	d, err := reconcile(context.Background(), object)
	for _, a := range d.Actions {
		if !slices.Contains(quietly, a.Key().Kind) {
			p.say("%s: %s", who, a)
		}
	}
	if err != nil {
		p.say("%s: refused: %v", who, err)
	}
	for _, b := range d.Blocks() {
		p.waits[who+object] += fmt.Sprintf("%s waits: %s\n", who, (*golden.Words)(nil).Block(b, p.begin))
	}
}

// end prints the final state.
func (p *stage) end() {
	for _, m := range p.machines.List() {
		fmt.Fprintf(&p.out, "machine %s: %s\n", m.Name, m.Status.Phase)
	}
	for _, who := range slices.Sorted(maps.Keys(p.waits)) {
		p.out.WriteString(p.waits[who])
	}
	p.all.Lock()
	defer p.all.Unlock()
	for _, n := range cluster.Refs(p.all, cluster.Nodes()) {
		fmt.Fprintf(&p.out, "node %s:", n.Name)
		if c := n.Annotations[rollout.AnnotationCurrent]; c != "" {
			fmt.Fprintf(&p.out, " runs %s,", c)
		}
		var pods []string
		for _, pod := range p.all.PodsOn(n.Name) {
			pods = append(pods, pod.Name)
		}
		fmt.Fprintf(&p.out, " pods [%s]%s\n", strings.Join(pods, " "), map[bool]string{true: ", unschedulable"}[n.Spec.Unschedulable])
	}
}

// TestScenarios plays scenarios on one cluster, with all engines.
func TestScenarios(t *testing.T) {
	golden.Run(t, "testdata/scenarios.txt", func(*testing.T) golden.Handler {
		return func(c *golden.Command) string {
			s, err := readScenario("testdata/scenarios/" + c.Value("file") + ".yaml")
			if err != nil {
				return err.Error()
			}
			p, err := newStage(s)
			if err == nil {
				err = p.play()
			}
			if err != nil {
				p.say("error: %v", err)
			}
			p.end()
			return p.out.String()
		}
	})
}
