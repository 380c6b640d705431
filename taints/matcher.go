package taints

import (
	"iter"
	"slices"
)

// Matcher knows the taints of the nodes and the tolerations of the pods of a
// fleet, and answers what they mean for each other from a table. Nodes with the
// same taints are one class, and so are pods with the same tolerations, in
// whatever order and for however long; the table has one cell for each two
// classes.
//
//   - A question costs a few nanoseconds and allocates nothing. Any number of
//     goroutines may ask at once while nobody changes anything.
//   - A node or pod of a class that is there costs one look-up; the first of its
//     class is compared with every class of the other kind. A class without
//     members is forgotten.
//   - Nothing that was passed in is kept.
//   - To set what was removed adds it again. A number that was never given makes
//     the methods panic, as an index out of range does.
//
// The zero value is not ready; use [NewMatcher].
type Matcher struct {
	numbers bool
	limit   int
	nodes   members
	pods    members
	stride  int       // cells from one row to the next
	table   []Verdict // one row for each class of pods; nil beyond the limit
}

// MatcherOptions say how a Matcher works. The zero value, and a nil pointer, mean
// the defaults.
type MatcherOptions struct {
	Options
	// MaxCells is how many cells the table may have, of two bytes each; 0 means
	// 32 Mi. Beyond it there is no table: answers are the same, and cost as much
	// as [Judge].
	MaxCells int
}

// NodeID is a node's number in a Matcher. Numbers of removed nodes are given
// again.
type NodeID int32

// PodID is a pod's number in a Matcher. Numbers of removed pods are given again.
type PodID int32

// NewMatcher returns a Matcher without nodes and pods.
func NewMatcher(o *MatcherOptions) *Matcher {
	m := &Matcher{limit: 32 << 20}
	if o != nil {
		m.numbers = o.ComparisonOperators
		if o.MaxCells > 0 {
			m.limit = o.MaxCells
		}
	}
	m.nodes.init()
	m.pods.init()
	m.grow()
	return m
}

// AddNode takes in a node and returns its number, the least that is free.
func (m *Matcher) AddNode(n *Node) NodeID {
	id := m.nodes.add()
	m.SetNode(NodeID(id), n)
	return NodeID(id)
}

// SetNode gives a node other taints.
func (m *Matcher) SetNode(id NodeID, n *Node) {
	m.nodes.key.taints(n)
	if class, fresh := m.nodes.assign(int32(id)); fresh {
		c := &m.nodes.classes[class]
		c.taints, c.unschedulable = slices.Clone(n.Spec.Taints), n.Spec.Unschedulable
		m.column(class)
	}
}

// RemoveNode forgets a node. No pod can be placed on it any more.
func (m *Matcher) RemoveNode(id NodeID) { m.nodes.remove(int32(id)) }

// AddPod takes in a pod and returns its number, the least that is free.
func (m *Matcher) AddPod(p *Pod) PodID {
	id := m.pods.add()
	m.SetPod(PodID(id), p)
	return PodID(id)
}

// SetPod gives a pod other tolerations.
func (m *Matcher) SetPod(id PodID, p *Pod) {
	m.pods.key.tolerations(p.Spec.Tolerations, m.numbers)
	if class, fresh := m.pods.assign(int32(id)); fresh {
		m.pods.classes[class].tolerations = slices.Clone(p.Spec.Tolerations)
		m.row(class)
	}
}

// RemovePod forgets a pod. It can be placed nowhere any more.
func (m *Matcher) RemovePod(id PodID) { m.pods.remove(int32(id)) }

// Verdict returns what the taints of a node mean for a pod, as [Judge] does.
func (m *Matcher) Verdict(p PodID, n NodeID) Verdict {
	pod, node := m.pods.of[p], m.nodes.of[n]
	if m.table != nil {
		return m.table[int(pod)*m.stride+int(node)]
	}
	return m.judge(pod, node)
}

// Row is what all nodes mean for one pod.
type Row struct {
	cells []Verdict // by class of nodes
	of    []int32   // the class of each node
}

