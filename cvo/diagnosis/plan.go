package diagnosis

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
)

// Prospect is what the plan says of an update that is wanted.
type Prospect struct {
	To   string            `json:"to"`             // the release, or the minor version
	Plan *plan.Plan        `json:"plan,omitempty"` // how to get there; nil if there is no way
	Why  *plan.NoPlanError `json:"why,omitempty"`  // why not
	// Before are the steps of the plan before the first update.
	Before []plan.PlanStep `json:"before,omitempty"`
	Error  string          `json:"error,omitempty"` // why it could not be planned

	move *plan.PlanStep // the first update; nil if there is none
}

// planned returns the part of a snapshot that a plan is made from, and that no engine here reads.
func planned(s *snapshot.Snapshot) *plan.Situation {
	out := plan.FromSnapshot(s)
	subscriptions, csvs := s.Subscriptions.Known(), s.CSVs.Known()
	if subscriptions == nil && csvs == nil || out.Cluster == nil {
		return out
	}
	// What cannot be read of catalogs is an error; there are none here.
	out.Operators, _ = plan.ReadOperators(nil, &plan.Installed{Subscriptions: subscriptions, CSVs: csvs, Conditions: s.OperatorConditions.Known(), InstallPlans: s.InstallPlans.Known()})
	return out
}

// prospect asks the plan about the update that is wanted, as the world is now; nil if none is.
func (w *world) prospect() *Prospect {
	if w.to == "" || w.version == nil || w.planned == nil || w.version.Entry(w.to) != nil {
		return nil
	}
	s := *w.planned
	s.Cluster, s.ClusterOperators, s.Gates, s.Pools, s.Nodes, s.Configs = w.version, w.operators, w.gates, w.pools, w.nodes, w.configs
	s.Pods, s.Budgets, s.Replicas, s.Machines = w.pods, w.budgets, w.replicas, w.machines
	goal := &plan.Goal{Release: w.to}
	if strings.Count(w.to, ".") == 1 {
		goal = &plan.Goal{Minor: w.to}
	}
	p := &Prospect{To: w.to}
	var err error
	p.Plan, err = plan.Make(context.Background(), &s, goal, &plan.Policy{Accept: w.accepted})
	if err != nil && !errors.As(err, &p.Why) {
		p.Error = err.Error()
	}
	if p.Plan != nil {
		for _, step := range p.Plan.Steps {
			if step.Kind == plan.MoveCluster {
				p.move = &step
				break
			}
			p.Before = append(p.Before, step)
		}
	}
	return p
}

// updateWanted adds the update that is wanted, with what rules it out, or what its plan does before it.
func (b *builder) updateWanted() {
	if b.prospects = b.prospect(); b.prospects == nil {
		return
	}
	p := b.prospects
	x := Node{Kind: "Update", Name: p.To, State: Waiting, Reason: UpdateWanted, Says: "the update to " + p.To + " is not started", Owner: "administrator"}
	id := ID(x.Kind, "", x.Name)
	if b.have[id] {
		return // it was requested, and is refused
	}
	switch {
	case p.Error != "":
		x.Says += ": it cannot be planned: " + p.Error
	case p.Why != nil:
		for i := range p.Why.Facts {
			b.wait(id, b.ruledOut(p, i), "RuledOut", Derived)
		}
	default:
		x.State = Going // whoever wants it starts it
		for i := range p.Before {
			x.State = Waiting
			b.wait(id, b.stepBefore(id, &p.Before[i]), "Before", Derived)
		}
		for i := range p.tasks() {
			x.State = Waiting
			b.wait(id, b.add(taskBefore(id, p.To, &p.move.First[i])), "Before", Derived)
		}
	}
	b.add(x)
}

// tasks returns what has to be done right before the first update so that it is accepted.
func (p *Prospect) tasks() (all []plan.Task) {
	if p.move == nil {
		return nil
	}
	end := 0
	for end < len(p.move.First) && slices.Contains([]plan.TaskKind{plan.ClearRequest, plan.SetChannel, plan.ProvideSignature}, p.move.First[end].Kind) {
		end++
	}
	return p.move.First[:end]
}

// taskBefore is a task as a node of the graph.
func taskBefore(update, to string, t *plan.Task) Node {
	return Node{
		ID: update + "#" + string(t.Kind), Kind: "Update", Name: to, State: Faulty, Reason: string(t.Kind), Owner: "administrator",
		Says: "before the update to " + to + " is accepted: " + t.What, do: t.What, command: t.Command, Alike: t.Channel,
	}
}

// known returns the ID of an object of which something is known to be wrong, by how plans name it: as
// namespace/name or name; or "".
func (b *builder) known(subject string, kinds ...string) string {
	for _, kind := range kinds {
		namespace, name, ok := strings.Cut(subject, "/")
		if !ok {
			namespace, name = "", subject
		}
		if id := ID(kind, namespace, name); subject != "" && b.have[id] {
			return id
		}
	}
	return ""
}

