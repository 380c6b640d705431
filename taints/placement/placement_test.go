package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/placement"
)

var resources = []string{"cpu", "memory", "example.com/gpu"}

// draw creates small worlds in which every requirement matters sometimes.
type draw struct{ *rand.Rand }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }
func (d draw) one(n int) bool            { return d.IntN(n) == 0 }

func (d draw) labels(keys ...string) map[string]string {
	m := map[string]string{}
	for _, k := range keys {
		if !d.one(4) {
			m[k] = d.of("a", "b", "1", "2")
		}
	}
	return m
}

func (d draw) selector() *fairlead.LabelSelector {
	if d.one(8) {
		return nil
	}
	s := &fairlead.LabelSelector{}
	if !d.one(4) {
		s.MatchLabels = map[string]string{d.of("app", "tier"): d.of("a", "b")}
	}
	if d.one(3) {
		s.MatchExpressions = []fairlead.SelectorRequirement{d.requirement()}
	}
	return s
}

func (d draw) requirement() fairlead.SelectorRequirement {
	r := fairlead.SelectorRequirement{Key: d.of("app", "tier"), Operator: fairlead.SelectorOperator(d.of("In", "NotIn", "Exists", "DoesNotExist"))}
	if r.Operator == fairlead.SelectorIn || r.Operator == fairlead.SelectorNotIn {
		r.Values = []string{d.of("a", "b"), d.of("1", "2")}
	}
	return r
}

func (d draw) node(i int) *fairlead.Node {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: d.labels("zone", "disk", "number")}}
	n.Labels["host"] = n.Name
	n.Spec.Unschedulable = d.one(8)
	if d.one(4) {
		n.Spec.Taints = []fairlead.Taint{{Key: d.of("x", "y"), Value: d.of("", "v"), Effect: fairlead.TaintEffect(d.of("NoSchedule", "NoExecute", "PreferNoSchedule"))}}
	}
	n.Status.Allocatable = map[string]string{"cpu": d.of("1", "2", "1500m", "0.5"), "memory": d.of("1Gi", "512Mi", "1000M", "2e9"), "pods": d.of("2", "3", "10", "10")}
	if d.one(2) {
		n.Status.Allocatable["example.com/gpu"] = d.of("1", "2")
	}
	return n
}

func (d draw) requests() map[string]string {
	m := map[string]string{}
	if !d.one(3) {
		m["cpu"] = d.of("100m", "0.25", "500m", "1", "0.0005", "1.0001", "0")
	}
	if !d.one(3) {
		m["memory"] = d.of("100Mi", "256Mi", "1Gi", "0.5Gi", "1e8", "128000k", "1500m")
	}
	if d.one(8) {
		m["example.com/gpu"] = "1"
	}
	return m
}

func (d draw) terms() *fairlead.PodAffinity {
	a := &fairlead.PodAffinity{}
	for range 1 + d.IntN(2) {
		t := fairlead.PodAffinityTerm{LabelSelector: d.selector(), TopologyKey: d.of("zone", "zone", "host", "disk")}
		if d.one(3) {
			t.Namespaces = []string{d.of("n1", "n2")}
		}
		if d.one(4) {
			t.NamespaceSelector = &fairlead.LabelSelector{}
			if d.one(2) {
				t.NamespaceSelector.MatchLabels = map[string]string{"team": d.of("a", "b")}
			}
		}
		a.Required = append(a.Required, t)
	}
	return a
}

func (d draw) pod(i int) *fairlead.Pod {
	p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("p%d", i), Namespace: d.of("n1", "n1", "n2"), Labels: d.labels("app", "tier")}}
	for range 1 + d.IntN(2) {
		c := fairlead.Container{Resources: fairlead.Resources{Requests: d.requests()}}
		if d.one(5) {
			c.Ports = []fairlead.ContainerPort{{HostPort: int32(80 + d.IntN(2)), HostIP: d.of("", "10.0.0.1", "10.0.0.2", "0.0.0.0"), Protocol: d.of("", "TCP", "UDP")}}
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	for range d.IntN(3) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, fairlead.Container{Resources: fairlead.Resources{Requests: d.requests()}, RestartPolicy: d.of("", "Always")})
	}
	if d.one(6) {
		p.Spec.Overhead = map[string]string{"cpu": "50m"}
	}
	if d.one(2) {
		p.Spec.Tolerations = []fairlead.Toleration{{Key: d.of("", "x", "y", "node.kubernetes.io/unschedulable"), Operator: fairlead.TolerationExists, Effect: fairlead.TaintEffect(d.of("", "NoSchedule"))}}
	}
	if d.one(5) {
		p.Spec.NodeSelector = map[string]string{d.of("zone", "disk"): d.of("a", "b")}
	}
	p.Spec.Affinity = d.affinity()
	for range d.IntN(3) / 2 * (1 + d.IntN(2)) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, d.spread())
	}
	if d.one(8) {
		p.DeletionTimestamp = &time.Time{}
	}
	if d.one(12) {
		p.Status.Phase = fairlead.PodSucceeded
	}
	return p
}

