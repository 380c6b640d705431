package snapshot

import (
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// indexes are built once, when the snapshot is complete.
type indexes struct {
	pods     map[string][]*fairlead.Pod
	budgets  map[*fairlead.Pod][]*fairlead.PodDisruptionBudget
	guarded  map[*fairlead.PodDisruptionBudget][]*fairlead.Pod
	machines map[string]*lifecycle.Machine
	csvs     map[string]*resource.ClusterServiceVersion
	owned    map[string][]*Ref
}

// PodsOn returns the pods that are bound to a node, by namespace and name; with "" those that
// are bound to none.
func (s *Snapshot) PodsOn(node string) []*fairlead.Pod { return s.index.pods[node] }

// BudgetsOf returns the budgets that select a pod of the snapshot, by name.
func (s *Snapshot) BudgetsOf(p *fairlead.Pod) []*fairlead.PodDisruptionBudget {
	return s.index.budgets[p]
}

// PodsOf returns the pods that a budget of the snapshot selects, by name.
func (s *Snapshot) PodsOf(b *fairlead.PodDisruptionBudget) []*fairlead.Pod {
	return s.index.guarded[b]
}

// MachineOf returns the machine of a node; nil if none is known.
func (s *Snapshot) MachineOf(node string) *lifecycle.Machine { return s.index.machines[node] }

// CSVOf returns the CSV that is installed for a subscription; nil if it is not known.
func (s *Snapshot) CSVOf(sub *resource.Subscription) *resource.ClusterServiceVersion {
	return s.index.csvs[key(sub.Namespace, sub.Status.InstalledCSV)]
}

// Owned returns what an object owns, by the UID of the object: the refs of all objects of the
// snapshot that name it as an owner, in the order of the kinds.
func (s *Snapshot) Owned(uid string) []*Ref { return s.index.owned[uid] }

func (s *Snapshot) build() {
	x := &s.index
	x.pods = map[string][]*fairlead.Pod{}
	for i := range s.Pods.Items {
		p := &s.Pods.Items[i]
		x.pods[p.Spec.NodeName] = append(x.pods[p.Spec.NodeName], p)
	}
	s.buildBudgets()
	x.machines = map[string]*lifecycle.Machine{}
	for i := range s.Machines.Items {
		if m := &s.Machines.Items[i]; m.Status.NodeRef != nil {
			x.machines[m.Status.NodeRef.Name] = m
		}
	}
	x.csvs = map[string]*resource.ClusterServiceVersion{}
	for i := range s.CSVs.Items {
		c := &s.CSVs.Items[i]
		x.csvs[key(c.Namespace, c.Name)] = c
	}
	x.owned = map[string][]*Ref{}
	for _, l := range s.tables() {
		refs := l.refs()
		for i := range refs {
			m := metaOf(l.at(i))
			if m == nil {
				continue
			}
			for _, o := range m.OwnerReferences {
				x.owned[o.UID] = append(x.owned[o.UID], &refs[i])
			}
		}
	}
}

func (s *Snapshot) buildBudgets() {
	x := &s.index
	x.budgets, x.guarded = map[*fairlead.Pod][]*fairlead.PodDisruptionBudget{}, map[*fairlead.PodDisruptionBudget][]*fairlead.Pod{}
	index, _ := object.NewBudgets(s.Budgets.Items)
	var selected []int32
	for i := range s.Pods.Items {
		p := &s.Pods.Items[i]
		selected = index.Of(p, selected[:0])
		for _, at := range selected {
			b := &s.Budgets.Items[at]
			x.budgets[p] = append(x.budgets[p], b)
			x.guarded[b] = append(x.guarded[b], p)
		}
	}
}

// metaOf returns the metadata of an item, a pointer to one of the types of the lists.
func metaOf(item any) *fairlead.ObjectMeta {
	m := reflect.ValueOf(item).Elem().FieldByName("ObjectMeta")
	if !m.IsValid() {
		return nil
	}
	return m.Addr().Interface().(*fairlead.ObjectMeta)
}

// tables returns the lists of all kinds: those with one of their own, then the others by name.
func (s *Snapshot) tables() []table {
	all := make([]table, 0, len(kinds)+len(s.Others))
	for i := range kinds {
		all = append(all, kinds[i].list(s))
	}
	names := make([]string, 0, len(s.Others))
	for name := range s.Others {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		all = append(all, s.Others[name])
	}
	return all
}
