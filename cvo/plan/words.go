package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// The owners of steps.
const (
	ownerAdmin = "administrator"
	ownerPods  = "owner of the pods"
)

// version is the version that a hop leads to.
func (m *model) version(c choice) semverx.Version {
	o := &m.operators[c.index]
	return semverx.Tolerant(o.Versions[o.version(c.to)].Version)
}

// add writes a step.
func (w *writer) add(c choice) {
	s := PlanStep{Kind: c.kind, Subject: c.subject, From: c.from, To: c.to, With: c.with, Release: w.release, Owner: ownerAdmin, Before: "all earlier steps are done", Restarts: c.restarts}
	w.p.Cost.Restarts += c.restarts
	switch c.kind {
	case ReplaceMember:
		s.Why = "it is unhealthy, and etcd needs every other member while a control plane node restarts"
		s.After = "the replacement has joined: oc get etcd cluster -o yaml reports all members as available"
		s.Command = replaceCommand(w.m.Situation, c.subject)
		s.Back = "not needed: the new member replaces the old one"
		s.Takes, s.Basis = w.e.Owner, "default for manual work"
	case FixBudget:
		b := &w.m.budgets[c.index]
		s.Why = "it allows no disruptions, so draining a node that runs its pods would hang"
		s.After = "its status.disruptionsAllowed is at least 1"
		s.Command, s.Owner = b.command, ownerPods
		s.Back = "revert the change once the nodes have restarted"
		s.Takes, s.Basis = w.e.Owner, "default for manual work"
	case FreeRoom:
		s.Why = "the pods to be evicted do not fit on the other nodes"
		s.After = "a new node is Ready and empty"
		s.Command = w.m.growCommand(c)
		s.Back = "scale the MachineSet back down after the last step"
		s.Takes, s.Basis = w.e.Owner, "default for manual work"
	case OutOfService:
		s.Rounds = w.m.drains[c.index].rounds
		s.Why = "it is part of the goal"
		s.After = "the node is cordoned and runs only DaemonSet pods"
		s.Command = w.m.drains[c.index].flags.Command(c.subject, true)
		s.Back = shell.Command("oc adm uncordon %s", c.subject)
		s.Takes, s.Basis = time.Duration(s.Rounds)*w.e.Round, evictions(s.Rounds)
	default:
		w.fill(c, &s)
	}
	w.unseen(c, &s)
	w.p.Steps = append(w.p.Steps, s)
}

// fill writes the steps of an update of a cluster.
func (w *writer) fill(c choice, s *PlanStep) {
	quick := "default for one patch"
	switch c.kind {
	case Roll:
		w.roll(c, s)
	case Pause:
		s.Why = "its nodes then restart only once, instead of into every release on the way"
		s.After = "the pool's spec.paused is true"
		s.Command, s.Back = cvo.PauseCommand(c.subject, true), cvo.PauseCommand(c.subject, false)
		s.Takes, s.Basis = time.Minute, quick
	case Unpause:
		s.Why = "its nodes must restart into " + w.release
		s.After = "the pool's spec.paused is false, and the pool is Updating"
		s.Command = cvo.PauseCommand(c.subject, false)
		s.Back = cvo.PauseCommand(c.subject, true) + "; nodes that are already updating finish"
		s.Takes, s.Basis = time.Minute, quick
	case MoveOperator:
		o := w.m.operators[c.index]
		s.Why = w.m.whyOperator(&o, c)
		s.After = "the CSV " + c.to + " is in the phase Succeeded"
		if len(c.with) > 0 {
			s.Before = "the same InstallPlan also installs " + words.List(c.with, "and", 3)
		}
		s.Command = approveCommand(o.Operator)
		if o.Automatic {
			s.Command = "nothing: the Subscription approves by itself, and OLM updates it as soon as its catalog offers " + c.to
			s.Owner = "OLM"
		}
		s.Back = "not possible: OLM does not downgrade operators"
		s.Takes, s.Basis = w.e.Operator, "default for one InstallPlan"
	case ChangeClients:
		a := w.m.removed[c.subject]
		s.Why = fmt.Sprintf("OpenShift %s removes this API, which was recently used by %s", w.m.stages[a.stage], words.List(a.clients, "and", 3))
		s.After = "the APIRequestCount " + c.subject + " shows no requests from these clients in the last 24 hours"
		s.Command, s.Owner = "update the clients that "+shell.Command("oc get apirequestcount %s -o yaml", c.subject)+" lists, or the manifests that they apply", "owner of the clients"
		s.Back = "not needed: the cluster already serves the other API"
		s.Takes, s.Basis = w.e.Owner, "default for manual work"
	case Acknowledge:
		s.Why = clip(w.m.gates[c.index].text, 200)
		s.After = "the ConfigMap openshift-config/admin-acks sets it to \"true\""
		s.Command = cvo.AcknowledgeCommand(c.subject)
		s.Back = "set it to \"false\", which blocks the minor update again"
		s.Takes, s.Basis = w.e.Owner, "default for manual work"
	case MoveCluster:
		s.Release = c.to
		s.Why = "the goal is " + w.m.target
		if c.to != w.m.target {
			s.Why = "it is on the update path to the goal, " + w.m.target
		}
		s.Before = "all pools that are not paused run " + c.from + ", the installed operators support " + c.to + ", and all admin gates are acknowledged"
		s.After = "the latest entry in the history of the ClusterVersion is " + c.to + ", Completed"
		s.Command = shell.Command("oc adm upgrade --to=%s", c.to)
		if e := &w.m.moves[c.index]; len(e.taken)+len(e.unknown) > 0 {
			s.Command = shell.Command("oc adm upgrade --allow-not-recommended --to=%s", c.to)
		}
		s.Back = "not supported: OpenShift does not downgrade clusters"
		s.Takes, s.Basis = w.moves()
		if to, moving := onItsWay(w.m.Situation); moving && to == c.to {
			s.Why, s.Before, s.Command, s.Going = "it is already under way", "", "oc wait clusterversion version --for=condition=Progressing=false --timeout=6h", true
		}
	}
}