// Row returns what all nodes mean for a pod, until something is changed: where
// many nodes are asked about, that is faster than Verdict. Without a table it
// compares the pod with every class of nodes, and allocates.
func (m *Matcher) Row(p PodID) Row {
	pod := m.pods.of[p]
	if m.table != nil {
		return Row{m.table[int(pod)*m.stride : (int(pod)+1)*m.stride], m.nodes.of}
	}
	cells := make([]Verdict, len(m.nodes.classes))
	for node := range cells {
		cells[node] = m.judge(pod, int32(node))
	}
	return Row{cells, m.nodes.of}
}

// Verdict returns what the taints of a node mean for the pod of the row.
func (r *Row) Verdict(n NodeID) Verdict { return r.cells[r.of[n]] }

// Schedulable returns on how many nodes the pod can be placed as far as taints
// go. It looks at each class of nodes once.
func (m *Matcher) Schedulable(p PodID) int {
	row, count := m.Row(p), 0
	for class, v := range row.cells[:len(m.nodes.classes)] {
		if v.Schedulable() {
			count += m.nodes.classes[class].size
		}
	}
	return count
}

// SchedulableNodes returns the numbers of the nodes where the pod can be placed as
// far as taints go, in increasing order.
func (m *Matcher) SchedulableNodes(p PodID) iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		row := m.Row(p)
		for id := range row.of {
			if row.Verdict(NodeID(id)).Schedulable() && !yield(NodeID(id)) {
				return
			}
		}
	}
}

// NodeClass returns the number of a node's class: that of all nodes with the same
// taints. Numbers of classes without members are given again.
func (m *Matcher) NodeClass(n NodeID) int { return int(m.nodes.of[n]) }

// PodClass returns the number of a pod's class: that of all pods whose
// tolerations match the same taints by what is written. Numbers of classes
// without members are given again.
func (m *Matcher) PodClass(p PodID) int { return int(m.pods.of[p]) }

// Classes returns how many classes of pods and of nodes there are.
func (m *Matcher) Classes() (pods, nodes int) {
	return len(m.pods.named), len(m.nodes.named)
}

// judge compares two classes. Class 0 is that of what was removed.
func (m *Matcher) judge(pod, node int32) Verdict {
	if pod == 0 || node == 0 {
		return closed | evicts
	}
	n := &m.nodes.classes[node]
	return judge(m.pods.classes[pod].tolerations, n.taints, n.unschedulable, m.numbers)
}

// row fills the cells of a class of pods.
func (m *Matcher) row(pod int32) {
	if !m.grow() {
		return
	}
	cells := m.table[int(pod)*m.stride:]
	for node := range m.nodes.classes {
		cells[node] = m.judge(pod, int32(node))
	}
}

// column fills the cells of a class of nodes.
func (m *Matcher) column(node int32) {
	if !m.grow() {
		return
	}
	for pod := range m.pods.classes {
		m.table[pod*m.stride+int(node)] = m.judge(int32(pod), node)
	}
}

// grow makes the table large enough for all classes, and reports whether there
// is a table.
func (m *Matcher) grow() bool {
	rows, columns := len(m.pods.classes), len(m.nodes.classes)
	if columns > m.limit/rows {
		m.table, m.stride = nil, 0
		return false
	}
	if m.table != nil && columns <= m.stride && rows*m.stride <= len(m.table) {
		return true
	}
	m.rebuild(rows, columns)
	return true
}

// rebuild makes the table anew, with room for half as many classes again where
// the limit allows it. Without a table before, it is filled.
func (m *Matcher) rebuild(rows, columns int) {
	filled := m.table != nil
	stride, height := columns+columns/2+8, rows+rows/2+8
	if stride > m.limit/height {
		stride, height = columns, rows
	}
	table := make([]Verdict, stride*height)
	for pod := range rows {
		for node := range columns {
			if filled && (pod+1)*m.stride <= len(m.table) && node < m.stride {
				table[pod*stride+node] = m.table[pod*m.stride+node]
			} else {
				table[pod*stride+node] = m.judge(int32(pod), int32(node))
			}
		}
	}
	m.table, m.stride = table, stride
}
