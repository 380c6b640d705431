package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints/placement"
)

// readNodes finds, for each pool and for each node that must be out of service, what must
// be done before its pods can be evicted.
func (m *model) readNodes() (bad []*fact) {
	s := m.Situation
	known := map[string]bool{}
	members := map[string][]string{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		known[n.Name] = true
		if p, err := rollout.PrimaryPool(s.Pools, n); err == nil && p != nil {
			members[p.Name] = append(members[p.Name], n.Name)
		}
	}
	d := &drains{m: m, index: map[string]int{}, nodes: back(s.Nodes), pods: returned(s)}
	for _, name := range m.Goal.Nodes {
		if s.Nodes != nil && !known[name] {
			bad = append(bad, &fact{reason: FactNoSuchNode, subject: name, text: fmt.Sprintf("the goal takes the node %s out of service, but there is no such node", name)})
			continue
		}
		if s.Pods != nil && empty(s, name, &m.Policy.Drain) {
			continue // it is already
		}
		x := drained{node: name}
		x.need, x.broken, x.rounds = d.look([]string{name}, 1)
		x.flags = d.flags(name)
		m.drains = append(m.drains, x)
	}
	if !m.Goal.moves() {
		return bad // pools are as they are
	}
	list := slices.Clone(s.Pools)
	slices.SortFunc(list, func(a, b cvo.Pool) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		p := &list[i]
		x := pool{name: p.Name, nodes: members[p.Name], paused: p.Spec.Paused, control: p.Name == rollout.PoolMaster}
		if s.Nodes != nil && len(x.nodes) == 0 && p.Status.MachineCount == 0 {
			continue // nothing restarts
		}
		slices.Sort(x.nodes)
		x.at, x.unknown = m.runsNow(p)
		if x.at != "" {
			if at, ok := parseMinor(x.at); ok {
				x.stage = at.minor - m.stages[0].minor
			}
		}
		size, err := rollout.MaxUnavailable(p, len(x.nodes))
		if err != nil {
			bad = append(bad, &fact{reason: FactPoolInvalid, subject: p.Name, text: err.Error()})
			continue
		}
		x.size = size
		if s.Topology != TopologySingle { // openshift/machine-config-operator, pkg/daemon/drain.go: drainRequired
			x.need, x.broken, x.rounds = d.look(x.nodes, size)
		}
		x.broken = append(x.broken, m.failing(p, x.nodes)...)
		x.broken = append(x.broken, m.held(p, x.nodes, size)...)
		m.pools = append(m.pools, x)
	}
	return bad
}

// degraded reports a pool that says that it is degraded while no node is known to be.
func (m *model) degraded(p *cvo.Pool) []*fact {
	c := rollout.Trouble(p)
	if c == nil {
		return nil
	}
	repair := "repair what the pool " + p.Name + " reports: " + shell.Command("oc get machineconfigpool %s -o yaml", p.Name)
	if said := rollout.NodeReports(c.Message); len(said) > 0 {
		repair = "repair node " + said[0].Node + ": its annotations, conditions and events, and the log of its machine config daemon, say what is wrong: " + shell.Command("oc describe node %s", said[0].Node)
	}
	return []*fact{m.once(FactNodesFailed, p.Name, fmt.Sprintf("the pool %s is degraded: %s", p.Name, clip(cmp.Or(c.Message, c.Reason), 160)),
		fix{"RepairPool", p.Name, repair, func(in *input) { healed(in.Situation, p.Name, true) }, costWork})}
}

// healed ends what a pool reports of its nodes, or of what is rendered for it, too, and what its
// operator makes of that.
func healed(s *Situation, pool string, rendered bool) {
	sick := false
	for i := range s.Pools {
		if own := &s.Pools[i]; own.Name == pool {
			set(own.Status.Conditions, rollout.ConditionNodeDegraded, fairlead.ConditionFalse)
			for c := rollout.Trouble(own); c != nil && (rendered || c.Type == rollout.ConditionDegraded); c = rollout.Trouble(own) {
				c.Status = fairlead.ConditionFalse
			}
		}
		sick = sick || rollout.Trouble(&s.Pools[i]) != nil
	}
	const degraded = "DegradedPool" // openshift/machine-config-operator pkg/operator/status.go
	for i := range s.ClusterOperators {
		if c := fairlead.FindCondition(s.ClusterOperators[i].Status.Conditions, "Upgradeable"); !sick && c != nil && c.Reason == degraded {
			c.Status = fairlead.ConditionTrue
			drop(s.Cluster, degraded)
			noneLeft(s)
		}
	}
}

