package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/deadlines"
	"github.com/fairlead/fairlead/taints/placement"
)

// Options are how a cluster behaves. Nil means the zero value.
type Options struct {
	PodStartup    time.Duration // from when a pod is bound until it is ready; 0 means ten seconds
	InstanceGoes  time.Duration // from the request to delete an instance until it is gone; 0 means a minute
	NodeIsRemoved time.Duration // from when its instance is gone until the cloud removes a node; 0 means ten minutes
	// Still means no controllers and no scheduler: nothing creates pods, and pods
	// without a node keep waiting.
	Still bool
	// Storage is what is known of volumes, which may bind pods to nodes. Nil means that none does.
	Storage *placement.Storage
	// Schedule decides instead of [placement.Cluster] where a pod goes, among nodes that take
	// pods, by name: the node that it fits on, or that it fits on when the victims have ended; ""
	// if there is none. Nil means the next one in turn that fits, and else preemption.
	Schedule func(p *fairlead.Pod, among []string) (node string, victims []*fairlead.Pod)
}

// Workload is a controller that keeps a number of pods.
type Workload struct {
	Namespace string            // of its pods
	Name      string            // its name, and the prefix of its pods' names
	Replicas  int               // how many pods it keeps
	Template  fairlead.PodSpec  // of its pods
	Labels    map[string]string // of its pods
	Owner     string            // who created it

	serial int      // distinguishes it from earlier ones of the same name
	before []string // UIDs of the owners whose pods end when its own are ready
}

// Cluster is a cluster in memory. Those that share it hold its lock while using it;
// its methods do not take the lock.
type Cluster struct {
	sync.Mutex

	clock     fairlead.Clock
	options   Options
	revision  int
	serial    int
	tables    map[string]map[string]*entry
	log       []Event // since the first watch
	watched   bool
	workloads []Workload
	short     bool                 // a workload may have too few pods
	bound     map[string]time.Time // by UID of the pod: when the scheduler bound it
	silent    map[string]bool      // nodes whose kubelet does nothing
	fenced    map[string]bool      // nodes that are proven to be off, by UID
	boots     map[string]int       // how often a node has rebooted, by name
	instances map[string]*instance
	due       deadlines.Queue[string]

	onNode   map[string]map[string]*fairlead.Pod // by node, then name; "" for pods that wait for a node
	inSpace  map[string]map[string]*fairlead.Pod // by namespace, then name
	byUID    map[string]*fairlead.Pod
	guards   map[string][]*guard // by namespace, by name of the budget
	provided map[string]string   // names of nodes by their providerID
	open     []string            // nodes that may take pods, by name
	turn     int                 // where in open the next pod goes
	room     *placement.Cluster
}

// instance is a machine of the cloud.
type instance struct {
	node  func() string // the node that runs on it, "" for none
	going bool
}

// New returns an empty cluster.
func New(clock fairlead.Clock, o *Options) *Cluster {
	if clock == nil {
		clock = fairlead.SystemClock{}
	}
	c := &Cluster{
		clock: clock, tables: map[string]map[string]*entry{}, bound: map[string]time.Time{}, silent: map[string]bool{}, fenced: map[string]bool{}, boots: map[string]int{}, instances: map[string]*instance{},
		onNode: map[string]map[string]*fairlead.Pod{}, inSpace: map[string]map[string]*fairlead.Pod{}, byUID: map[string]*fairlead.Pod{}, guards: map[string][]*guard{}, provided: map[string]string{},
	}
	if o != nil {
		c.options = *o
	}
	return c
}

// key is the key of the cluster in a MemCluster.
type key struct{}

// Of returns the cluster that a MemBackend is a view of: that of m, or else a new one
// with the clock and the options.
func Of(m *fairlead.MemCluster, clock fairlead.Clock, o *Options) *Cluster {
	if m == nil {
		return New(clock, o)
	}
	return m.Part(key{}, func() any { return New(m.Clock, nil) }).(*Cluster)
}

// Part returns what a view keeps in addition to the objects. All views of m with the
// same type share it. If m is nil, it is own, or a new one if that is also nil.
func Part[T any](m *fairlead.MemCluster, own *T) *T {
	if m != nil {
		return m.Part((*T)(nil), func() any { return new(T) }).(*T)
	}
	return cmp.Or(own, new(T))
}

// Own returns a cluster for several views that behaves as the options say.
func Own(clock fairlead.Clock, o *Options) *fairlead.MemCluster {
	m := &fairlead.MemCluster{Clock: clock}
	m.Part(key{}, func() any { return New(clock, o) })
	return m
}

// Now returns the time by the cluster's clock.
func (c *Cluster) Now() time.Time { return c.clock.Now().Round(0).UTC() }

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Serial returns the next number, from 1.
func (c *Cluster) Serial() int {
	c.serial++
	return c.serial
}

// AddWorkload adds a workload, whose pods are kept from now on.
func (c *Cluster) AddWorkload(w Workload) {
	c.workloads = append(c.workloads, w)
	c.short = true
}

// SetWorkload replaces the workload with its namespace and name: the pods of the old
// one end when the new ones are ready.
func (c *Cluster) SetWorkload(w Workload) {
	w.serial = c.Serial()
	if i := c.workload(w.Namespace, w.Name); i >= 0 {
		old := &c.workloads[i]
		w.before = append(slices.Clone(old.before), old.owner().UID)
		c.workloads = slices.Delete(c.workloads, i, i+1)
	}
	c.AddWorkload(w)
}

