package diagnosis

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// world is what the engines are asked about: a snapshot, or what it would be after steps. A nil
// list is not known. Its lists are never changed, only replaced.
type world struct {
	now        time.Time
	version    *cvo.ClusterVersion
	operators  []cvo.ClusterOperator
	pools      []cvo.Pool
	configs    map[string]string
	alerts     []cvo.Alert
	gates      *cvo.AdminGates // nil: not known
	nodes      []fairlead.Node
	pods       []fairlead.Pod
	budgets    []fairlead.PodDisruptionBudget
	replicas   []drain.Replicas
	daemonSets []fairlead.ObjectMeta
	listed     bool // daemonSets are all
	namespaces map[string]map[string]string
	machines   []lifecycle.Machine
	checks     []fleet.HealthCheck
	events     map[string][]string // by pod that is not well, what was noticed about it, the last first
	storage    storage             // what is known of volumes
	apis       []snapshot.APIService
	apps       apps    // what makes pods
	net        network // what leads to them
	leases     []snapshot.Lease
	said       map[string][]string // by ID of an object that makes pods or leads to them, what was noticed about it, the last first
	csrs       []snapshot.Object   // requests for certificates that nobody has decided
	olm        *explain.Cluster    // what is known of operators; nil: nothing
	views      []*explain.View     // see operatorViews
	to         string              // the update that is wanted, see Options.To
	accepted   []string            // the risks of it that are accepted
	planned    *plan.Situation     // what a plan is made from, and no engine here reads
	toDrain    []string            // nodes that are to be drained
	atOnce     int                 // how many of them at a time
	of         []string            // see Options.Of
	solved     []string            // IDs of nodes of the graph that are supposed to be gone
	partly     []cvo.Gap           // of operators, pools, configs and nodes: what is missing of them
	unseen     []cvo.Gap           // likewise, of everything else
	// signs are what other objects say about themselves.
	signs []sign
	held  []fairlead.ObjectMeta // the namespaces that finalizers of their own keep, and nothing in them

	index  *index  // see indexed
	ground *ground // where pods are; shared with copies
}

// sign is something that an object says, and since when.
type sign struct {
	failure.Sign
	since time.Time
}

// dump returns the part that the cluster version's engine reads.
func (w *world) dump() *cvo.Dump {
	return &cvo.Dump{Version: w.version, Operators: w.operators, Pools: w.pools, Nodes: w.nodes, Configs: w.configs, Alerts: w.alerts, Gates: w.gates, Partly: w.partly}
}

// openshift reports whether the cluster has a ClusterVersion, and so whoever runs it has oc.
func (w *world) openshift() bool { return w.version != nil || len(w.pools) > 0 }

// copied returns a world that can be changed by replacing lists.
func (w *world) copied() *world {
	c := *w
	return &c
}

// editNode replaces a node by a changed copy; false if there is none of that name.
func (w *world) editNode(name string, edit func(*fairlead.Node)) bool {
	k, ok := w.indexed().nodeAt[name]
	if !ok {
		return false
	}
	w.nodes = slices.Clone(w.nodes)
	n := &w.nodes[k]
	n.Annotations = maps.Clone(n.Annotations)
	n.Spec.Taints = slices.Clone(n.Spec.Taints)
	n.Status.Conditions = slices.Clone(n.Status.Conditions)
	edit(n)
	return true
}

// editBudget replaces a budget likewise.
func (w *world) editBudget(namespace, name string, edit func(*fairlead.PodDisruptionBudget)) bool {
	k, ok := w.indexed().budgetAt[objectKey{namespace, name}]
	if !ok {
		return false
	}
	w.budgets = slices.Clone(w.budgets)
	edit(&w.budgets[k])
	return true
}

// editPool replaces a pool likewise.
func (w *world) editPool(name string, edit func(*cvo.Pool)) bool {
	k := slices.IndexFunc(w.pools, func(p cvo.Pool) bool { return p.Name == name })
	if k < 0 {
		return false
	}
	w.pools = slices.Clone(w.pools)
	edit(&w.pools[k])
	return true
}

// editPods replaces all pods that are chosen; it returns how many.
func (w *world) editPods(chosen func(*fairlead.Pod) bool, edit func(*fairlead.Pod)) (n int) {
	var pods []fairlead.Pod
	for i := range w.pods {
		if !chosen(&w.pods[i]) {
			continue
		}
		if pods == nil {
			pods = slices.Clone(w.pods)
		}
		edit(&pods[i])
		n++
	}
	if pods != nil {
		w.pods = pods
	}
	return n
}

// scale returns how many pods a controller should have.
func (w *world) scale() fairlead.Scale {
	type key struct{ namespace, kind, name string }
	wanted := make(map[key]int, len(w.replicas))
	for _, r := range w.replicas {
		wanted[key{r.Namespace, r.Kind, r.Name}] = r.Count
	}
	return func(namespace string, c *fairlead.OwnerReference) (int, bool) {
		n, ok := wanted[key{namespace, c.Kind, c.Name}]
		return n, ok
	}
}

// measure computes the budgets again from the pods.
func (w *world) measure() {
	if len(w.budgets) == 0 || w.pods == nil {
		return
	}
	budgets := slices.Clone(w.budgets)
	x := w.indexed()
	scale := w.scale()
	for i := range budgets {
		if budgets[i].Check() == nil {
			selected := make([]*fairlead.Pod, 0, len(x.podsOf[i]))
			for _, at := range x.podsOf[i] {
				selected = append(selected, &w.pods[at])
			}
			budgets[i].Status = budgets[i].MeasureSelected(selected, scale, w.now)
		}
	}
	w.budgets = budgets
}
