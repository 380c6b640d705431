package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/semverx"
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
	s := PlanStep{Kind: c.kind, Subject: c.subject, From: c.from, To: c.to, With: c.with, Release: w.release, Owner: ownerAdmin, Before: "the steps before it are done", Restarts: c.restarts}
	w.p.Cost.Restarts += c.restarts
	switch c.kind {
	case ReplaceMember:
		s.Why = "it does not answer, and while a node of the control plane restarts, etcd needs all others"
		s.After = "oc -n openshift-etcd get etcd cluster -o yaml reports all members as available"
		s.Command = replaceCommand(w.m.Situation, c.subject)
		s.Back = "not needed: the new member replaces the old one"
		s.Takes, s.Basis = w.e.Owner, "a default for work by people"
	case FixBudget:
		b := &w.m.budgets[c.index]
		s.Why = "it never allows an eviction, so every drain of their nodes would hang"
		s.After = "status.disruptionsAllowed of the budget is at least 1"
		s.Command, s.Owner = b.command, ownerPods
		s.Back = "restore the old spec when the nodes have restarted"
		s.Takes, s.Basis = w.e.Owner, "a default for work by people"
	case FreeRoom:
		s.Why = "its pods do not fit on other nodes while some are drained"
		s.After = "a new node is Ready and empty"
		s.Command = "oc -n openshift-machine-api scale machineset NAME --replicas=N+1"
		s.Back = "scale the machine set back when everything is done"
		s.Takes, s.Basis = w.e.Owner, "a default for work by people"
	case OutOfService:
		s.Rounds = w.m.drains[c.index].rounds
		s.Why = "the goal requests it"
		s.After = "the node is cordoned, and has no pods except those of DaemonSets"
		s.Command = "oc adm drain " + c.subject + " --ignore-daemonsets --delete-emptydir-data"
		s.Back = "oc adm uncordon " + c.subject
		s.Takes, s.Basis = time.Duration(s.Rounds)*w.e.Round, fmt.Sprintf("%d rounds of evictions", s.Rounds)
	default:
		w.fill(c, &s)
	}
	w.unseen(c, &s)
	w.p.Steps = append(w.p.Steps, s)
}

// fill writes the steps of an update of a cluster.
func (w *writer) fill(c choice, s *PlanStep) {
	quick := "an edit of one object"
	switch c.kind {
	case Roll:
		w.roll(c, s)
	case Pause:
		s.Why = "its nodes need not restart into " + w.release + " or the next releases: they restart once, later"
		s.After = "spec.paused of the pool is true"
		s.Command = "oc patch mcp " + c.subject + " --type merge -p '{\"spec\":{\"paused\":true}}'"
		s.Back = "oc patch mcp " + c.subject + " --type merge -p '{\"spec\":{\"paused\":false}}'"
		s.Takes, s.Basis = time.Minute, quick
	case Unpause:
		s.Why = "its nodes must restart into " + w.release
		s.After = "spec.paused of the pool is false, and it is Updating"
		s.Command = "oc patch mcp " + c.subject + " --type merge -p '{\"spec\":{\"paused\":false}}'"
		s.Back = "oc patch mcp " + c.subject + " --type merge -p '{\"spec\":{\"paused\":true}}': nodes that have begun finish"
		s.Takes, s.Basis = time.Minute, quick
	case MoveOperator:
		o := w.m.operators[c.index]
		s.Why = w.m.whyOperator(&o, c)
		s.After = "its CSV " + c.to + " has the phase Succeeded"
		if len(c.with) > 0 {
			s.Before = "the install plan also installs " + words.List(c.with, "and", 3)
		}
		s.Command = fmt.Sprintf("oc -n %s patch installplan NAME --type merge -p '{\"spec\":{\"approved\":true}}', the one that installs %s", o.Namespace, c.to)
		s.Back = "not possible: operators are not downgraded"
		s.Takes, s.Basis = w.e.Operator, "a default for one install plan"
	case ChangeClients:
		a := w.m.removed[c.subject]
		s.Why = fmt.Sprintf("OpenShift %s no longer serves it, and %s used it recently", w.m.stages[a.stage], words.List(a.clients, "and", 3))
		s.After = "none of them is in the APIRequestCount " + c.subject + " of the last day"
		s.Command, s.Owner = "oc get apirequestcount "+c.subject+" -o yaml shows the clients; update them, or the objects that they write", "owner of the clients"
		s.Back = "not needed: the other API is already served"
		s.Takes, s.Basis = w.e.Owner, "a default for work by people"
	case Acknowledge:
		s.Why = clip(w.m.gates[c.index].text, 200)
		s.After = "the gate is \"true\" in the ConfigMap openshift-config/admin-acks"
		s.Command = "oc -n openshift-config patch cm admin-acks --type merge -p '{\"data\":{\"" + c.subject + "\":\"true\"}}'"
		s.Back = "set it to \"false\", which blocks the minor update again"
		s.Takes, s.Basis = w.e.Owner, "a default for work by people"
	case MoveCluster:
		s.Release = c.to
		s.Why = "the goal is " + w.m.target
		if c.to != w.m.target {
			s.Why += ", and no fewer updates lead there"
		}
		s.Before = "pools that are not paused run " + c.from + ", operators support " + c.to + ", gates are acknowledged"
		s.After = "the history of the ClusterVersion begins with " + c.to + ", Completed"
		s.Command = "oc adm upgrade --to=" + c.to
		s.Back = "not possible: a cluster cannot go back to an older release"
		s.Takes, s.Basis = w.moves()
		if to, moving := onItsWay(w.m.Situation); moving && to == c.to {
			s.Why, s.Before, s.Command = "it is already under way", "", "nothing: the cluster-version operator does it; watch with oc adm upgrade status"
		}
	}
}