// ruledOut adds a fact that rules out an update, and returns its ID: what is wrong already with what it is
// about stands for it.
func (b *builder) ruledOut(p *Prospect, i int) string {
	n := Node{Kind: "Update", Name: p.To, State: Faulty, Reason: "Fact", Says: p.Why.Facts[i], Owner: "administrator"}
	if i < len(p.Why.Reasons) {
		f := p.Why.Reasons[i]
		n.Reason, n.Alike = string(f.Reason), f.Subject
		if id := b.known(f.Subject, "Node", "ClusterOperator", "MachineConfigPool", "PodDisruptionBudget", "Pod"); id != "" {
			return id
		}
		if f.Reason == plan.FactRisk {
			n.Kind, n.Name = "Risk", f.Subject
		}
	}
	n.ID = ID("Update", "", p.To) + "#" + n.Reason + n.Alike
	n.do, n.command = "see which updates there are", "oc adm upgrade --include-not-recommended"
	if len(p.Why.Fixes) > 0 {
		f := &p.Why.Fixes[0]
		n.do = strings.Join(f.Do, "; and ")
		if k := slices.IndexFunc(f.Changes, func(c plan.Change) bool { return c.Kind == "SetGoal" }); k >= 0 {
			n.command = shell.Command("oc adm upgrade --to=%s", f.Changes[k].Subject)
		}
	} else if at := strings.LastIndex(n.Says, "; "); at > 0 && strings.Contains(n.Says[at:], ": oc ") { // the fact says what helps
		n.Says, n.do = n.Says[:at], strings.Replace(n.Says[at+2:], ", as in: ", ": ", 1)
	}
	if at := strings.LastIndex(n.do, ": oc "); at > 0 { // what helps ends with the command that shows how
		n.do, n.command = n.do[:at], n.do[at+2:]
	}
	return b.add(n)
}

// stepBefore adds a step that a plan does before the update, and returns its ID; see ruledOut.
func (b *builder) stepBefore(update string, s *plan.PlanStep) string {
	if id := b.known(s.Subject, "PodDisruptionBudget", "MachineConfigPool", "Node"); id != "" {
		return id
	}
	return b.add(Node{
		ID: update + "#" + string(s.Kind) + s.Subject, Kind: "Update", Name: b.to, State: Faulty, Reason: string(s.Kind), Alike: s.Subject, Says: strings.TrimSuffix(s.Why, "."), Owner: cmp.Or(s.Owner, "administrator"),
		do: s.String(), command: s.Command,
	})
}

// planRemedies: what rules an update out is changed, or a step before it is done.
func (w *world) planRemedies(n *Node) []remedy {
	s := Step{Do: upper(n.do), Command: n.command}
	switch {
	case n.Kind == "Risk":
		s.Do = "Read what risk " + n.Name + " means here, and accept it if it does no harm: " + n.Says
		s.Command, s.Tried = shell.Command("oc adm upgrade --to=%s --allow-not-recommended", w.to), true
		s.Must, s.See = "the risk does no harm to this cluster", "oc adm upgrade --include-not-recommended"
		return []remedy{{s, func(c *world) bool {
			c.accepted = append(slices.Clone(c.accepted), n.Name)
			return true
		}}}
	case n.Reason == string(plan.Acknowledge):
		s.Tried = true
		return []remedy{{s, func(c *world) bool { return c.acknowledge([]string{n.Alike}) }}}
	case n.Reason == string(plan.Unpause):
		s.Tried = true
		return []remedy{{s, func(c *world) bool { return c.editPool(n.Alike, func(p *cvo.Pool) { p.Spec.Paused = false }) }}}
	case n.Reason == string(plan.FixBudget):
		namespace, name, _ := strings.Cut(n.Alike, "/")
		s.Tried = true
		return []remedy{{s, func(c *world) bool {
			return c.editBudget(namespace, name, func(x *fairlead.PodDisruptionBudget) {
				x.Spec.MinAvailable, x.Spec.MaxUnavailable = nil, &fairlead.IntOrString{Int: 1}
			})
		}}}
	case n.Reason == string(plan.SetChannel):
		s.Tried = true
		return []remedy{{s, func(c *world) bool {
			return c.editVersion(func(v *cvo.ClusterVersion) { v.Spec.Channel = n.Alike })
		}}}
	case n.Reason == string(plan.ClearRequest):
		s.Tried = true
		return []remedy{{s, func(c *world) bool { return c.editVersion(withdrawn) }}}
	case n.Reason == string(plan.FactOverrides):
		s.Command, s.Tried = cvo.OverridesCommand(), true
		s.Must, s.See = "nobody needs what they leave as it is", "oc get clusterversion version -o jsonpath='{.spec.overrides}'"
		return []remedy{{s, func(c *world) bool { return c.editVersion(func(v *cvo.ClusterVersion) { v.Spec.Overrides = nil }) }}}
	}
	w.shows(&s, n)
	return []remedy{w.supposed(n, s)}
}