// Deploy runs the pods of a Deployment with this spec, in place of those of an
// earlier spec; missing fields mean the defaults.
func (c *Cluster) Deploy(namespace, name, owner string, spec json.RawMessage) {
	var is struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec fairlead.PodSpec `json:"spec"`
		} `json:"template"`
	}
	_ = json.Unmarshal(spec, &is) // see above
	one := 1
	c.SetWorkload(Workload{
		Namespace: namespace, Name: name, Replicas: *cmp.Or(is.Replicas, &one),
		Owner: owner, Labels: is.Template.Metadata.Labels, Template: is.Template.Spec,
	})
}

// Unready says which pods of a Deployment are not ready, "" if all are.
func (c *Cluster) Unready(namespace, name string) string {
	if ready, wanted := c.Ready(namespace, name); ready < wanted {
		return fmt.Sprintf("%d of %d pods of deployment %s are ready", ready, wanted, name)
	}
	return ""
}

// workload returns the index of a workload, -1 if there is none.
func (c *Cluster) workload(namespace, name string) int {
	return slices.IndexFunc(c.workloads, func(w Workload) bool { return w.Namespace == namespace && w.Name == name })
}

// RemoveWorkload ends a workload and its pods, if it is still its owner's.
func (c *Cluster) RemoveWorkload(namespace, name, owner string) {
	i := c.workload(namespace, name)
	if i < 0 || c.workloads[i].Owner != owner {
		return
	}
	w := c.workloads[i]
	c.workloads = slices.Delete(c.workloads, i, i+1)
	c.endPods(namespace, append(w.before, w.owner().UID))
}

// endPods ends the pods of owners.
func (c *Cluster) endPods(namespace string, owners []string) {
	for _, p := range c.PodsIn(namespace) {
		if o := p.ControllerOf(); o != nil && slices.Contains(owners, o.UID) && p.DeletionTimestamp == nil {
			_ = Delete(c, Pods(), p.ObjectMeta.String(), p.UID, nil) // it exists
		}
	}
}

// Ready returns how many pods of a workload are ready, and how many there should be.
func (c *Cluster) Ready(namespace, name string) (ready, wanted int) {
	if i := c.workload(namespace, name); i >= 0 {
		w := &c.workloads[i]
		return c.ready(namespace, []string{w.owner().UID}), w.Replicas
	}
	return 0, 0
}

// Serving returns how many pods of a workload are ready, including those that are
// being replaced.
func (c *Cluster) Serving(namespace, name string) int {
	if i := c.workload(namespace, name); i >= 0 {
		w := &c.workloads[i]
		return c.ready(namespace, append(slices.Clone(w.before), w.owner().UID))
	}
	return 0
}

// ready counts the pods of owners that are ready.
func (c *Cluster) ready(namespace string, owners []string) (n int) {
	for _, p := range c.inSpace[namespace] {
		if o := p.ControllerOf(); o != nil && slices.Contains(owners, o.UID) && p.DeletionTimestamp == nil && p.Ready() {
			n++
		}
	}
	return n
}

// AddInstance creates an instance of the cloud, on which the named node runs.
func (c *Cluster) AddInstance(id string, node func() string) {
	if c.instances[id] == nil {
		c.instances[id] = &instance{node: node}
	}
}

// DeleteInstance requests the deletion of an instance, which takes the given time, or
// that of the options if it is 0. It reports whether the request is new.
func (c *Cluster) DeleteInstance(id string, takes time.Duration) bool {
	i := c.instances[id]
	if i == nil || i.going {
		return false
	}
	i.going = true
	c.due.Add("instance "+id, c.Now().Add(or(takes, or(c.options.InstanceGoes, time.Minute))))
	return true
}

// DropInstance removes an instance at once, without any event.
func (c *Cluster) DropInstance(id string) { delete(c.instances, id) }

// HasInstance reports whether an instance exists, even if it is being deleted.
func (c *Cluster) HasInstance(id string) bool { return c.instances[id] != nil }

// Silence stops the kubelet of a node, or starts it again: pods on a silent node
// neither start nor end, and it does not report. A node whose condition Ready is
// Unknown is also silent.
func (c *Cluster) Silence(node string, is bool) {
	if is {
		c.silent[node] = true
	} else {
		delete(c.silent, node)
	}
	if n := Ref(c, Nodes(), node); n != nil {
		c.nodeChanged(node, n, n)
	}
}

// Join registers a ready node, with a new UID each time.
func (c *Cluster) Join(n fairlead.Node) error {
	n.UID = ""
	now := c.Now()
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now}}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = map[string]string{"cpu": "8", "memory": "32Gi", "pods": "110"}
	}
	Drop(c, Nodes(), n.Name)
	delete(c.silent, n.Name)
	_, err := Create(c, Nodes(), n)
	return err
}

// NodeFor returns the node of a providerID, nil if there is none.
func (c *Cluster) NodeFor(providerID string) *fairlead.Node {
	if providerID == "" {
		return nil
	}
	if n := Ref(c, Nodes(), c.provided[providerID]); n != nil && n.Spec.ProviderID == providerID {
		return n
	}
	return nil
}

// workloadUID is the prefix of the UIDs of workloads.
const workloadUID = "workload-"

// owner is the owner of the pods of a workload.
func (w *Workload) owner() fairlead.OwnerReference {
	yes := true
	uid := fmt.Sprintf("%s%s-%s", workloadUID, w.Namespace, w.Name)
	if w.serial > 0 {
		uid += fmt.Sprintf("-%d", w.serial)
	}
	return fairlead.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.Name, UID: uid, Controller: &yes}
}
