package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/object"
)

// workload is the owner of a pod.
type workload struct{ namespace, kind, name string }

// workloadOf returns the owner of a pod: its controller, the Deployment behind a
// ReplicaSet, or itself.
func workloadOf(p *fairlead.Pod) workload {
	kind, name := object.WorkloadOf(p)
	return workload{p.Namespace, kind, name}
}

// workloads counts pods by workload, and by workload and node; it returns Nodes.Pods by
// node name.
func (r *Report) workloads(s *plan.Situation) map[string]string {
	if s.Pods == nil {
		return nil
	}
	number := map[workload]int{}
	var list []workload
	for i := range s.Pods {
		w := workloadOf(&s.Pods[i])
		if _, ok := number[w]; !ok {
			number[w] = 0
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b workload) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	var namespaces, kinds numbers
	out := &Workloads{pods: len(s.Pods), Name: []string{}, Namespace: []int{}, Kind: []int{}, Budget: []int{}, Pods: make([]int, len(list)), Ready: make([]int, len(list))}
	for i, w := range list {
		number[w] = i
		out.Name = append(out.Name, w.name)
		out.Namespace = append(out.Namespace, namespaces.number(w.namespace))
		out.Kind = append(out.Kind, kinds.number(w.kind))
		out.Budget = append(out.Budget, -1)
	}
	out.Namespaces, out.Kinds = namespaces.list, kinds.list
	byNode := make(map[string]map[int]int, len(s.Nodes))
	for i := range s.Nodes {
		byNode[s.Nodes[i].Name] = map[int]int{}
	}
	sample := make([]*fairlead.Pod, len(list))
	for i := range s.Pods {
		p := &s.Pods[i]
		w := number[workloadOf(p)]
		out.Pods[w]++
		if p.Ready() {
			out.Ready[w]++
		}
		sample[w] = p
		switch on, known := byNode[p.Spec.NodeName]; {
		case known:
			on[w]++
		case p.Spec.NodeName != "":
			out.Elsewhere = countAt(out.Elsewhere, w, len(list))
		case !p.Finished():
			out.Waiting = countAt(out.Waiting, w, len(list))
		}
	}
	r.budgetsOf(s, out, sample)
	r.Workloads = out
	texts := make(map[string]string, len(byNode))
	for node, counts := range byNode {
		texts[node] = encode(counts)
	}
	return texts
}

// countAt adds 1 to element i of n counters, which are made when they are needed.
func countAt(counters []int, i, n int) []int {
	if counters == nil {
		counters = make([]int, n)
	}
	counters[i]++
	return counters
}

// budgetsOf finds the budget of each workload, by one of its pods.
func (r *Report) budgetsOf(s *plan.Situation, out *Workloads, sample []*fairlead.Pod) {
	if r.Budgets == nil {
		return
	}
	at := map[string]int{}
	for i, name := range r.Budgets.Name {
		at[r.Budgets.Namespace[i]+"/"+name] = i
	}
	byNamespace := map[string][]*fairlead.PodDisruptionBudget{}
	for i := range s.Budgets {
		b := &s.Budgets[i]
		byNamespace[b.Namespace] = append(byNamespace[b.Namespace], b)
	}
	for w, p := range sample {
		for _, b := range byNamespace[p.Namespace] {
			if i, ok := at[b.Namespace+"/"+b.Name]; ok && b.Selects(p) {
				out.Budget[w] = i
			}
		}
	}
}

// encode writes workloads and counts in the form of Nodes.Pods.
func encode(counts map[int]int) string {
	keys := make([]int, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b []byte
	last := 0
	for i, k := range keys {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(k-last), 10)
		if counts[k] > 1 {
			b = append(b, ':')
			b = strconv.AppendInt(b, int64(counts[k]), 10)
		}
		last = k
	}
	return string(b)
}
