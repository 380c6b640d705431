package fleet

import (
	"iter"
	"slices"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// Matcher knows the taints of the nodes and the tolerations of the pods of a
// fleet, by name, and answers what they mean for each other from a table. Nodes
// with the same taints form one class, and so do pods with the same tolerations,
// in any order and for any time; the table has one cell for each pair of classes.
//
//   - Its methods may be called from several goroutines.
//   - A query costs a look-up of each name, and allocates nothing; in a [Row] it
//     costs a few nanoseconds per node.
//   - Adding a node or pod of an existing class costs one look-up; the first of
//     its class is compared with every class of the other kind. A class without
//     members is forgotten.
//   - It reads only lists of taints and tolerations of nodes and pods, and copies
//     one for each class.
//
// The zero value is not usable; use [NewMatcher].
type Matcher struct {
	options taints.Options
	limit   int

	mu     sync.RWMutex
	nodes  members
	pods   members
	stride int              // cells from one row to the next
	table  []taints.Verdict // one row for each class of pods; nil beyond the limit
	lent   bool             // in use by a Row: copied before a change
}

// Options say how a Matcher works. The zero value, and a nil pointer, mean the
// defaults.
type Options struct {
	taints.Options
	// MaxCells is how many cells the table may have, of two bytes each; 0 means 32
	// Mi. Above that there is no table: answers are the same, and cost as much as
	// [taints.Evaluate].
	MaxCells int
}

// NewMatcher returns a Matcher without nodes and pods.
func NewMatcher(o *Options) *Matcher {
	m := &Matcher{limit: 32 << 20}
	if o != nil {
		m.options = o.Options
		if o.MaxCells > 0 {
			m.limit = o.MaxCells
		}
	}
	m.nodes.init()
	m.pods.init()
	m.grow()
	return m
}

// SetNode adds a node, or gives it other taints. A node that is unschedulable
// counts as one with the taint for that.
func (m *Matcher) SetNode(name string, list []fairlead.Taint, unschedulable bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes.key.taints(list, unschedulable)
	if class, fresh := m.nodes.assign(name); fresh {
		c := &m.nodes.classes[class]
		c.taints, c.unschedulable = slices.Clone(list), unschedulable
		m.column(class)
	}
}

// DeleteNode forgets a node.
func (m *Matcher) DeleteNode(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes.remove(name)
}

// SetPod adds a pod, or gives it other tolerations. The name is anything that
// identifies a pod, such as "namespace/name" or a UID.
func (m *Matcher) SetPod(name string, tolerations []fairlead.Toleration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setPod(name, tolerations)
}

func (m *Matcher) setPod(name string, tolerations []fairlead.Toleration) (class int32) {
	m.pods.key.tolerations(tolerations, m.options.ComparisonOperators)
	class, fresh := m.pods.assign(name)
	if fresh {
		m.pods.classes[class].tolerations = slices.Clone(tolerations)
		m.row(class)
	}
	return class
}

// DeletePod forgets a pod.
func (m *Matcher) DeletePod(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pods.remove(name)
}

// Verdict returns what the taints of a node mean for a pod, as [taints.Evaluate]
// does, and false if one of the two is not known.
func (m *Matcher) Verdict(pod, node string) (v taints.Verdict, known bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, n := m.pods.class(pod), m.nodes.class(node)
	if p == 0 || n == 0 {
		return v, false
	}
	if m.table != nil {
		return m.table[int(p)*m.stride+int(n)], true
	}
	return m.evaluate(p, n), true
}

// Row returns what all nodes mean for a pod, and false if the pod is not known.
// For many nodes, that is faster than Verdict.
func (m *Matcher) Row(pod string) (r Row, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	class := m.pods.class(pod)
	if class == 0 {
		return r, false
	}
	return m.rowOf(class), true
}

// RowFor returns what all nodes mean for a pod that is not kept, such as the one
// being scheduled, by its tolerations.
func (m *Matcher) RowFor(tolerations []fairlead.Toleration) Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pods.key.tolerations(tolerations, m.options.ComparisonOperators)
	if class, there := m.pods.named[string(m.pods.key.bytes)]; there {
		return m.rowOf(class)
	}
	cells := make([]taints.Verdict, len(m.nodes.classes))
	cells[0] = nobody
	for node := 1; node < len(cells); node++ {
		n := &m.nodes.classes[node]
		cells[node] = taints.EvaluateLists(tolerations, n.taints, n.unschedulable, &m.options)
	}
	return Row{cells, m.nodes.lend()}
}

// rowOf returns the row of a class of pods.
func (m *Matcher) rowOf(pod int32) Row {
	if m.table != nil {
		m.lent = true
		return Row{m.table[int(pod)*m.stride : (int(pod)+1)*m.stride], m.nodes.lend()}
	}
	cells := make([]taints.Verdict, len(m.nodes.classes))
	for node := range cells {
		cells[node] = m.evaluate(pod, int32(node))
	}
	return Row{cells, m.nodes.lend()}
}

