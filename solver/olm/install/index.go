package install

import (
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
)

// index finds the objects of a world. Copies of CSVs are not in it.
type index struct {
	operators []*CSV                  // by name
	csvs      map[string]*CSV         // by name
	next      map[string]*CSV         // what replaces the CSV of a name, the first by name; without cycles
	crds      map[string]*CRD         // by name
	objects   map[Ref]*Object         // those of steps
	plans     []*InstallPlan          // the newest first
	brought   map[string]*InstallPlan // by CSV, the newest plan that installs it
}

func newIndex(w *World) *index {
	x := &index{
		csvs: make(map[string]*CSV), next: make(map[string]*CSV), crds: make(map[string]*CRD),
		objects: make(map[Ref]*Object), brought: make(map[string]*InstallPlan),
	}
	for _, c := range sorted(w.CSVs, func(c *CSV) string { return c.Name }) {
		if !c.Copied() {
			x.operators = append(x.operators, c)
		}
	}
	for _, c := range x.operators {
		x.csvs[c.Name] = c
		if old := c.Spec.Replaces; old != c.Name && x.next[old] == nil {
			x.next[old] = c
		}
	}
	x.breakCircles()
	for i := range w.CRDs {
		x.crds[w.CRDs[i].Name] = &w.CRDs[i]
	}
	for i := range w.Objects {
		x.objects[w.Objects[i].Ref] = &w.Objects[i]
	}
	x.plans = newestFirst(w.Plans)
	for _, p := range x.plans {
		for _, name := range p.Spec.ClusterServiceVersionNames {
			if x.brought[name] == nil {
				x.brought[name] = p
			}
		}
	}
	return x
}

// breakCircles breaks cycles of CSVs that replace each other, which manual
// edits can cause: nothing replaces the newest of them.
func (x *index) breakCircles() {
	for _, c := range x.operators {
		newest := c
		for next, left := x.next[c.Name], len(x.operators); next != nil && left > 0; next, left = x.next[next.Name], left-1 {
			if next == c {
				delete(x.next, newest.Name)
				break
			}
			if order := semverx.Tolerant(next.Spec.Version).Compare(semverx.Tolerant(newest.Spec.Version)); order > 0 || order == 0 && next.Name > newest.Name {
				newest = next
			}
		}
	}
}

// relieved reports whether a chain of successors leads to one that has
// succeeded, so that the CSV of that name is no longer needed.
func (x *index) relieved(name string) bool {
	seen := map[string]bool{name: true}
	for next := x.next[name]; next != nil && !seen[next.Name]; next = x.next[next.Name] {
		if next.Status.Phase == olm.PhaseSucceeded {
			return true
		}
		seen[next.Name] = true
	}
	return false
}

// stuck reports whether the plan that should install a CSV has failed, so that
// the CSV cannot proceed.
func (x *index) stuck(name string) bool {
	p := x.brought[name]
	return p != nil && p.Status.Phase == PlanFailed
}

// installed brings the status of a subscription up to date: a CSV that exists
// is installed. The CSVs that a subscription names may not exist, because it
// was recreated, or generated for a dependency; then it has its startingCSV, or
// what has replaced that, if it exists.
func (x *index) installed(sub *olm.Subscription, s olm.SubscriptionStatus) olm.SubscriptionStatus {
	if x.csvs[s.CurrentCSV] == nil && x.csvs[s.InstalledCSV] == nil && x.csvs[sub.Spec.StartingCSV] != nil {
		s.CurrentCSV = x.latest(sub.Spec.StartingCSV)
	}
	if x.csvs[s.CurrentCSV] != nil {
		s.InstalledCSV = s.CurrentCSV
	}
	return s
}

// latest follows the replacements of a CSV to the last one.
func (x *index) latest(name string) string {
	seen := map[string]bool{name: true}
	for next := x.next[name]; next != nil && !seen[next.Name]; next = x.next[name] {
		name = next.Name
		seen[name] = true
	}
	return name
}
