package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/placement"
)

// Options are how long things take. Nil stands for the zero value.
type Options struct {
	PodStartup    time.Duration // from a pod's being bound to its being ready; 0 means ten seconds
	InstanceGoes  time.Duration // from the request to delete an instance to its being gone; 0 means a minute
	NodeIsRemoved time.Duration // from its instance's being gone to the removal of a node by the cloud; 0 means ten minutes
}

// Workload is a controller that keeps a number of pods.
type Workload struct {
	Namespace string            // of its pods
	Name      string            // its own, and what the names of its pods begin with
	Replicas  int               // how many pods it keeps
	Template  fairlead.PodSpec  // of its pods
	Labels    map[string]string // of its pods
}

// Cluster is a cluster in memory. It is for one goroutine.
type Cluster struct {
	clock     fairlead.Clock
	options   Options
	revision  int
	serial    int
	tables    map[string]map[string]*entry
	log       []event
	workloads []Workload
	bound     map[string]time.Time // by UID of the pod: when it was bound
	silent    map[string]bool      // nodes whose agent does nothing
	instances map[string]*instance // by provider ID
}

// instance is a machine of the cloud.
type instance struct {
	node string    // the node that runs on it
	gone time.Time // when it is gone; zero while nobody asks for that
	lost time.Time // when it was found to be gone
}

// New returns an empty cluster.
func New(clock fairlead.Clock, o *Options) *Cluster {
	c := &Cluster{
		clock: clock, tables: map[string]map[string]*entry{}, bound: map[string]time.Time{}, silent: map[string]bool{}, instances: map[string]*instance{},
	}
	if o != nil {
		c.options = *o
	}
	return c
}

func (c *Cluster) now() time.Time { return c.clock.Now().Round(0).UTC() }

// AddWorkload has a number of pods kept from now on.
func (c *Cluster) AddWorkload(w Workload) { c.workloads = append(c.workloads, w) }

// AddInstance makes an instance of the cloud, on which a node of a name will run.
func (c *Cluster) AddInstance(providerID, node string) {
	c.instances[providerID] = &instance{node: node}
}

// DeleteInstance asks the cloud to delete an instance. To ask again changes
// nothing.
func (c *Cluster) DeleteInstance(providerID string) {
	if i := c.instances[providerID]; i != nil && i.gone.IsZero() {
		i.gone = c.now().Add(cmp.Or(max(c.options.InstanceGoes, 0), time.Minute))
	}
}

// HasInstance reports whether an instance is there, even if it is going.
func (c *Cluster) HasInstance(providerID string) bool {
	i := c.instances[providerID]
	return i != nil && i.lost.IsZero()
}

// Silence has the agent of a node do nothing, or work again: pods on a silent node
// neither start nor end, and it does not report.
func (c *Cluster) Silence(node string, is bool) { c.silent[node] = is }

// Join registers a node that is ready, with a UID of its own each time.
func (c *Cluster) Join(n fairlead.Node) error {
	n.UID = ""
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastHeartbeatTime: c.now(), LastTransitionTime: c.now()}}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = map[string]string{"cpu": "8", "memory": "32Gi", "pods": "110"}
	}
	c.drop("Node", n.Name)
	delete(c.silent, n.Name)
	_, err := Create(c, Nodes(), n)
	return err
}

// room returns the nodes and pods as the scheduler sees them.
func (c *Cluster) room() *placement.Cluster {
	r := placement.New(nil)
	nodes, pods := List(c, Nodes()), List(c, Pods())
	for i := range nodes {
		_ = r.SetNode(&nodes[i]) // what it cannot read is no room
	}
	for i := range pods {
		_ = r.Add(&pods[i])
	}
	return r
}

// Evict asks the eviction API to end a pod. The error is a *fairlead.RefusedError:
// 404 if it is not there, 429 if a budget does not allow it, 500 if two guard it.
func (c *Cluster) Evict(name, uid string, grace *int64) error {
	p, ok := Get(c, Pods(), name)
	if !ok || uid != "" && p.UID != uid {
		return refused(404, "NotFound", "there is no pod %s with UID %q", name, uid)
	}
	if err := c.judge(&p); err != nil {
		return err
	}
	return Delete(c, Pods(), name, uid, grace)
}

// workload returns the name of the controller's ReplicaSet and its UID.
func (w *Workload) owner() fairlead.OwnerReference {
	yes := true
	return fairlead.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.Name, UID: fmt.Sprintf("rs-%s-%s", w.Namespace, w.Name), Controller: &yes}
}
