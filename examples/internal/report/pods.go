package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/lifecycle"
)

// embedded is an Input as a live page contains it: 150,000 pods would be most of the page,
// so they are stored beside their situation, grouped by kind, and what the snapshot and the situation
// have in common is stored once.
type embedded struct {
	Input
	Pods *pods `json:"pods"`
	// Shared says which lists of the situation are those of the snapshot, and not stored in it.
	Shared shared `json:"shared,omitzero"`
}

// shared says which lists two readings of a cluster have in common.
type shared struct {
	Nodes, Pods, Budgets, Machines, Pools, Operators bool
}

// embed returns what a page contains of an input.
func embed(in *Input) (*embedded, error) {
	e := &embedded{Input: *in}
	if in.Situation == nil {
		return e, nil
	}
	s := *in.Situation
	if !slices.ContainsFunc(s.Machines, func(m lifecycle.Machine) bool { return m.Deleting() }) {
		e.Around = machines.Around{}
	}
	var err error
	e.Pods, err = sumUp(s.Pods)
	if in.Snapshot != nil {
		e.share(&s)
	}
	s.Pods, e.Situation = nil, &s
	return e, err
}

// share leaves out of the situation what the snapshot has, and the pods of the snapshot.
func (e *embedded) share(s *plan.Situation) {
	all := e.Snapshot
	e.Shared = shared{
		Nodes: same(s.Nodes, all.Nodes.Items), Pods: s.Pods != nil && len(s.Pods) == len(all.Pods.Items), Budgets: same(s.Budgets, all.Budgets.Items),
		Machines: same(s.Machines, all.Machines.Items), Pools: same(s.Pools, all.Pools.Items), Operators: same(s.ClusterOperators, all.ClusterOperators.Items),
	}
	if e.Shared.Nodes {
		s.Nodes = nil
	}
	if e.Shared.Budgets {
		s.Budgets = nil
	}
	if e.Shared.Machines {
		s.Machines = nil
	}
	if e.Shared.Pools {
		s.Pools = nil
	}
	if e.Shared.Operators {
		s.ClusterOperators = nil
	}
	if e.Shared.Pods {
		c := *all
		c.Pods = all.Pods.SetItems(nil)
		e.Snapshot = &c
	}
}

// same reports whether two lists are one, and not empty.
func same[T any](a, b []T) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// input returns the input with its pods.
func (e *embedded) input() (*Input, error) {
	if e.Situation == nil || e.Pods == nil {
		return &e.Input, nil
	}
	all, err := e.Pods.each()
	if err != nil {
		return nil, err
	}
	s := e.Situation
	s.Pods = all
	if e.Snapshot == nil {
		return &e.Input, nil
	}
	if e.Shared.Pods {
		e.Snapshot = e.Snapshot.Changed(func(c *snapshot.Snapshot) { c.Pods = c.Pods.SetItems(all) })
		s.Pods = e.Snapshot.Pods.Items
	}
	if e.Shared.Nodes {
		s.Nodes = e.Snapshot.Nodes.Items
	}
	if e.Shared.Budgets {
		s.Budgets = e.Snapshot.Budgets.Items
	}
	if e.Shared.Machines {
		s.Machines = e.Snapshot.Machines.Items
	}
	if e.Shared.Pools {
		s.Pools = e.Snapshot.Pools.Items
	}
	if e.Shared.Operators {
		s.ClusterOperators = e.Snapshot.ClusterOperators.Items
	}
	return &e.Input, nil
}

// pods are pods grouped by kind: those of a workload differ in their names, nodes and times.
// UIDs are generated again, and times are in seconds, as in the API.
type pods struct {
	Kinds []fairlead.Pod `json:"kinds"` // without the contents of the columns
	Nodes []string       `json:"nodes"` // the first is "", for pods without a node

	// Columns: one entry for each pod.
	Kind  []int     `json:"kind"`  // index in Kinds
	Node  []int     `json:"node"`  // index in Nodes
	Name  []string  `json:"name"`  // in its namespace
	Times [][]int64 `json:"times"` // the creation, the start if there is one, and those of conditions; null where none is known
}

