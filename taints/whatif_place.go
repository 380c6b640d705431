package taints

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/object"
)

// places finds nodes that take a pod.
type places struct {
	nodes   []Node
	options *Options
	known   map[string]int // what was found lately, by what pods ask for
}

// changed says that nodes have changed.
func (s *places) changed() { clear(s.known) }

// find returns the index of a node other than the given one that takes a pod, or
// -1.
func (s *places) find(p *Pod, from *Node) int {
	key := demand(p)
	if i, ok := s.known[key]; ok && (i < 0 || &s.nodes[i] != from) {
		return i
	}
	found := slices.IndexFunc(s.nodes, func(n Node) bool { return n.Name != from.Name && s.takes(&n, p) })
	if s.known == nil {
		s.known = make(map[string]int)
	}
	if found >= 0 || !s.takes(from, p) {
		s.known[key] = found
	}
	return found
}

func (s *places) takes(n *Node, p *Pod) bool {
	ready := nodeCondition(n, nodeReady)
	if ready != nil && ready.Status != object.ConditionTrue || n.Spec.Unschedulable || n.DeletionTimestamp != nil {
		return false
	}
	for key, value := range p.Spec.NodeSelector {
		if got, ok := n.Labels[key]; !ok || got != value {
			return false
		}
	}
	return FirstUntolerated(p.Spec.Tolerations, n.Spec.Taints, OnScheduling, s.options) == nil
}

// demand is what a pod asks of a node, as text.
func demand(p *Pod) string {
	var b strings.Builder
	for _, t := range p.Spec.Tolerations {
		for _, s := range []string{t.Key, string(t.Operator), t.Value, string(t.Effect)} {
			b.WriteString(strconv.Itoa(len(s)) + ":" + s)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		b.WriteString(strconv.Itoa(len(key)) + "=" + key + "=" + p.Spec.NodeSelector[key] + ";")
	}
	return b.String()
}

// storyBudgets are the disruption budgets of a story.
type storyBudgets struct {
	list  []PodDisruptionBudget // with their present numbers
	index *object.Budgets
}

func (b *storyBudgets) init(c *Cluster, now time.Time) {
	b.list = slices.Clone(c.Budgets)
	b.index, _ = object.NewBudgets(b.list)
	pods := make([][]*Pod, len(b.list))
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
func (b *storyBudgets) refuse(p *Pod) []string {
	var of []*PodDisruptionBudget
	var names []string
	for _, i := range b.index.Of(p, nil) {
		of = append(of, b.index.At(i))
		names = append(names, b.index.At(i).ObjectMeta.String())
	}
	if object.JudgeEviction(p, of...).Allows() {
		return nil
	}
	return names
}

// add counts a pod as healthy, or not any more.
func (b *storyBudgets) add(p *Pod, n int) {
	for _, i := range b.index.Of(p, nil) {
		s := &b.list[i].Status
		s.CurrentHealthy += n
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
}