// roll writes that the nodes of a pool restart.
func (w *writer) roll(c choice, s *PlanStep) {
	p := &w.m.pools[c.index]
	s.Rounds = p.rounds
	s.Why = "the nodes of " + c.subject + " must run " + c.to
	if p.control {
		s.Why = "the control plane must run " + c.to + " before the next update"
	}
	s.Before = "the pool is not paused, its pods can be evicted, and there is room for them elsewhere"
	s.After = "the pool " + c.subject + " is Updated: all of its nodes run " + c.to
	s.Command = "nothing: the machine-config operator does it; watch with oc get mcp " + c.subject
	s.Back = "oc patch mcp " + c.subject + " --type merge -p '{\"spec\":{\"paused\":true}}' stops it between two nodes"
	if p.control {
		s.Back = "none"
	}
	size := max(p.size, 1)
	batches := (len(p.nodes) + size - 1) / size
	s.Takes = time.Duration(batches)*w.e.Reboot + time.Duration(p.rounds)*w.e.Round
	s.Basis = fmt.Sprintf("%d nodes, %d at a time, %d rounds of evictions", len(p.nodes), size, p.rounds)
}

// moves estimates an update of the cluster.
func (w *writer) moves() (time.Duration, string) {
	if w.e.Move > 0 {
		return w.e.Move, "as the policy says"
	}
	var all []time.Duration
	for i, h := range w.m.Situation.Cluster.Status.History {
		if last := i+1 == len(w.m.Situation.Cluster.Status.History); !last && h.State == cvo.Completed && h.CompletionTime != nil {
			all = append(all, h.CompletionTime.Sub(h.StartedTime))
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		return all[len(all)-1], "the longest update in the history"
	}
	return 70 * time.Minute, "a default: no update is in the history"
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
		return "a later hop needs it, or another operator requires something of it"
	}
	return "a later hop needs it"
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
	mark := func(is bool, what, command string) {
		if !is {
			return
		}
		u := Unseen{what, command}
		s.Unseen = append(s.Unseen, u)
		if !slices.Contains(w.p.Unseen, u) {
			w.p.Unseen = append(w.p.Unseen, u)
		}
	}
	switch c.kind {
	case MoveCluster:
		e := &w.m.moves[c.index]
		for _, name := range e.unknown {
			what, command := "whether the risk "+name+" applies", "oc adm upgrade --include-not-recommended"
			for _, r := range sit.Risks {
				if r.Name == name && r.Query != "" {
					command = "ask the cluster's Prometheus: " + clip(r.Query, 120)
				}
			}
			mark(true, what, command)
		}
		a, b := w.m.releases[e.from], w.m.releases[e.to]
		mark(sit.ClusterOperators == nil, "whether an operator of the release has problems or blocks another minor version", "oc get clusteroperators -o yaml")
		mark(sit.Pools == nil, "the pools of nodes, which restart after it", "oc get machineconfigpools -o yaml")
		if a.stage != b.stage {
			mark(sit.Gates == nil && a.stage == 0, "what must be acknowledged", "oc -n openshift-config-managed get cm admin-gates -o yaml")
			mark(a.stage > 0, "what must be acknowledged in "+w.m.stages[a.stage].String(), "when "+a.name+" runs: oc -n openshift-config-managed get cm admin-gates -o yaml")
			mark(a.stage > 0, "whether an operator of "+w.m.stages[a.stage].String()+" blocks another minor version", "when "+a.name+" runs: oc get clusteroperators -o yaml")
			mark(sit.Removed == nil, "which APIs that "+w.m.stages[b.stage].String()+" no longer serves are in use", "oc get apirequestcounts -o yaml")
			mark(sit.Operators == nil, "whether installed operators support "+w.m.stages[b.stage].String(), "oc get subscriptions,csv -A -o yaml")
		}
	case Roll:
		p := &w.m.pools[c.index]
		mark(sit.Nodes == nil, "the nodes of the pool", "oc get nodes -o yaml")
		mark(sit.Pods == nil, "whether its pods can be evicted, and there is room for them", "oc get pods -A -o yaml")
		mark(sit.Budgets == nil, "whether budgets allow the eviction of its pods", "oc get pdb -A -o yaml")
		mark(p.control && sit.Members == nil, "whether all members of etcd are healthy", "oc -n openshift-etcd get etcd cluster -o yaml")
		if p.control {
			for _, x := range sit.Members {
				mark(x.Healthy != fairlead.ConditionTrue && x.Healthy != fairlead.ConditionFalse, "whether the etcd member "+x.Name+" is healthy", "oc -n openshift-etcd get etcd cluster -o yaml")
			}
		}
		mark(p.unknown, "which release the nodes of "+p.name+" run", "oc get machineconfigs -o yaml")
	case MoveOperator:
		for _, v := range w.m.operators[c.index].Versions {
			for _, rule := range v.Unread {
				mark(v.Name == c.to, "whether this requirement of "+v.Name+" is met:  "+clip(rule, 120), "fairlead resolve, with its catalog and subscriptions")
			}
		}
	case OutOfService:
		mark(sit.Pods == nil, "whether its pods can be evicted, and there is room for them", "oc get pods -A -o yaml")
		mark(sit.Budgets == nil, "whether budgets allow the eviction of its pods", "oc get pdb -A -o yaml")
	}
}
