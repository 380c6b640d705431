package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
)

// Task is something to do right before or after a step. Tasks cost nothing: they do not
// count as steps.
type Task struct {
	Kind    TaskKind `json:"kind"`              // what it does, for programs
	What    string   `json:"what"`              // in a few words
	Command string   `json:"command"`           // does it
	After   string   `json:"after,omitempty"`   // how to see that it is done
	Channel string   `json:"channel,omitempty"` // of SetChannel: the new one
}

// TaskKind is what a task does.
type TaskKind string

// The kinds of tasks.
const (
	ClearRequest       TaskKind = "ClearRequest"       // the requested update, which is invalid, is withdrawn
	SetChannel         TaskKind = "SetChannel"         // spec.channel is changed, so that the release is offered
	ProvideSignature   TaskKind = "ProvideSignature"   // the signature of the release is stored in the cluster
	BackUpEtcd         TaskKind = "BackUpEtcd"         // etcd is backed up
	CheckFencing       TaskKind = "CheckFencing"       // Pacemaker, which runs etcd on two nodes, is looked at
	PauseHealthChecks  TaskKind = "PauseHealthChecks"  // MachineHealthChecks do not replace nodes that restart
	ResumeHealthChecks TaskKind = "ResumeHealthChecks" // they do again
	LookAround         TaskKind = "LookAround"         // operators and alerts are looked at
	SetManual          TaskKind = "SetManual"          // OLM waits for approvals
	SetAutomatic       TaskKind = "SetAutomatic"       // it does not any more
)

// prepare adds tasks to the steps of a plan: those that the update service, OLM and prudence
// require. The order of steps does not depend on them.
func (w *writer) prepare() {
	steps := w.p.Steps
	channel := w.m.Situation.Cluster.Spec.Channel
	first, last := -1, -1
	for i := range steps {
		s := &steps[i]
		if s.Kind == MoveCluster && !w.going(s) {
			if first < 0 {
				first = i
				w.withdraw(s)
			}
			channel = w.channel(i, channel)
			w.signature(s)
			if i > first {
				s.First = append(s.First, lookAround())
			}
		}
		if s.Kind == MoveCluster || s.Kind == Roll {
			last = i
		}
	}
	if first >= 0 {
		w.backup(&steps[first])
	}
	if last >= 0 {
		from := slices.IndexFunc(steps, func(s PlanStep) bool { return s.Kind == MoveCluster || s.Kind == Roll })
		w.healthChecks(&steps[from], &steps[last])
	}
	w.approvals()
}

// going reports whether a step is the update that is under way.
func (w *writer) going(s *PlanStep) bool {
	to, moving := onItsWay(w.m.Situation)
	return moving && to == s.To
}

// channel changes the channel if the release is not in it, and returns the channel from then
// on.
func (w *writer) channel(i int, now string) string {
	s, known := &w.p.Steps[i], w.m.Situation.Channels
	to := known[s.To]
	if len(to) == 0 || slices.Contains(to, now) && (known[s.From] == nil || slices.Contains(known[s.From], now)) {
		return now
	}
	var ahead []string // releases after this one
	for _, x := range w.p.Steps[i+1:] {
		if x.Kind == MoveCluster {
			ahead = append(ahead, x.To)
		}
	}
	best, rank := "", []int{}
	for _, c := range to {
		if from := known[s.From]; from != nil && !slices.Contains(from, c) {
			continue
		}
		reach := 0
		for _, r := range ahead {
			if slices.Contains(known[r], c) {
				reach++
			}
		}
		kind, _, _ := strings.Cut(c, "-")
		own, _, _ := strings.Cut(now, "-")
		r := []int{-reach, 1, slices.Index([]string{"stable", "eus", "fast", "candidate"}, kind)}
		if kind == own {
			r[1] = 0
		}
		if order := slices.Compare(r, rank); best == "" || order < 0 || order == 0 && c < best {
			best, rank = c, r
		}
	}
	if best == "" {
		w.unknown(s, Unseen{What: fmt.Sprintf("which channel offers the update from %s to %s: none has both", s.From, s.To), Command: "oc adm upgrade"})
		return now
	}
	s.First = append(s.First, Task{SetChannel, "set the channel " + best + ", which has " + s.To, shell.Command("oc adm upgrade channel %s", best), s.To + " is listed by oc adm upgrade", best})
	return best
}