// failing reports nodes of a pool that could not be updated before. They are repaired
// together: a plan needs all of them.
func (m *model) failing(p *cvo.Pool, nodes []string) []*fact {
	var at []int
	var names []string
	for i := range m.Situation.Nodes {
		if n := &m.Situation.Nodes[i]; rollout.Failing(n) && contains(nodes, n.Name) {
			at, names = append(at, i), append(names, n.Name)
		}
	}
	if len(at) == 0 {
		return m.degraded(p)
	}
	all := words.List(names, "and", 3)
	why := m.Situation.Nodes[at[0]].Annotations[rollout.AnnotationReason]
	if why := m.Situation.Nodes[at[0]].Annotations[rollout.AnnotationReason]; len(at) == 1 && strings.Contains(why, "drain") && m.Situation.Pods != nil && m.Situation.Budgets != nil {
		return nil // what holds its drain is found by computing it, and it is tried again and again
	}
	text := fmt.Sprintf("node %s of pool %s failed to update: %s", all, p.Name, clip(why, 120))
	if len(at) > 1 {
		text = fmt.Sprintf("nodes %s of pool %s failed to update; %s reports: %s", all, p.Name, names[0], clip(why, 120))
	}
	return []*fact{m.once(FactNodesFailed, all, text, fix{"RepairNodes", all, "repair the " + words.Plural(len(at), "node", "nodes") + " " + all, func(in *input) {
		nodes := in.ownNodes()
		for _, i := range at {
			own := &nodes[i]
			own.Annotations = maps.Clone(own.Annotations)
			own.Annotations[rollout.AnnotationDesired] = own.Annotations[rollout.AnnotationCurrent]
			if rollout.Away(&m.Situation.Nodes[i]) { // cordoned for the update that failed
				delete(own.Annotations, rollout.AnnotationDesiredDrain)
				own.Spec.Unschedulable = false
			}
		}
		healed(in.Situation, p.Name, false)
	}, costWork})}
}

func contains(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}

// held reports nodes that somebody has cordoned: they count as down, and if as many are
// down as allowed, none of the pool's nodes restarts.
func (m *model) held(p *cvo.Pool, nodes []string, size int) []*fact {
	var down []int
	var names []string
	for i := range m.Situation.Nodes {
		n := &m.Situation.Nodes[i]
		if n.Spec.Unschedulable && !rollout.Away(n) && contains(nodes, n.Name) && !leaves(m.Situation, n.Name) {
			down, names = append(down, i), append(names, n.Name)
		}
	}
	if len(down) == 0 || len(down) < size {
		return nil
	}
	return []*fact{m.once(FactCordoned, p.Name, fmt.Sprintf("pool %s allows %s at a time, and %s cordoned, so no other node restarts", p.Name, words.Count(size, "unavailable node", "unavailable nodes"), words.List(names, "and", 3)+" "+words.Plural(len(names), "is", "are")),
		fix{"Uncordon", words.List(names[:len(names)-size+1], "and", 3), "uncordon " + words.List(names[:len(names)-size+1], "and", 3), func(in *input) {
			nodes := in.ownNodes()
			for _, i := range down[:len(down)-size+1] {
				nodes[i].Spec.Unschedulable = false
			}
		}, costWork})}
}

// back returns nodes as they will be when those that are restarting have come back.
func back(nodes []fairlead.Node) []fairlead.Node {
	list := slices.Clone(nodes)
	for i := range list {
		if n := &list[i]; n.Spec.Unschedulable && rollout.Away(n) {
			n.Spec.Unschedulable = false
			n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t fairlead.Taint) bool { return t.Key == "node.kubernetes.io/unschedulable" })
		}
	}
	return list
}

// returned returns pods as they will be when the nodes that are restarting have come back:
// those that wait for a node run on one of these, if they fit there.
func returned(s *Situation) []fairlead.Pod {
	waits := func(p fairlead.Pod) bool {
		return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && !p.Finished()
	}
	if !slices.ContainsFunc(s.Pods, waits) {
		return s.Pods
	}
	c := placement.New(nil)
	restart := map[string]bool{}
	nodes := back(s.Nodes)
	for i := range nodes {
		if restart[nodes[i].Name] = rollout.Away(&nodes[i]); restart[nodes[i].Name] {
			_ = c.SetNode(&nodes[i]) // what cannot be read counts as nothing
		}
	}
	pods := slices.Clone(s.Pods)
	for i := range pods {
		if p := &pods[i]; restart[p.Spec.NodeName] {
			_ = c.Add(p) // likewise
		}
	}
	for i := range pods {
		p := &pods[i]
		if !waits(*p) {
			continue
		}
		if n, fits := c.First(p, nil); fits {
			p.Spec.NodeName = n.Name
			_ = c.Add(p) // likewise
		}
	}
	return pods
}

// drains finds what prevents drains, by the code that drains.
type drains struct {
	m     *model
	index map[string]int // by name of a budget, see budget
	nodes []fairlead.Node
	pods  []fairlead.Pod // pods that need room
}