// roll writes that the nodes of a pool restart.
func (w *writer) roll(c choice, s *PlanStep) {
	p := &w.m.pools[c.index]
	s.Rounds = p.rounds
	s.Why = "the nodes of " + c.subject + " must run " + c.to
	if p.control && c.to != w.m.target {
		s.Why = "the control plane must run " + c.to + " before the next update"
	}
	s.Before = "the pool is not paused, and the pods of its nodes can be evicted and fit on other nodes"
	s.After = "the pool " + c.subject + " is Updated: all its nodes run " + c.to
	s.Command = shell.Command("oc wait machineconfigpool %s --for=condition=Updated --timeout=%s", c.subject, words.Span(max(2*s.Takes, time.Hour).Round(time.Hour)))
	s.Back = cvo.PauseCommand(c.subject, true) + "; nodes that are already updating finish"
	if p.control {
		s.Back = "not possible"
	}
	size := max(p.size, 1)
	batches := (len(p.nodes) + size - 1) / size
	s.Takes = time.Duration(batches)*w.e.Reboot + time.Duration(p.rounds)*w.e.Round
	s.Basis = basis(len(p.nodes), size, p.rounds)
}

// evictions writes a number of rounds.
func evictions(rounds int) string {
	if rounds == 0 {
		return "no evictions"
	}
	return words.Count(rounds, "round", "rounds") + " of evictions"
}

// basis writes what the time for the nodes of a pool is computed from.
func basis(nodes, size, rounds int) string {
	text := words.Count(nodes, "node", "nodes")
	if nodes > 1 {
		text += fmt.Sprintf(", %d at a time", min(size, nodes))
	}
	return text + ", " + evictions(rounds)
}