// unknown marks a step and the plan.
func (w *writer) unknown(s *PlanStep, u Unseen) {
	s.Unseen = append(s.Unseen, u)
	if !slices.Contains(w.p.Unseen, u) {
		w.p.Unseen = append(w.p.Unseen, u)
	}
}

// signature stores the signature of a release that the cluster refused for lack of it.
func (w *writer) signature(s *PlanStep) {
	for i := range w.m.moves {
		e := &w.m.moves[i]
		if w.m.releases[e.from].name != s.From || w.m.releases[e.to].name != s.To || e.signature == "" {
			continue
		}
		t := Task{ProvideSignature, "the cluster has refused " + s.To + " because its signature cannot be verified: store the signature", e.signature, "ReleaseAccepted of the ClusterVersion is True", ""}
		s.First = append(s.First, t)
	}
}

// backup backs up etcd before the first update.
func (w *writer) backup(s *PlanStep) {
	if w.m.hosted() {
		return
	}
	node := ""
	for i := range w.m.Situation.Nodes {
		n := &w.m.Situation.Nodes[i]
		p, err := rollout.PrimaryPool(w.m.Situation.Pools, n)
		if err == nil && p != nil && p.Name == rollout.PoolMaster && rollout.Ready(n) && (node == "" || n.Name < node) {
			node = n.Name
		}
	}
	t := Task{Kind: BackUpEtcd, What: "back up etcd", After: "the command has written a snapshot; copy it off the node"}
	if node == "" {
		t.Command = `oc debug "$(oc get nodes -l node-role.kubernetes.io/master= -o name | head -n 1)" -- chroot /host /usr/local/bin/cluster-backup.sh /var/lib/etcd-backup`
		t.What += ", on a node of the control plane"
	} else {
		t.Command = shell.Command("oc debug node/%s -- chroot /host /usr/local/bin/cluster-backup.sh /var/lib/etcd-backup", node)
	}
	s.First = append(s.First, t)
	if w.m.Situation.Topology == TopologyTwo && node != "" {
		s.First = append(s.First, Task{
			Kind: CheckFencing, What: "look at Pacemaker, which runs etcd on the two nodes: one restarts while the other keeps etcd alone",
			Command: shell.Command("oc debug node/%s -- chroot /host pcs status", node), After: "both nodes are online, etcd runs on both, fencing is enabled, and no action has failed",
		})
	}
}

// lookAround looks at operators between updates.
func lookAround() Task {
	return Task{LookAround, "look at operators and alerts before going on", "oc wait clusteroperators --all --for=condition=Degraded=false --timeout=10m && oc adm upgrade", "no operator is degraded, and no critical alert fires", ""}
}

// healthChecks pauses MachineHealthChecks while nodes restart.
func (w *writer) healthChecks(from, to *PlanStep) {
	for _, name := range w.m.Situation.HealthChecks {
		namespace, short, _ := strings.Cut(name, "/")
		from.First = append(from.First, Task{PauseHealthChecks, "pause the MachineHealthCheck " + name + ", which would replace nodes that restart slowly",
			shell.Command("oc -n %s annotate machinehealthcheck %s cluster.x-k8s.io/paused=", namespace, short), "", ""})
		to.Then = append(to.Then, Task{ResumeHealthChecks, "resume the MachineHealthCheck " + name, shell.Command("oc -n %s annotate machinehealthcheck %s cluster.x-k8s.io/paused-", namespace, short), "", ""})
	}
}

// approvals makes OLM wait for the plan where the order of hops matters: operators that are
// approved by themselves would go as soon as a catalog offers it.
func (w *writer) approvals() {
	first, last := map[string]*PlanStep{}, map[string]*PlanStep{}
	count := map[string]int{}
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		if s.Kind != MoveOperator {
			continue
		}
		if first[s.Subject] == nil {
			first[s.Subject] = s
		}
		last[s.Subject] = s
		if count[s.Subject]++; len(s.With) > 0 {
			count[s.Subject]++
		}
	}
	for _, o := range w.m.operators {
		if !o.Automatic || count[o.Package] < 2 {
			continue
		}
		set := func(kind TaskKind, what, approval string) Task {
			return Task{kind, what, shell.Command("oc -n %s patch subscription %s --type merge -p %s", o.Namespace, o.Subscription, shell.JSON(map[string]any{"spec": map[string]any{"installPlanApproval": approval}})), "", ""}
		}
		// Before anything moves: a catalog of a later minor version may offer more.
		at := &w.p.Steps[0]
		at.First = append(at.First, set(SetManual, "the Subscription "+o.Namespace+"/"+o.Subscription+" approves by itself: let it wait, because the order of its updates matters", "Manual"))
		last[o.Package].Then = append(last[o.Package].Then, set(SetAutomatic, "let the Subscription "+o.Namespace+"/"+o.Subscription+" approve by itself again", "Automatic"))
		for i := range w.p.Steps {
			if s := &w.p.Steps[i]; s.Kind == MoveOperator && s.Subject == o.Package {
				s.Command = approveCommand(o.Operator)
			}
		}
	}
}

