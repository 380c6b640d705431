package whatif

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/placement"
)

// places finds nodes that a pod fits on, by the scheduler's filters and the room
// that earlier pods have left.
type places struct {
	nodes   []storyNode
	numbers bool
	cluster *placement.Cluster // nil until a pod is evicted
	changed []int              // nodes that have changed since they were last set in the cluster
}

// change notes that a node has changed.
func (s *places) change(i int) {
	if s.cluster != nil {
		s.changed = append(s.changed, i)
	}
}

// load makes the cluster.
func (s *places) load() {
	s.cluster = placement.New(&placement.Options{RoomUntold: true, ComparisonOperators: s.numbers})
	for i := range s.nodes {
		s.set(i)
		for j := range s.nodes[i].pods {
			_ = s.cluster.Add(&s.nodes[i].pods[j]) // what cannot be read requests nothing
		}
	}
}

// set updates a node in the cluster.
func (s *places) set(i int) {
	n := copyNode(s.nodes[i].node)
	_ = s.cluster.SetNode(&n) // a quantity that cannot be read counts as no room
}

// leave removes a pod from its node. It is called before the pod is forgotten.
func (s *places) leave(p *fairlead.Pod) {
	if s.cluster == nil {
		s.load()
	}
	for _, i := range s.changed {
		s.set(i)
	}
	s.changed = s.changed[:0]
	s.cluster.Remove(p)
}

// move puts a replacement of an evicted pod on the first node that it fits on, and
// reports whether there is one.
func (s *places) move(p *fairlead.Pod) bool {
	node, ok := s.cluster.First(p, func(n *fairlead.Node) bool {
		return n.Name != p.Spec.NodeName && n.DeletionTimestamp == nil && n.NotReady() == nil
	})
	if !ok {
		return false
	}
	other := *p
	other.Spec.NodeName = node.Name
	_ = s.cluster.Add(&other) // its requests were read before
	return true
}

// storyBudgets are the disruption budgets of a story.
type storyBudgets struct {
	list  []fairlead.PodDisruptionBudget // with their present numbers
	index *object.Budgets
}

func (b *storyBudgets) init(c *taints.Cluster, now time.Time) {
	b.list = slices.Clone(c.Budgets)
	b.index, _ = object.NewBudgets(b.list)
	pods := make([][]*fairlead.Pod, len(b.list))
	for i := range c.Pods {
		for _, of := range b.index.Of(&c.Pods[i], nil) {
			pods[of] = append(pods[of], &c.Pods[i])
		}
	}
	for i := range b.list {
		if status, err := b.list[i].Measure(pods[i], nil, now); err == nil {
			status.ObservedGeneration = b.list[i].Generation
			b.list[i].Status = status
		}
	}
}

// refuse returns the budgets that do not allow the eviction of a pod now, as
// "namespace/name".
func (b *storyBudgets) refuse(p *fairlead.Pod) []string {
	var of []*fairlead.PodDisruptionBudget
	var names []string
	for _, i := range b.index.Of(p, nil) {
		of = append(of, b.index.At(i))
		names = append(names, b.index.At(i).ObjectMeta.String())
	}
	if object.EvaluateEviction(p, of...).Allows() {
		return nil
	}
	return names
}

// add counts a pod as healthy, or no longer.
func (b *storyBudgets) add(p *fairlead.Pod, n int) {
	for _, i := range b.index.Of(p, nil) {
		s := &b.list[i].Status
		s.CurrentHealthy += n
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
}
