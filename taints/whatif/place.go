package whatif

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/placement"
	"github.com/fairlead/fairlead/taints"
)

// places finds nodes that take a pod, as the scheduler's filters judge it, with the
// room that is left when others have gone there before.
type places struct {
	nodes   []storyNode
	numbers bool
	cluster *placement.Cluster // nil until somebody is evicted
	changed []int              // nodes that have changed since the cluster has seen them
}

// change says that a node has changed.
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
			_ = s.cluster.Add(&s.nodes[i].pods[j]) // what cannot be read asks for nothing
		}
	}
}

// set shows the cluster a node as it is.
func (s *places) set(i int) {
	n := copyNode(s.nodes[i].node)
	_ = s.cluster.SetNode(&n) // a quantity that cannot be read is no room
}

// leave takes a pod off its node. It is called before the pod is forgotten.
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

// move puts another pod in place of one that has left on the first node that
// takes it, and reports whether there is one.
func (s *places) move(p *fairlead.Pod) bool {
	node, ok := s.cluster.First(p, func(n *fairlead.Node) bool {
		ready := n.Condition("Ready")
		return n.Name != p.Spec.NodeName && n.DeletionTimestamp == nil && (ready == nil || ready.Status == fairlead.ConditionTrue)
	})
	if !ok {
		return false
	}
	other := *p
	other.Spec.NodeName = node.Name
	_ = s.cluster.Add(&other) // its demands were read before
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

// refuse returns the budgets that do not let a pod go now, "namespace/name".
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

// add counts a pod as healthy, or not any more.
func (b *storyBudgets) add(p *fairlead.Pod, n int) {
	for _, i := range b.index.Of(p, nil) {
		s := &b.list[i].Status
		s.CurrentHealthy += n
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
}