// moves estimates an update of the cluster.
func (w *writer) moves() (time.Duration, string) {
	if w.e.Move > 0 {
		return w.e.Move, "set in the policy"
	}
	var all []time.Duration
	for i, h := range w.m.Situation.Cluster.Status.History {
		if last := i+1 == len(w.m.Situation.Cluster.Status.History); !last && h.State == cvo.Completed && h.CompletionTime != nil {
			all = append(all, h.CompletionTime.Sub(h.StartedTime))
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		return all[len(all)-1], "the longest update in the history of the cluster"
	}
	return 70 * time.Minute, "default, because the history has no completed update"
}

// whyOperator says why a hop is needed.
func (m *model) whyOperator(o *operator, c choice) string {
	if m.stages[c.stage] != m.stages[len(m.stages)-1] {
		next := m.stages[c.stage+1]
		for k, v := range o.Versions {
			if k == o.installed && o.max[k] != (minor{}) && o.max[k].compare(next) < 0 {
				return fmt.Sprintf("%s supports OpenShift up to %s, and %s is next", v.Name, o.max[k], next)
			}
		}
	}
	for _, f := range m.laterLimits(o, c.stage) {
		return f.text
	}
	if o.goal != "" {
		return "the goal is " + o.goal
	}
	if slices.ContainsFunc(m.groups, func(g []int) bool { return len(g) > 1 && slices.Contains(g, c.index) }) {
		return "a version that is needed later can only be reached through it, or another operator depends on it"
	}
	return "a version that is needed later can only be reached through it"
}

// laterLimits says what prevents the installed version of an operator from
// running at a minor version after a stage.
func (m *model) laterLimits(o *operator, stage int) []*fact {
	for s := stage + 1; s < len(m.stages); s++ {
		if list := m.limits(o, o.installed, s); len(list) > 0 {
			return list
		}
	}
	return nil
}

// unseen marks what the step depends on that was not observed.
func (w *writer) unseen(c choice, s *PlanStep) {
	sit := w.m.Situation
	add := func(u Unseen) {
		s.Unseen = append(s.Unseen, u)
		if !slices.Contains(w.p.Unseen, u) {
			w.p.Unseen = append(w.p.Unseen, u)
		}
	}
	mark := func(is bool, what, command string) {
		if is {
			add(Unseen{What: what, Command: command})
		}
	}
	// lacks marks what depends on a kind of which nothing, or only a part, is known.
	lacks := func(kind string, nothing bool, what, command string) {
		if g, is := sit.Partly[kind]; is && !nothing {
			nothing, what, command = true, what+" (not known: "+g.What+")", g.How
		}
		mark(nothing, what, command)
	}
	switch c.kind {
	case MoveCluster:
		e := &w.m.moves[c.index]
		for _, name := range e.unknown {
			what, command := "whether the risk "+name+" applies", "oc adm upgrade --include-not-recommended"
			for _, r := range sit.Risks {
				if r.Name == name && r.Query != "" {
					command = "run this PromQL query: " + clip(r.Query, 120)
				}
			}
			mark(true, what, command)
		}
		a, b := w.m.releases[e.from], w.m.releases[e.to]
		lacks("ClusterOperator", sit.ClusterOperators == nil, "whether a cluster operator has problems or blocks minor updates", "oc get clusteroperators -o yaml")
		lacks("MachineConfigPool", sit.Pools == nil, "which pools there are, whose nodes restart afterwards", "oc get machineconfigpools -o yaml")
		if a.stage != b.stage {
			mark(sit.Gates == nil && a.stage == 0, "which admin gates must be acknowledged", "oc -n openshift-config-managed get cm admin-gates -o yaml")
			if a.stage > 0 {
				minor, once := w.m.stages[a.stage].String(), "once "+a.name+" runs: "
				add(Unseen{"which admin gates must be acknowledged in " + minor, once + "oc -n openshift-config-managed get cm admin-gates -o yaml", true})
				add(Unseen{"whether a cluster operator of " + minor + " blocks minor updates", once + "oc get clusteroperators -o yaml", true})
			}
			lacks("APIRequestCount", sit.Removed == nil, "which APIs that "+w.m.stages[b.stage].String()+" removes are in use", "oc get apirequestcounts -o yaml")
			support := "whether installed operators support " + w.m.stages[b.stage].String()
			lacks("Subscription", sit.Operators == nil, support, "oc get subscriptions,csv -A -o yaml")
			lacks("ClusterServiceVersion", false, support, "")
		}
	case Roll:
		p := &w.m.pools[c.index]
		lacks("Node", sit.Nodes == nil, "which nodes the pool has", "oc get nodes -o yaml")
		lacks("Pod", sit.Pods == nil, "whether its pods can be evicted and fit on other nodes", "oc get pods -A -o yaml")
		lacks("PodDisruptionBudget", sit.Budgets == nil, "whether PodDisruptionBudgets allow its pods to be evicted", "oc get pdb -A -o yaml")
		mark(p.control && sit.Members == nil, "whether all etcd members are healthy", "oc get etcd cluster -o yaml")
		if p.control {
			for _, x := range sit.Members {
				mark(x.Healthy != fairlead.ConditionTrue && x.Healthy != fairlead.ConditionFalse, "whether the etcd member "+x.Name+" is healthy", "oc get etcd cluster -o yaml")
			}
		}
		mark(p.unknown, "which release the nodes of pool "+p.name+" run", "oc get machineconfigs -o yaml")
	case MoveOperator:
		for _, v := range w.m.operators[c.index].Versions {
			for _, rule := range v.Unread {
				mark(v.Name == c.to, "whether this constraint of "+v.Name+" is satisfied: "+clip(rule, 120), "run fairlead resolve with its catalog and subscriptions")
			}
		}
	case OutOfService:
		lacks("Pod", sit.Pods == nil, "whether its pods can be evicted and fit on other nodes", "oc get pods -A -o yaml")
		lacks("PodDisruptionBudget", sit.Budgets == nil, "whether PodDisruptionBudgets allow its pods to be evicted", "oc get pdb -A -o yaml")
	}
}