// approveCommand approves the install plan that a subscription waits for, by the name that
// its status has by then.
func approveCommand(o *Operator) string {
	if o.Subscription == "" {
		return shell.Command("oc -n %s get installplans", o.Namespace)
	}
	name := shell.Command("oc -n %s get subscription %s -o %s", o.Namespace, o.Subscription, "jsonpath={.status.installPlanRef.name}")
	approve := shell.Command("oc -n %s patch --type merge -p %s installplan", o.Namespace, shell.JSON(map[string]any{"spec": map[string]any{"approved": true}}))
	return approve + ` "$(` + name + `)"`
}

// hosted reports whether the control plane runs in another cluster.
func (m *model) hosted() bool { return m.Situation.Topology == TopologyExternal }

// Topologies of a control plane that plans treat in a way of their own.
const (
	TopologyExternal = "External"      // another cluster hosts it
	TopologySingle   = "SingleReplica" // it has one node, which the machine config daemon does not drain
	// TopologyTwo has two nodes with fencing: Pacemaker runs etcd there, and lets one member go on
	// alone while the other node restarts.
	TopologyTwo = "DualReplica"
)

// notHosted is why a hosted cluster is updated otherwise.
func notHosted(version string) *fact {
	return &fact{reason: FactHosted, subject: version, text: "the control plane is hosted by another cluster: its release is set there, in spec.release.image of the HostedCluster, and that of the nodes in each NodePool; this plan is for clusters with their own control plane"}
}

// ReadChannels returns the channels of releases, by version, from what the ClusterVersion
// lists. A release without channels is left out: they are unknown.
func ReadChannels(cv *cvo.ClusterVersion) map[string][]string {
	out := map[string][]string{}
	add := func(r cvo.Release) {
		if len(r.Channels) > 0 {
			out[r.Version] = r.Channels
		}
	}
	add(cv.Status.Desired)
	for _, r := range cv.Status.AvailableUpdates {
		add(r)
	}
	for _, u := range cv.Status.ConditionalUpdates {
		add(u.Release)
	}
	return out
}

// ReadUpdates returns the updates that a ClusterVersion lists, with their risks and whether
// those apply. The updates are nil if they are unknown.
func ReadUpdates(cv *cvo.ClusterVersion) (moves []Move, risks []Risk) {
	if cv.UpdatesUnknown() {
		return nil, nil
	}
	moves = []Move{}
	from := cv.Status.Desired.Version
	for _, r := range cv.Status.AvailableUpdates {
		moves = append(moves, Move{From: from, To: r.Version})
	}
	for i := range cv.Status.ConditionalUpdates {
		u := &cv.Status.ConditionalUpdates[i]
		if slices.ContainsFunc(cv.Status.AvailableUpdates, func(r cvo.Release) bool { return r.Version == u.Release.Version }) {
			continue
		}
		m := Move{From: from, To: u.Release.Version}
		for _, r := range u.Risks {
			m.Risks = append(m.Risks, r.Name)
		}
		moves = append(moves, m)
	}
	return moves, ReadRisks(cv)
}

// ReadRisks returns what a ClusterVersion reports about the risks of its conditional updates,
// by first appearance.
func ReadRisks(cv *cvo.ClusterVersion) (risks []Risk) {
	for i := range cv.Status.ConditionalUpdates {
		u := &cv.Status.ConditionalUpdates[i]
		for _, r := range u.Risks {
			x := Risk{Name: r.Name, Message: r.Message, Applies: cv.RiskApplies(u, r.Name)}
			for _, rule := range r.MatchingRules {
				x.Query = cmp.Or(x.Query, rule.Query)
			}
			k := slices.IndexFunc(risks, func(o Risk) bool { return o.Name == r.Name })
			switch {
			case k < 0:
				risks = append(risks, x)
			case risks[k].Applies != fairlead.ConditionTrue && x.Applies == fairlead.ConditionTrue, risks[k].Applies == fairlead.ConditionUnknown:
				risks[k].Applies = x.Applies
			}
		}
	}
	return risks
}