func (d draw) spread() fairlead.SpreadConstraint {
	c := fairlead.SpreadConstraint{
		MaxSkew: 1 + int32(d.IntN(2)), TopologyKey: d.of("zone", "zone", "host", "disk"), WhenUnsatisfiable: d.of("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
		LabelSelector: d.selector(), NodeAffinityPolicy: d.of("", "Honor", "Ignore"), NodeTaintsPolicy: d.of("", "Honor", "Ignore"),
	}
	if d.one(3) {
		c.MatchLabelKeys = []string{d.of("app", "tier")}
	}
	if d.one(3) {
		least := int32(1 + d.IntN(4))
		c.MinDomains = &least
	}
	return c
}

func (d draw) affinity() *fairlead.Affinity {
	a := &fairlead.Affinity{}
	if d.one(4) {
		s := &fairlead.NodeSelector{}
		for range d.IntN(3) {
			s.Terms = append(s.Terms, d.nodeTerm())
		}
		a.NodeAffinity = &fairlead.NodeAffinity{Required: s}
	}
	if d.one(4) {
		a.PodAffinity = d.terms()
	}
	if d.one(4) {
		a.PodAntiAffinity = d.terms()
	}
	if *a == (fairlead.Affinity{}) {
		return nil
	}
	return a
}

func (d draw) nodeTerm() (t fairlead.NodeSelectorTerm) {
	for range d.IntN(3) {
		r := fairlead.NodeRequirement{Key: d.of("zone", "disk", "number"), Operator: d.of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")}
		switch r.Operator {
		case "In", "NotIn":
			r.Values = []string{d.of("a", "b"), "1"}
		case "Gt", "Lt":
			r.Values = []string{d.of("1", "2", "-3")}
		}
		t.MatchExpressions = append(t.MatchExpressions, r)
	}
	if d.one(5) {
		t.MatchFields = []fairlead.NodeRequirement{{Key: "metadata.name", Operator: d.of("In", "NotIn"), Values: []string{"n1"}}}
	}
	return t
}

// TestAgainstOracle adds and removes pods and changes nodes, and compares for
// every pod and node whether it fits, and why not.
func TestAgainstOracle(t *testing.T) {
	reasons := map[placement.Filter]int{}
	fit := 0
	for seed := range uint64(long.N(1500, 100_000)) {
		d := draw{rand.New(rand.NewPCG(seed, 7))}
		o := &oracle{namespaces: map[string]map[string]string{"n1": {"team": "a"}, "n2": {"team": "b"}}}
		c := placement.New(&placement.Options{Namespaces: o.namespaces})
		for i := range 2 + d.IntN(4) {
			n := d.node(i)
			o.nodes = append(o.nodes, n)
			if err := c.SetNode(n); err != nil {
				t.Fatal(err)
			}
		}
		p := d.pod(100)
		for i := range 8 {
			d.happen(o, c, i)
			if d.one(2) { // otherwise its counts are updated incrementally
				p = d.pod(100 + i)
			}
			for _, n := range o.nodes {
				want, got := o.fits(p, n), c.Evaluate(p, n.Name)
				if len(want) == 0 {
					fit++
				}
				same := len(want) == len(got) && c.Fits(p, n.Name) == (len(want) == 0)
				for j := range got {
					same = same && got[j].Filter == want[j]
					reasons[got[j].Filter]++
				}
				if !same {
					t.Fatalf("seed %d: pod %+v on node %+v: got %v, want %v", seed, p, n, got, want)
				}
			}
			first, ok := c.First(p, nil)
			i := slices.IndexFunc(o.nodes, func(n *fairlead.Node) bool { return len(o.fits(p, n)) == 0 })
			if ok != (i >= 0) || ok && first != o.nodes[i] {
				t.Fatalf("seed %d: the first node is %v, want %d", seed, first, i)
			}
		}
	}
	t.Logf("fits %d, reasons %v", fit, reasons)
	for _, f := range []placement.Filter{
		placement.NodeUnschedulable, placement.TaintToleration, placement.NodeAffinity, placement.NodePorts, placement.NodeResources,
		placement.TopologySpread, placement.InterPodAffinity,
	} {
		if reasons[f] == 0 || fit == 0 {
			t.Errorf("%s never said no, or nothing ever fitted", f)
		}
	}
}

// happen makes one change: a pod is added or removed, a node is replaced or
// removed.
func (d draw) happen(o *oracle, c *placement.Cluster, i int) {
	switch {
	case d.one(4) && len(o.pods) > 0:
		k := d.IntN(len(o.pods))
		c.Remove(o.pods[k])
		o.pods = slices.Delete(o.pods, k, k+1)
	case d.one(6):
		k := d.IntN(len(o.nodes))
		n := d.node(k)
		n.Name, n.Labels["host"] = o.nodes[k].Name, o.nodes[k].Name
		o.nodes[k] = n
		if err := c.SetNode(n); err != nil {
			panic(err)
		}
	case d.one(5) && len(o.pods) > 0: // a pod changes in one property
		k := d.IntN(len(o.pods))
		p := *o.pods[k]
		switch d.IntN(4) {
		case 0:
			p.DeletionTimestamp = &time.Time{}
		case 1:
			p.Labels = d.labels("app", "tier")
		case 2:
			p.Status.Phase = fairlead.PodSucceeded
		default: // or in none
		}
		o.pods[k] = &p
		if err := c.Add(&p); err != nil {
			panic(err)
		}
	case d.one(5): // a node does
		k := d.IntN(len(o.nodes))
		n := *o.nodes[k]
		switch d.IntN(3) {
		case 0:
			n.Spec.Unschedulable = !n.Spec.Unschedulable
		case 1:
			n.Status.Allocatable = map[string]string{"cpu": "4", "pods": "9"}
		default:
			n.Labels = d.labels("zone", "disk", "number")
			n.Labels["host"] = n.Name
		}
		o.nodes[k] = &n
		if err := c.SetNode(&n); err != nil {
			panic(err)
		}
	case d.one(10) && len(o.nodes) > 1:
		c.RemoveNode(o.nodes[0].Name)
		o.nodes = o.nodes[1:]
	default:
		for j := range 2 {
			p := d.pod(10*i + j)
			p.Spec.NodeName = fmt.Sprintf("n%d", d.IntN(6))
			o.pods = append(o.pods, p)
			if err := c.Add(p); err != nil {
				panic(err)
			}
		}
	}
}

// TestManyChanges makes so many changes that a class counts again.
func TestManyChanges(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(1, 1))}
	o := &oracle{}
	c := placement.New(nil)
	for i := range 3 {
		n := d.node(i)
		n.Status.Allocatable["pods"] = "100"
		o.nodes = append(o.nodes, n)
		if err := c.SetNode(n); err != nil {
			t.Fatal(err)
		}
	}
	asked := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "n1", Labels: map[string]string{"app": "a"}}}
	asked.Spec.TopologySpreadConstraints = []fairlead.SpreadConstraint{{
		MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: fairlead.DoNotSchedule, LabelSelector: &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
	}}
	for i := range 5000 {
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("p", i%7), Namespace: "n1", Labels: map[string]string{"app": d.of("a", "b")}}}
		p.Spec.NodeName = fmt.Sprint("n", d.IntN(3))
		if d.one(3) {
			p.DeletionTimestamp = &time.Time{}
		}
		o.pods = slices.DeleteFunc(o.pods, func(q *fairlead.Pod) bool { return q.Name == p.Name })
		o.pods = append(o.pods, p)
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
		n := o.nodes[d.IntN(3)]
		if i%100 < 50 && c.Fits(asked, n.Name) != (len(o.fits(asked, n)) == 0) {
			t.Fatalf("after %d changes: fits is %v, and %v says why not", i, c.Fits(asked, n.Name), o.fits(asked, n))
		}
	}
}