func (d *drains) request(nodes []string, atOnce int) *drain.PlanRequest {
	s := d.m.Situation
	return &drain.PlanRequest{Nodes: d.nodes, Drain: nodes, AtOnce: atOnce, Pods: s.Pods, Budgets: s.Budgets, Replicas: s.Replicas, IgnoreRoom: true}
}

// look returns what must be done before nodes are drained, atOnce at a time, what prevents
// it, and the rounds of their drains.
func (d *drains) look(nodes []string, atOnce int) (need needs, broken []*fact, rounds int) {
	s := d.m.Situation
	if len(nodes) == 0 || s.Nodes == nil || s.Pods == nil {
		return need, nil, len(nodes)
	}
	if len(s.Nodes) == 1 && len(d.m.Goal.Nodes) == 0 {
		return need, nil, 0 // a cluster of one node restarts it without a drain
	}
	plan, err := drain.NewPlan(d.request(nodes, atOnce), s.At, &d.m.Policy.Drain)
	if err != nil {
		return need, []*fact{{reason: FactDrainInvalid, text: "the drain cannot be planned: " + err.Error()}}, 0
	}
	told := map[string]bool{}
	dark := map[string][]string{} // budgets, by the node that they wait for
	for _, n := range plan.Nodes {
		for _, p := range n.Pods {
			if p.Why == "" {
				continue
			}
			if len(p.Budgets) == 0 || len(p.Budgets) > 1 {
				why := p.Why
				for _, r := range p.Reasons {
					if r.Fate == p.Fate && r.Text != "" {
						why = r.Text
					}
				}
				text := fmt.Sprintf("the pod %s/%s on %s cannot be evicted: %s", p.Namespace, p.Name, n.Node, clip(why, 140))
				f := &fact{reason: FactPodStays, subject: p.Namespace + "/" + p.Name, text: text}
				if len(p.Budgets) > 1 {
					f.reason, f.text = FactTwoBudgets, fmt.Sprintf("the pod %s/%s on %s cannot be evicted, because more than one budget selects it: %s", p.Namespace, p.Name, n.Node, strings.Join(p.Budgets, ", "))
					drop := p.Budgets[len(p.Budgets)-1]
					f.fixes = []fix{{"DeleteBudget", drop, "delete the budget " + drop, func(in *input) {
						in.Situation.Budgets = slices.DeleteFunc(slices.Clone(in.Situation.Budgets), func(b fairlead.PodDisruptionBudget) bool { return b.Namespace+"/"+b.Name == drop })
					}, costWork}}
				} else {
					f.fixes = []fix{{"MoveData", p.Namespace + "/" + p.Name, fmt.Sprintf("move the data of the pod %s/%s elsewhere, and delete the pod", p.Namespace, p.Name), func(in *input) {
						in.Situation.Pods = slices.DeleteFunc(in.ownPods(), func(x fairlead.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
					}, costLoss}}
				}
				if !told[f.text] {
					told[f.text] = true
					broken = append(broken, f)
				}
				continue
			}
			if node := d.darkNode(p.Budgets[0], nodes); node != "" {
				if !slices.Contains(dark[node], p.Budgets[0]) {
					dark[node] = append(dark[node], p.Budgets[0])
				}
				continue
			}
			if i := d.budget(p.Budgets[0], plan); i >= 0 && !slices.Contains(need.budgets, i) {
				need.budgets = append(need.budgets, i)
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(dark)) {
		slices.Sort(dark[node])
		broken = append(broken, d.m.dark(node, dark[node]))
	}
	slices.Sort(need.budgets)
	need.room = d.lacksRoom(nodes, atOnce)
	return need, broken, plan.Rounds
}

// flags returns what a drain of a node by hand needs flags for; if the pods are not known, all that
// lets it go on.
func (d *drains) flags(node string) drain.Flags {
	all := drain.Flags{IgnoreDaemonSets: true, DeleteEmptyDirData: true}
	if d.m.Situation.Nodes == nil || d.m.Situation.Pods == nil {
		return all
	}
	plan, err := drain.NewPlan(d.request([]string{node}, 1), d.m.Situation.At, &d.m.Policy.Drain)
	if err != nil {
		return all
	}
	all = plan.Nodes[0].Flags
	all.IgnoreDaemonSets = true // which costs nothing if there are none
	return all
}

// darkNode is the node that a budget waits for, other than those that are drained.
func (d *drains) darkNode(budget string, but []string) string {
	for i := range d.m.Situation.Budgets {
		if b := &d.m.Situation.Budgets[i]; b.Namespace+"/"+b.Name == budget {
			return darkNode(d.m.Situation, b, but)
		}
	}
	return ""
}

// lacksRoom reports whether pods of the nodes do not fit elsewhere. That costs more than
// anything else here, and few fixes affect it.
func (d *drains) lacksRoom(nodes []string, atOnce int) bool {
	going := fmt.Sprint(atOnce, nodes)
	lacks, known := d.m.noRoom[going]
	if !known {
		req := d.request(nodes, atOnce)
		req.Pods = d.pods
		short, err := drain.FindRoomInTurn(req, d.m.Situation.At, &d.m.Policy.Drain)
		lacks = err != nil || short != nil
		d.m.noRoom[going] = lacks
	}
	return lacks
}

// starting is how long pods may take to become ready before the budget that waits for them
// counts as one that blocks drains permanently.
const starting = 10 * time.Minute

// recovers reports whether a budget blocks evictions only temporarily, as during a drain:
// it allows one if all pods are ready, and those that are not were just created, were ready
// a moment ago, or are still to be created.
func (d *drains) recovers(name string, plan *drain.Plan) bool {
	s := d.m.Situation
	at := slices.IndexFunc(plan.Budgets, func(x drain.BudgetPlan) bool { return x.Namespace+"/"+x.Name == name })
	if at < 0 || plan.Budgets[at].Expected <= plan.Budgets[at].Desired || s.At.IsZero() {
		return false
	}
	b := &s.Budgets[slices.IndexFunc(s.Budgets, func(b fairlead.PodDisruptionBudget) bool { return b.Namespace+"/"+b.Name == name })]
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Ready() || p.DeletionTimestamp != nil || !b.Selects(p) {
			continue
		}
		since := p.CreationTimestamp
		if c := fairlead.FindCondition(p.Status.Conditions, "Ready"); c != nil && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime
		}
		if s.At.Sub(since) > starting {
			return false
		}
	}
	return true
}

// budget returns the index in the model of a budget that somebody must change, or -1 if it
// recovers.
func (d *drains) budget(name string, plan *drain.Plan) int {
	if i, ok := d.index[name]; ok {
		return i
	}
	if d.recovers(name, plan) {
		d.index[name] = -1
		return -1
	}
	namespace, short, _ := strings.Cut(name, "/")
	b := budget{name: name, advice: "make the budget " + name + " allow one disruption"}
	more := 0 // how many replicas beside one would help
	for i := range d.m.Situation.Budgets {
		if x := &d.m.Situation.Budgets[i]; x.Namespace == namespace && x.Name == short {
			own := *x
			for _, y := range plan.Budgets {
				if y.Namespace+"/"+y.Name == name {
					own.Status.ExpectedPods, own.Status.CurrentHealthy = y.Expected, y.Healthy
				}
			}
			b.command = cvo.LoosenCommand(&own)
			more = x.MoreReplicas(1)
		}
	}
	text := "the budget " + name + " allows no disruptions"
	for _, x := range plan.Budgets {
		if x.Namespace+"/"+x.Name == name {
			text = fmt.Sprintf("the budget %s allows no disruptions (%d of %s healthy, %d required)", name, x.Healthy, words.Count(x.Expected, "pod", "pods"), x.Desired)
			if x.Expected == 1 && more == 1 {
				b.advice = "run 2 replicas of the pod that the budget " + name + " selects"
				if owner := d.owner(name); owner != "" {
					b.command = shell.Command("oc -n %s scale --replicas=2 %s", namespace, owner)
				}
			}
		}
	}
	b.fact = d.m.once(FactBudget, name, text+", and the policy forbids changing budgets", fix{"LoosenBudget", name, b.advice, func(in *input) { loosen(in.Situation, name) }, costWork}, allowBudgets())
	d.index[name] = len(d.m.budgets)
	d.m.budgets = append(d.m.budgets, b)
	return d.index[name]
}

// owner names the owner of the pods of a budget, in the form of oc.
func (d *drains) owner(budget string) string {
	for i := range d.m.Situation.Budgets {
		b := &d.m.Situation.Budgets[i]
		if b.Namespace+"/"+b.Name != budget {
			continue
		}
		for k := range d.m.Situation.Pods {
			p := &d.m.Situation.Pods[k]
			if !b.Selects(p) {
				continue
			}
			for _, o := range p.OwnerReferences {
				if hash := p.Labels["pod-template-hash"]; o.Kind == "ReplicaSet" && hash != "" {
					return "deployment/" + strings.TrimSuffix(o.Name, "-"+hash)
				}
				return strings.ToLower(o.Kind) + "/" + o.Name
			}
		}
	}
	return ""
}

// loosen makes a budget allow one disruption.
func loosen(s *Situation, name string) {
	s.Budgets = slices.Clone(s.Budgets)
	for i := range s.Budgets {
		if b := &s.Budgets[i]; b.Namespace+"/"+b.Name == name {
			b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, &fairlead.IntOrString{Int: 1}
			b.Status.ObservedGeneration, b.Generation = 0, max(b.Generation, 0)+1 // its numbers are computed
		}
	}
}
