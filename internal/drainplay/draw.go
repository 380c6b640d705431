package drainplay

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints/placement"
)

// Case is a cluster of which the first node, n0, is drained.
type Case struct {
	Nodes   []drain.Node                // by name
	Pods    []drain.Pod                 // all of the cluster
	Budgets []drain.PodDisruptionBudget // all of the cluster, without a status
	Storage *placement.Storage          // nil if no pod has a volume
	seed    uint64
}

// Noon is when the drain begins.
func Noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Options says what clusters have besides what all of them have: budgets, pods that are not
// ready, that keep apart, or that spread over zones, and a first node that may be silent.
type Options struct {
	Priorities bool // pods with priorities, of which some never preempt
	Volumes    bool // claims that are bound to a node or a zone, and limits
	Finalizers bool // pods with finalizers, and pods that are being deleted
	DeadNodes  bool // other silent nodes, and a first one that is tainted out-of-service
}

// drawer draws a cluster.
type drawer struct {
	*rand.Rand
	Case
	o Options
}

// Draw returns the random cluster of a seed.
func Draw(seed uint64, o Options) *Case {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 43)), Case: Case{seed: seed}, o: o}
	n := 1 + d.IntN(4)
	for i := range n {
		d.node(i)
	}
	if o.Volumes {
		d.shelf()
	}
	for a := range 1 + d.IntN(3) {
		d.app(fmt.Sprint("app", a))
	}
	return &d.Case
}

func (d *drawer) one(n int) bool { return d.IntN(n) == 0 }

func (d *drawer) node(i int) {
	name := fmt.Sprint("n", i)
	n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: name, UID: "node-" + name, Labels: map[string]string{"kubernetes.io/hostname": name, "zone": fmt.Sprint("z", i%2)}}}
	n.Status.Allocatable = map[string]string{"cpu": fmt.Sprint(2 + d.IntN(5)), "memory": "16Gi", "pods": "20"}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: Noon().Add(-time.Hour)}}
	if i == 0 && d.one(8) || d.o.DeadNodes && d.one(6) {
		n.Status.Conditions[0].Status = "Unknown"
		n.Spec.Taints = []fairlead.Taint{{Key: "node.kubernetes.io/unreachable", Effect: fairlead.NoSchedule}, {Key: "node.kubernetes.io/unreachable", Effect: fairlead.NoExecute}}
		if d.o.DeadNodes && i == 0 && d.one(3) {
			n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: drain.OutOfServiceTaint, Effect: fairlead.NoExecute})
		}
	}
	d.Nodes = append(d.Nodes, n)
}

// shelf draws volumes: some are bound to a node or a zone, some count for limits.
func (d *drawer) shelf() {
	s := &placement.Storage{
		Claims: map[string]*placement.Claim{}, Volumes: map[string]*placement.Volume{}, Classes: map[string]*placement.Class{"waits": {Waits: true, Driver: "disk"}},
		Limits: map[string]map[string]int{}, Attached: map[string][]string{}, AllClaims: true, AllVolumes: true, AllClasses: true,
	}
	for i := range d.Nodes {
		if d.one(2) {
			s.Limits[d.Nodes[i].Name] = map[string]int{"disk": 1 + d.IntN(2)}
		}
	}
	d.Storage = s
}

// claim draws a claim for a pod on a node, which fits there.
func (d *drawer) claim(name string, node *drain.Node) string {
	c, v := &placement.Claim{Volume: "pv-" + name, Class: "waits", Once: d.one(6)}, &placement.Volume{Driver: "disk", Handle: name}
	if key := []string{"zone", "kubernetes.io/hostname", ""}[d.IntN(3)]; key != "" {
		v.Affinity = &fairlead.NodeSelector{Terms: []fairlead.NodeSelectorTerm{{MatchExpressions: []fairlead.NodeRequirement{{Key: key, Operator: "In", Values: []string{node.Labels[key]}}}}}}
	}
	d.Storage.Claims["d/"+name], d.Storage.Volumes[c.Volume] = c, v
	return name
}

func (d *drawer) app(app string) {
	labels, yes := map[string]string{"app": app}, true
	apart, zones, cpu := d.one(4), d.one(5), 1+d.IntN(2)
	kind := []string{"ReplicaSet", "ReplicaSet", "StatefulSet"}[d.IntN(3)]
	var priority *int32
	if d.o.Priorities && d.one(2) {
		p := int32(d.IntN(3)) * 100
		priority = &p
	}
	volumes := d.o.Volumes && d.one(2)
	on := map[int]int{}
	for i := range 1 + d.IntN(3) {
		at := d.IntN(len(d.Nodes))
		if apart {
			if at = i; at >= len(d.Nodes) {
				break
			}
		}
		if on[at]++; on[at] > 1 {
			continue
		}
		node := &d.Nodes[at]
		p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: fmt.Sprintf("%s-%d", app, i), UID: fmt.Sprintf("%s-%d", app, i), Labels: labels, CreationTimestamp: Noon().Add(-time.Hour)}}
		p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: app, UID: app, Controller: &yes}}
		p.Spec.NodeName, p.Status.Phase, p.Spec.Priority = node.Name, fairlead.PodRunning, priority
		if priority != nil && d.one(4) {
			p.Spec.PreemptionPolicy = fairlead.PreemptNever
		}
		p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": fmt.Sprintf("%d00m", 5*cpu)}}}}
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
		if apart {
			p.Spec.Affinity = &fairlead.Affinity{PodAntiAffinity: &fairlead.PodAffinity{Required: []fairlead.PodAffinityTerm{{LabelSelector: &drain.LabelSelector{MatchLabels: labels}, TopologyKey: "kubernetes.io/hostname"}}}}
		}
		if zones {
			p.Spec.TopologySpreadConstraints = []fairlead.SpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: fairlead.DoNotSchedule, LabelSelector: &drain.LabelSelector{MatchLabels: labels}}}
		}
		if c := node.Condition("Ready"); c.Status != "True" || d.one(12) {
			p.Status.Conditions[0].Status = "False"
		}
		if volumes {
			p.Spec.Volumes = []fairlead.Volume{{Name: "data", PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: d.claim(p.Name, node)}}}
		}
		if d.o.Finalizers {
			d.ending(&p)
		}
		d.Pods = append(d.Pods, p)
	}
	if d.IntN(3) > 0 {
		d.budget(app, labels)
	}
}

// ending gives a pod a finalizer, deletes it, or both.
func (d *drawer) ending(p *drain.Pod) {
	if d.one(4) {
		p.Finalizers = []string{"example.com/backup"}
	}
	if c := p.ControllerOf(); d.one(6) && c.Kind == "StatefulSet" { // of other sets there would be another pod
		at, seconds := Noon().Add(time.Duration(10+d.IntN(60))*time.Second), int64(30)
		if len(p.Finalizers) > 0 {
			at = at.Add(-time.Minute)
		}
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &seconds
	}
}

func (d *drawer) budget(app string, labels map[string]string) {
	b := drain.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: app}}
	b.Spec.Selector = &drain.LabelSelector{MatchLabels: labels}
	amount := fairlead.IntOrString{Int: d.IntN(3)}
	if d.one(2) {
		b.Spec.MinAvailable = &amount
	} else {
		b.Spec.MaxUnavailable = &amount
	}
	d.Budgets = append(d.Budgets, b)
}