// TestUntold checks that unknown resources mean no room, unless the option says
// otherwise, and that pods with invalid requests fit nowhere, with a message.
func TestUntold(t *testing.T) {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n"}}
	p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "p"}}
	for _, untold := range []bool{false, true} {
		c := placement.New(&placement.Options{RoomUntold: untold})
		if err := c.SetNode(n); err != nil {
			t.Fatal(err)
		}
		if got := c.Fits(p, "n"); got != untold {
			t.Errorf("room untold %v: fits is %v (%v)", untold, got, c.Evaluate(p, "n"))
		}
	}
	c := placement.New(nil)
	bad := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n"}, Status: fairlead.NodeStatus{Allocatable: map[string]string{"cpu": "much", "pods": "3"}}}
	if err := c.SetNode(bad); err == nil || err.Error() != `node n: status.allocatable.cpu: "much" is not a quantity: "much" is neither a suffix such as m, k, Mi nor a power of ten such as e3` {
		t.Error(err)
	}
	p.Spec.Containers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"cpu": "1x"}}}}
	why := c.Evaluate(p, "n")
	if len(why) != 1 || why[0].Filter != placement.Invalid || c.Fits(p, "n") {
		t.Error(why)
	}
	if why := c.Evaluate(p, "other"); len(why) != 1 || c.Fits(p, "other") {
		t.Error(why)
	}
}
