package cluster

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/placement"
	"github.com/fairlead/fairlead/internal/wheel"
)

// Options are how a cluster behaves. Nil stands for the zero value.
type Options struct {
	PodStartup    time.Duration // from a pod's being bound to its being ready; 0 means ten seconds
	InstanceGoes  time.Duration // from the request to delete an instance to its being gone; 0 means a minute
	NodeIsRemoved time.Duration // from its instance's being gone to the removal of a node by the cloud; 0 means ten minutes
	// Still has no controllers and no scheduler: nobody makes a pod, and those that
	// wait for a node go on waiting.
	Still bool
}

// Workload is a controller that keeps a number of pods.
type Workload struct {
	Namespace string            // of its pods
	Name      string            // its own, and what the names of its pods begin with
	Replicas  int               // how many pods it keeps
	Template  fairlead.PodSpec  // of its pods
	Labels    map[string]string // of its pods
	Owner     string            // who has made it

	serial int // tells it from others that had its name
}

// Cluster is a cluster in memory. Whoever may share it with others holds its lock
// while using it; its methods do not.
type Cluster struct {
	sync.Mutex

	clock     fairlead.Clock
	options   Options
	revision  int
	serial    int
	tables    map[string]map[string]*entry
	log       []Event // from when there was a watch
	watched   bool
	workloads []Workload
	short     bool                 // a workload may have too few pods
	bound     map[string]time.Time // by UID of the pod: when the scheduler has bound it
	silent    map[string]bool      // nodes whose agent does nothing
	fenced    map[string]bool      // nodes that are proven to be off, by UID
	boots     map[string]int       // how often a node has booted again, by name
	instances map[string]*instance
	due       wheel.Timers[string]

	onNode   map[string]map[string]*fairlead.Pod // by node, then name; "" for those that wait for one
	inSpace  map[string]map[string]*fairlead.Pod // by namespace, then name
	byUID    map[string]*fairlead.Pod
	provided map[string]string // names of nodes by their providerID
	open     []string          // nodes that may take pods, by name
	turn     int               // where in open the next pod goes
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
		onNode: map[string]map[string]*fairlead.Pod{}, inSpace: map[string]map[string]*fairlead.Pod{}, byUID: map[string]*fairlead.Pod{}, provided: map[string]string{},
	}
	if o != nil {
		c.options = *o
	}
	return c
}

// key is what the cluster is kept under in a MemCluster.
type key struct{}

// Of returns the cluster that a MemBackend is a view of: that of m, or else one of
// its own with the clock and the options.
func Of(m *fairlead.MemCluster, clock fairlead.Clock, o *Options) *Cluster {
	if m == nil {
		return New(clock, o)
	}
	return m.Part(key{}, func() any { return New(m.Clock, nil) }).(*Cluster)
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

// Serial gives out numbers from 1.
func (c *Cluster) Serial() int {
	c.serial++
	return c.serial
}

// AddWorkload has a number of pods kept from now on.
func (c *Cluster) AddWorkload(w Workload) {
	c.workloads = append(c.workloads, w)
	c.short = true
}

// SetWorkload has a number of pods kept from now on, in the place of the workload of
// its namespace and name: pods of another template go.
func (c *Cluster) SetWorkload(w Workload) {
	c.removeWorkload(w.Namespace, w.Name, func(Workload) bool { return true })
	w.serial = c.Serial()
	c.AddWorkload(w)
}

// RemoveWorkload ends a workload and its pods, if it is still its owner's.
func (c *Cluster) RemoveWorkload(namespace, name, owner string) {
	c.removeWorkload(namespace, name, func(w Workload) bool { return w.Owner == owner })
}

func (c *Cluster) removeWorkload(namespace, name string, meant func(Workload) bool) {
	i := slices.IndexFunc(c.workloads, func(w Workload) bool { return w.Namespace == namespace && w.Name == name && meant(w) })
	if i < 0 {
		return
	}
	owner := c.workloads[i].owner()
	c.workloads = slices.Delete(c.workloads, i, i+1)
	for _, p := range c.PodsIn(namespace) {
		if o := p.ControllerOf(); o != nil && o.UID == owner.UID && p.DeletionTimestamp == nil {
			_ = Delete(c, Pods(), p.ObjectMeta.String(), p.UID, nil) // it is there
		}
	}
}

// Ready returns how many pods of a workload are ready, and how many there are to be.
func (c *Cluster) Ready(namespace, name string) (ready, wanted int) {
	for i := range c.workloads {
		if w := &c.workloads[i]; w.Namespace == namespace && w.Name == name {
			wanted = w.Replicas
			for _, p := range c.inSpace[namespace] {
				if o := p.ControllerOf(); o != nil && o.UID == w.owner().UID && p.DeletionTimestamp == nil && p.Ready() {
					ready++
				}
			}
		}
	}
	return ready, wanted
}

// AddInstance makes an instance of the cloud, on which a node of a name runs.
func (c *Cluster) AddInstance(id string, node func() string) {
	if c.instances[id] == nil {
		c.instances[id] = &instance{node: node}
	}
}

// DeleteInstance asks the cloud to delete an instance, which takes so long, or as the
// options say if that is 0. It reports whether that is news.
func (c *Cluster) DeleteInstance(id string, takes time.Duration) bool {
	i := c.instances[id]
	if i == nil || i.going {
		return false
	}
	i.going = true
	c.due.Add("instance "+id, c.Now().Add(or(takes, or(c.options.InstanceGoes, time.Minute))))
	return true
}

// DropInstance takes an instance away at once, and nobody hears of that.
func (c *Cluster) DropInstance(id string) { delete(c.instances, id) }

// HasInstance reports whether an instance is there, even if it is going.
func (c *Cluster) HasInstance(id string) bool { return c.instances[id] != nil }

// Silence has the agent of a node do nothing, or work again: pods on a silent node
// neither start nor end, and it does not report. A node whose condition Ready is
// Unknown is silent, too.
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

// Join registers a node that is ready, with a UID of its own each time.
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

// workloadUID is what the UIDs of workloads begin with.
const workloadUID = "workload-"

// owner is what the pods of a workload belong to.
func (w *Workload) owner() fairlead.OwnerReference {
	yes := true
	uid := fmt.Sprintf("%s%s-%s", workloadUID, w.Namespace, w.Name)
	if w.serial > 0 {
		uid += fmt.Sprintf("-%d", w.serial)
	}
	return fairlead.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.Name, UID: uid, Controller: &yes}
}