// Schedulable returns on how many nodes the pod can be placed as far as taints go.
// It checks each class of nodes once.
func (m *Matcher) Schedulable(pod string) (count int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	class := m.pods.class(pod)
	if class == 0 {
		return 0
	}
	for node := range m.nodes.classes {
		if size := m.nodes.classes[node].size; size > 0 && m.cell(class, int32(node)).Schedulable() {
			count += size
		}
	}
	return count
}

// NodeClass returns the number of a node's class, which is that of all nodes with
// the same taints; 0 if the node is not known. Numbers of classes without members
// are reused.
func (m *Matcher) NodeClass(node string) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return int(m.nodes.class(node))
}

// PodClass returns the number of a pod's class, which is that of all pods whose
// tolerations, as written, match the same taints; 0 if the pod is not known.
// Numbers of classes without members are reused.
func (m *Matcher) PodClass(pod string) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return int(m.pods.class(pod))
}

// Classes returns how many classes of pods and of nodes there are.
func (m *Matcher) Classes() (pods, nodes int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.pods.named), len(m.nodes.named)
}

// Row is what all nodes meant for one pod when it was requested; it does not show
// later changes of the Matcher. Several goroutines may use it.
type Row struct {
	cells []taints.Verdict // by class of nodes
	nodes view
}

// Verdict returns what the taints of a node mean for the pod, and false if the
// node was not known. It costs a look-up of the name.
func (r *Row) Verdict(node string) (v taints.Verdict, known bool) {
	at, ok := r.nodes.at[node]
	if !ok {
		return v, false
	}
	return r.cells[r.nodes.of[at]], true
}

// Len returns the number of slots: one for each node, and those of deleted nodes
// that were not reused.
func (r *Row) Len() int { return len(r.nodes.of) }

// At returns the node in a slot, from 0, and what its taints mean for the pod. For
// an empty slot, the name is empty and the verdict allows nothing. It is the
// fastest way to iterate over many nodes.
func (r *Row) At(i int) (node string, v taints.Verdict) {
	return r.nodes.names[i], r.cells[r.nodes.of[i]]
}

// All returns all nodes with what their taints mean for the pod, in the order in
// which they were added; a node that took the slot of a deleted one comes in its
// place.
func (r *Row) All() iter.Seq2[string, taints.Verdict] {
	return func(yield func(string, taints.Verdict) bool) {
		for i, class := range r.nodes.of {
			if class != 0 && !yield(r.nodes.names[i], r.cells[class]) {
				return
			}
		}
	}
}

// nobody is the verdict on class 0.
var nobody = taints.EvaluateLists(nil, []fairlead.Taint{{Effect: fairlead.NoExecute}}, false, nil)

// evaluate compares two classes. Class 0 has no members.
func (m *Matcher) evaluate(pod, node int32) taints.Verdict {
	if pod == 0 || node == 0 {
		return nobody
	}
	n := &m.nodes.classes[node]
	return taints.EvaluateLists(m.pods.classes[pod].tolerations, n.taints, n.unschedulable, &m.options)
}

// cell returns what a class of nodes means for a class of pods.
func (m *Matcher) cell(pod, node int32) taints.Verdict {
	if m.table != nil {
		return m.table[int(pod)*m.stride+int(node)]
	}
	return m.evaluate(pod, node)
}

// row fills the cells of a class of pods.
func (m *Matcher) row(pod int32) {
	if !m.grow() {
		return
	}
	cells := m.table[int(pod)*m.stride:]
	for node := range m.nodes.classes {
		cells[node] = m.evaluate(pod, int32(node))
	}
}

// column fills the cells of a class of nodes.
func (m *Matcher) column(node int32) {
	if !m.grow() {
		return
	}
	for pod := range m.pods.classes {
		m.table[pod*m.stride+int(node)] = m.evaluate(int32(pod), node)
	}
}

// grow makes the table large enough for all classes, makes it the Matcher's own,
// and reports whether there is a table.
func (m *Matcher) grow() bool {
	rows, columns := len(m.pods.classes), len(m.nodes.classes)
	if columns > m.limit/rows {
		m.table, m.stride, m.lent = nil, 0, false
		return false
	}
	if m.table == nil || columns > m.stride || rows*m.stride > len(m.table) {
		m.rebuild(rows, columns)
	} else if m.lent {
		m.table = slices.Clone(m.table)
	}
	m.lent = false
	return true
}

// rebuild makes another table, with room for half as many more classes if the
// limit allows it. If there was no table before, it is filled.
func (m *Matcher) rebuild(rows, columns int) {
	filled := m.table != nil
	stride, height := columns+columns/2+8, rows+rows/2+8
	if stride > m.limit/height {
		stride, height = columns, rows
	}
	table := make([]taints.Verdict, stride*height)
	for pod := range rows {
		for node := range columns {
			if filled && (pod+1)*m.stride <= len(m.table) && node < m.stride {
				table[pod*stride+node] = m.table[pod*m.stride+node]
			} else {
				table[pod*stride+node] = m.evaluate(int32(pod), int32(node))
			}
		}
	}
	m.table, m.stride = table, stride
}
