package report

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// choice is a change that a live page offers.
type choice struct {
	ID    string   `json:"id"`    // a field of Change, or a diagnosis.What
	Says  string   `json:"says"`  // the change, before the name
	Names []string `json:"names"` // of what can be changed, those first that need it most
}

// choices lists the changes that can be tried, those without a name left out.
func (r *Report) choices(in *Input) ([]choice, error) {
	packages, err := in.packages()
	if err != nil {
		return nil, err
	}
	var all []choice
	add := func(id, says string, names []string) {
		if len(names) > 0 {
			all = append(all, choice{id, says, names})
		}
	}
	if in.Snapshot != nil {
		s := in.Situation
		add(string(diagnosis.BudgetFixed), "let a budget allow one disruption:", budgets(s.Budgets))
		add(string(diagnosis.OneMore), "run one more pod of", r.scalable())
		add(string(diagnosis.Unpaused), "let a paused pool go on:", r.paused())
		add(string(diagnosis.Uncordoned), "uncordon node", nodes(s.Nodes, func(n *fairlead.Node) bool { return n.Spec.Unschedulable }))
		add(string(diagnosis.NodeBack), "bring node back", nodes(s.Nodes, func(n *fairlead.Node) bool { return n.NotReady() != nil }))
		add(string(diagnosis.NodeLost), "lose node", nodes(s.Nodes, func(n *fairlead.Node) bool { return n.NotReady() == nil }))
		add(string(diagnosis.ZoneLost), "lose zone", zones(s.Nodes))
		add(string(diagnosis.CatalogBack), "let a catalog answer:", in.catalogs())
	}
	if r.Update != nil {
		var names []string
		for _, release := range r.Update.Releases {
			if release != r.Update.Current {
				names = append(names, release)
			}
		}
		add("to", "update to", names)
		names = nil
		for i := range r.Update.Risks {
			names = append(names, r.Update.Risks[i].Name)
		}
		add("accept", "accept risk", names)
	}
	if r.Nodes != nil {
		add("drain", "drain node", r.Nodes.Name)
	}
	add("subscribe", "install operator", packages)
	return all, nil
}

// budgets names the budgets, those first that allow nothing.
func budgets(all []fairlead.PodDisruptionBudget) (names []string) {
	order := make([]*fairlead.PodDisruptionBudget, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *fairlead.PodDisruptionBudget) int {
		return cmp.Compare(min(a.Status.DisruptionsAllowed, 1), min(b.Status.DisruptionsAllowed, 1))
	})
	for _, b := range order {
		names = append(names, b.Namespace+"/"+b.Name)
	}
	return names
}

// scalable names the Deployments and StatefulSets.
func (r *Report) scalable() (names []string) {
	w := r.Workloads
	if w == nil {
		return nil
	}
	for i, name := range w.Name {
		if kind := w.Kinds[w.Kind[i]]; kind == "Deployment" || kind == "StatefulSet" {
			names = append(names, kind+" "+w.Namespaces[w.Namespace[i]]+"/"+name)
		}
	}
	return names
}

// paused names the pools that are paused.
func (r *Report) paused() (names []string) {
	for i := range r.Pools {
		if r.Pools[i].Paused {
			names = append(names, r.Pools[i].Name)
		}
	}
	return names
}

// nodes names the nodes that are chosen.
func nodes(all []fairlead.Node, chosen func(*fairlead.Node) bool) (names []string) {
	for i := range all {
		if chosen(&all[i]) {
			names = append(names, all[i].Name)
		}
	}
	return names
}