// sumUp sums up pods.
func sumUp(all []fairlead.Pod) (*pods, error) {
	s := &pods{Nodes: []string{""}}
	kinds, nodes := map[string]int{}, map[string]int{"": 0}
	for i := range all {
		p, seconds := common(&all[i])
		key, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		kind, ok := kinds[string(key)]
		if !ok {
			kind, kinds[string(key)] = len(s.Kinds), len(s.Kinds)
			s.Kinds = append(s.Kinds, *p)
		}
		on := all[i].Spec.NodeName
		node, ok := nodes[on]
		if !ok {
			node, nodes[on] = len(s.Nodes), len(s.Nodes)
			s.Nodes = append(s.Nodes, on)
		}
		s.Kind, s.Node = append(s.Kind, kind), append(s.Node, node)
		s.Name, s.Times = append(s.Name, all[i].Name), append(s.Times, seconds)
	}
	return s, nil
}

// common returns a pod without its individual fields, and its times.
func common(pod *fairlead.Pod) (p *fairlead.Pod, seconds []int64) {
	own := *pod
	p = &own
	p.Name, p.Spec.NodeName, p.ResourceVersion = "", "", ""
	if p.UID != "" {
		p.UID = "uid"
	}
	p.Annotations = maps.Clone(p.Annotations)
	maps.DeleteFunc(p.Annotations, func(key, _ string) bool { return ofNetwork(key) })
	p.Status.Conditions = append([]fairlead.Condition(nil), p.Status.Conditions...)
	if start := p.Status.StartTime; start != nil {
		p.Status.StartTime = new(*start)
	}
	known := false
	for _, t := range times(p) {
		if seconds = append(seconds, 0); !t.IsZero() {
			seconds[len(seconds)-1], known = t.Unix(), true
		}
		*t = time.Time{}
	}
	if !known {
		seconds = nil
	}
	return p, seconds
}

// ofNetwork reports whether an annotation contains addresses from a network plugin, which no
// engine reads.
func ofNetwork(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "k8s.ovn.org" || domain == "k8s.v1.cni.cncf.io" || domain == "cni.projectcalico.org"
}

// times returns where the times of a pod are.
func times(p *fairlead.Pod) []*time.Time {
	list := []*time.Time{&p.CreationTimestamp}
	if p.Status.StartTime != nil {
		list = append(list, p.Status.StartTime)
	}
	for i := range p.Status.Conditions {
		list = append(list, &p.Status.Conditions[i].LastTransitionTime)
	}
	return list
}

// each returns the pods.
func (s *pods) each() ([]fairlead.Pod, error) {
	n := len(s.Kind)
	if len(s.Node) != n || len(s.Name) != n || len(s.Times) != n {
		return nil, fmt.Errorf("pods: the columns have different lengths")
	}
	all := make([]fairlead.Pod, n)
	for i := range all {
		kind, node := s.Kind[i], s.Node[i]
		if kind < 0 || kind >= len(s.Kinds) || node < 0 || node >= len(s.Nodes) {
			return nil, fmt.Errorf("pods: pod %d has a kind or a node that is not there", i)
		}
		p := &all[i]
		*p = s.Kinds[kind]
		p.Name, p.Spec.NodeName = s.Name[i], s.Nodes[node]
		if p.UID != "" {
			p.UID = fmt.Sprint("uid-", i)
		}
		if s.Times[i] == nil {
			continue
		}
		p.Status.Conditions = append([]fairlead.Condition(nil), p.Status.Conditions...)
		if start := p.Status.StartTime; start != nil {
			p.Status.StartTime = new(*start)
		}
		list := times(p)
		if len(list) != len(s.Times[i]) {
			return nil, fmt.Errorf("pods: pod %d has %d times, not %d", i, len(s.Times[i]), len(list))
		}
		for k, t := range list {
			if at := s.Times[i][k]; at != 0 {
				*t = time.Unix(at, 0).UTC()
			}
		}
	}
	return all, nil
}