// zones names the zones of nodes.
func zones(all []fairlead.Node) (names []string) {
	for i := range all {
		if z := all[i].Labels[diagnosis.ZoneLabel]; z != "" {
			names = append(names, z)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// catalogs names the catalogs, those first that do not answer.
func (in *Input) catalogs() (names []string) {
	var rest []string
	for i := range in.Snapshot.CatalogSources.Items {
		c := &in.Snapshot.CatalogSources.Items[i]
		if name := c.Namespace + "/" + c.Name; c.Status.ConnectionState != nil && c.Status.ConnectionState.LastObservedState == source.StateReady {
			rest = append(rest, name)
		} else {
			names = append(names, name)
		}
	}
	return append(names, rest...)
}

// supposition reads the name of what is changed.
func (t *Tried) supposition() diagnosis.Supposition {
	x := diagnosis.Supposition{What: t.What, Name: t.Name}
	if kind, name, ok := strings.Cut(t.Name, " "); ok && t.What == diagnosis.OneMore {
		x.Kind, x.Name = kind, name
	}
	if namespace, name, ok := strings.Cut(x.Name, "/"); ok {
		x.Namespace, x.Name = namespace, name
	}
	return x
}

// String says what is tried; empty for nothing.
func (c *Change) String() string {
	var all []string
	for i := range c.Suppose {
		x := c.Suppose[i].supposition()
		all = append(all, x.String())
	}
	for _, n := range c.Drain {
		all = append(all, "node "+n+" is drained")
	}
	for _, n := range c.Accept {
		all = append(all, "risk "+n+" is accepted")
	}
	if c.To != "" {
		all = append(all, "the cluster is updated to "+c.To)
	}
	for _, n := range c.Subscribe {
		all = append(all, "operator "+n+" is installed")
	}
	return words.List(all, "and", 6)
}

// suppose changes the cluster, and asks the diagnosis about it.
func (c *Change) suppose(in *Input) error {
	if in.Snapshot == nil {
		if len(c.Suppose) > 0 {
			return errors.New("this page has no snapshot of the cluster: make it again with -live")
		}
		return nil
	}
	at := in.Looked
	if at.IsZero() {
		at = cmp.Or(in.Snapshot.Clock.At, time.Now().UTC())
	}
	if len(c.Suppose) > 0 {
		var list []diagnosis.Supposition
		for i := range c.Suppose {
			list = append(list, c.Suppose[i].supposition())
		}
		after, err := diagnosis.Suppose(in.Snapshot, at, list)
		if err != nil {
			return err
		}
		in.Snapshot = after
		fresh, s := plan.FromSnapshot(after), *in.Situation
		if fresh.Nodes != nil {
			s.Nodes = fresh.Nodes
		}
		if fresh.Pods != nil {
			s.Pods, s.Replicas = fresh.Pods, fresh.Replicas
		}
		if len(fresh.Members) > 0 {
			s.Members = fresh.Members
		}
		if fresh.Budgets != nil {
			s.Budgets = fresh.Budgets
		}
		if fresh.Pools != nil {
			s.Pools = fresh.Pools
		}
		in.Situation = &s
	}
	in.Diagnosis = diagnosis.Diagnose(in.Snapshot, at, &diagnosis.Options{Drain: c.Drain})
	return nil
}

// compared is a first screen before and after a change.
type compared struct {
	Says string // the difference, in a sentence
	Tone Tone   // of the first screen after the change
	Rows []row
}

// row is a cell of the first screen, before and after.
type row struct {
	Name          string
	Before, After []string
	Changed       bool
}

// compare puts two first screens side by side.
func compare(what string, before, after *Verdict) *compared {
	c := &compared{Says: changes(what, before, after), Tone: after.tone}
	add := func(name string, was, is []string) {
		if len(was)+len(is) > 0 {
			c.Rows = append(c.Rows, row{name, was, is, !slices.Equal(was, is)})
		}
	}
	add("Verdict", []string{before.Word}, []string{after.Word})
	add("Cause", before.First(), after.First())
	for i := range after.Stages {
		s := &after.Stages[i]
		add(s.Name, before.stage(s.Name), after.stage(s.Name))
	}
	add("Do", before.texts(), after.texts())
	add("Not known", before.gaps(), after.gaps())
	return c
}

// stage is the row of a stage, as a list of one.
func (v *Verdict) stage(name string) []string {
	for i := range v.Stages {
		if s := &v.Stages[i]; s.Name == name {
			return []string{strings.TrimSpace(s.Count + " " + s.Says)}
		}
	}
	return nil
}

// texts are the steps of the first screen.
func (v *Verdict) texts() (list []string) {
	for i := range v.Now() {
		list = append(list, v.Do[i].Text)
	}
	return list
}

// gaps is what is not known, of the first screen.
func (v *Verdict) gaps() (list []string) {
	for _, g := range v.Gaps() {
		list = append(list, g.What)
	}
	return list
}

// changes says in a sentence what a change does.
func changes(what string, before, after *Verdict) string {
	gone, came := difference(waits{before.Waits}.causes(), waits{after.Waits}.causes())
	text := "If " + what + ", the cluster stays " + after.Word
	if before.Word != after.Word {
		text = "If " + what + ", the cluster goes from " + before.Word + " to " + after.Word
	}
	var parts []string
	if len(came) > 0 {
		parts = append(parts, "then "+words.First(waits{after.Waits}.say(came), 2))
	}
	switch left := len(waits{after.Waits}.causes()); {
	case len(gone) > 0 && left == 0:
		parts = append(parts, "nothing that is known is wrong any more")
	case len(gone) > 0:
		parts = append(parts, words.Plural(len(gone), "this is no cause any more: ", "these are no causes any more: ")+words.First(waits{before.Waits}.say(gone), 2))
	case len(came) == 0:
		parts = append(parts, "its causes are as before")
	}
	return text + ": " + strings.Join(parts, "; ") + "."
}

// waits is what waits for what.
type waits struct{ *diagnosis.Graph }

// causes are the IDs of the causes.
func (w waits) causes() (ids []string) {
	all := w.Causes()
	for i := range all {
		ids = append(ids, all[i].Nodes...)
	}
	return ids
}

// say says what is wrong with nodes of the graph.
func (w waits) say(ids []string) (list []string) {
	for _, id := range ids {
		list = append(list, w.Node(id).Says)
	}
	return list
}
