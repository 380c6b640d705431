package diagnosis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
)

// operatorsWait adds the operators that are not well, or that the update waits for.
func (b *builder) operatorsWait() {
	for i := range b.report.Operators {
		r := &b.report.Operators[i]
		k := slices.IndexFunc(b.operators, func(o cvo.ClusterOperator) bool { return o.Name == r.Name })
		b.operatorWaits(r, &b.operators[k])
	}
}

// operatorWaits adds one operator.
func (b *builder) operatorWaits(r *cvo.OperatorReport, o *cvo.ClusterOperator) {
	id := ID("ClusterOperator", "", r.Name)
	x := Node{Kind: "ClusterOperator", Name: r.Name, Since: r.Since, Quote: r.Message, Sure: Seen, Owner: "operator " + r.Name}
	limit := time.Duration(operatorTime)
	if r.Name == "machine-config" {
		limit = configTime
	}
	behind := b.report.Updating && r.State != "updated"
	if r.Health == "unavailable" {
		limit = unavailableTime
	}
	switch {
	case r.Health != "healthy":
		x.State, x.Reason = Faulty, OperatorFails
		x.Says = "cluster operator " + r.Name + " is " + map[string]string{"unavailable": "not available", "degraded": "degraded"}[r.Health]
		if said := failure.Telling(r.Message, 120); said != "" {
			x.Says += ": " + said
			x.Alike = said
		}
		if behind && b.age(r.Since) < limit {
			x.State = Going
		}
	case !behind:
		return
	case r.State == "updating" && b.age(r.Since) < limit:
		x.State, x.Reason, x.Says = Going, OperatorUpdating, "cluster operator "+r.Name+" is being updated"
	case r.State == "updating":
		x.State, x.Reason, x.Says = Faulty, OperatorSlow, "cluster operator "+r.Name+" is being updated for longer than usual"
	default:
		if !b.named(r.Name) && r.Name != "machine-config" {
			return // it is not its turn, and nobody waits for it
		}
		x.State, x.Reason, x.Says = Waiting, OperatorWaiting, "cluster operator "+r.Name+" is not updated yet"
	}
	x.told = true
	b.operatorLinks(id, &x, o)
	b.add(x)
}

// operatorLinks adds what an operator says that it waits for, and what is in trouble in its
// namespaces.
func (b *builder) operatorLinks(id string, x *Node, o *cvo.ClusterOperator) {
	linked := len(b.g.Edges)
	var vague []failure.Sign // what another line may say better
	for _, c := range o.Status.Conditions {
		bad := c.Type == "Degraded" && c.Status == fairlead.ConditionTrue || c.Type == "Available" && c.Status != fairlead.ConditionTrue || c.Type == "Progressing" && c.Status == fairlead.ConditionTrue && x.State != Going
		if !bad {
			continue
		}
		for line := range strings.Lines(cmp.Or(c.Message, c.Reason)) {
			s := failure.Sign{Kind: "ClusterOperator", Name: o.Name, Type: c.Type, Reason: c.Reason, Message: strings.TrimSpace(line)}
			if f := failure.Recognise(&s); f != nil && f.Vague {
				vague = append(vague, s)
			} else {
				b.link(id, x, &s)
			}
		}
	}
	for i := range vague {
		b.link(id, x, &vague[i])
	}
	if o.Name == "machine-config" {
		for i := range b.pools {
			pool := ID("MachineConfigPool", "", b.pools[i].Name)
			paused := b.pools[i].Spec.Paused && b.pools[i].Name != "master" && !mentions(x.Quote, b.pools[i].Name) // its operator does not wait for it
			if b.have[pool] && !paused && !b.waiting(b.pools[i].Name) && (b.pools[i].Name == "master" || mentions(x.Quote, b.pools[i].Name) || len(b.g.Edges) == linked) {
				b.wait(id, pool, "Updates", Derived)
			}
		}
	}
	if len(b.g.Edges) > linked {
		return
	}
	for i := range b.g.Nodes { // what is in trouble in its namespaces explains it
		n := &b.g.Nodes[i]
		if slices.Contains(running, n.Kind) && !strings.Contains(n.ID, "#") && belongs(o.Name, n.Namespace) {
			b.wait(id, n.ID, "Runs", Derived)
		}
	}
	if x.State != Waiting {
		return
	}
	b.wait(id, ID("ClusterVersion", "", "version"), "Runlevel", Assumed) // it is not its turn yet
}

// running are the kinds of what an operator runs.
var running = []string{"Pod", "Deployment", "StatefulSet", "DaemonSet", "Job"}

// waiting reports whether a pool has no new configuration yet.
func (b *builder) waiting(pool string) bool {
	id := ID("MachineConfigPool", "", pool)
	return slices.ContainsFunc(b.g.Nodes, func(n Node) bool { return n.ID == id && n.Reason == PoolWaiting })
}

// link adds the known failure that a sign shows: as an edge if it is another object's, or as the
// reason of x.
func (b *builder) link(id string, x *Node, s *failure.Sign) {
	f := failure.Recognise(s)
	if f != nil && f.Link && f.Of.Kind == "ClusterOperator" && f.Of.Name != s.Name && !b.unwell(f.Of.Name) {
		if own := failure.RecogniseOwn(s); own != nil { // the other operator does not say that anything is wrong
			f = own
		}
	}
	if f == nil {
		return
	}
	to := ID(f.Of.Kind, f.Of.Namespace, f.Of.Name)
	switch {
	case f.Link && to != id:
		member := f.Code == "EtcdMembersUnhealthy"                                     // its node may be well
		if f.Of.Kind == "Node" && !b.have[to] && b.node(f.Of.Name) == nil && !member { // the operator knows more than the input
			b.add(Node{
				Kind: "Node", Name: f.Of.Name, State: Faulty, Reason: NodeNotReady, Quote: s.Message, Sure: Derived, Since: x.Since,
				Says: "node " + f.Of.Name + " is not ready, as operator " + x.Name + " reports", Owner: "administrator",
			})
		}
		switch {
		case b.exists(&f.Of):
			b.wait(id, to, f.Code, Seen)
		case x.do == "" && (f.Of.Kind != "Node" || member):
			x.do, x.command, x.Danger = f.Do, f.Command, x.Danger || f.Danger
		}
		if said, _, _ := strings.Cut(x.Says, ": "); x.Reason == OperatorFails && (!f.Vague || x.do == f.Do) {
			x.Says, x.Alike = said+": "+f.Sentence, f.Code
		}
	case f.Link:
	case to == id:
		if x.Reason == OperatorFails || x.Reason == OperatorSlow {
			x.is(f, "cluster operator "+x.Name+": ")
		}
	default:
		if !b.have[to] {
			of := Node{Kind: f.Of.Kind, Namespace: f.Of.Namespace, Name: f.Of.Name, State: Faulty, Quote: s.Message, Sure: Seen, Since: x.Since}
			of.is(f, "")
			b.add(of)
		}
		b.wait(id, to, f.Code, Seen)
	}
}

// unwell reports whether a cluster operator says that something is wrong, or is not updated.
func (b *builder) unwell(operator string) bool {
	return slices.ContainsFunc(b.report.Operators, func(r cvo.OperatorReport) bool {
		return r.Name == operator && (r.Health != "healthy" || b.report.Updating && r.State != "updated")
	})
}

// exists reports whether something is known to be wrong with an object, or will be.
func (b *builder) exists(o *failure.Object) bool {
	return b.have[ID(o.Kind, o.Namespace, o.Name)] || o.Kind == "ClusterOperator" && b.unwell(o.Name)
}

// named reports whether the ClusterVersion says that it waits for an operator.
func (b *builder) named(operator string) bool {
	if b.version == nil {
		return false
	}
	for _, kind := range [...]string{"Failing", "Progressing"} {
		c := fairlead.FindCondition(b.version.Status.Conditions, kind)
		if c != nil && c.Status != fairlead.ConditionFalse && mentions(c.Message, operator) {
			return true
		}
	}
	return false
}

// belongs reports whether a namespace is one of an operator.
func belongs(operator, namespace string) bool {
	rest, ok := strings.CutPrefix(namespace, "openshift-")
	if !ok {
		return false
	}
	if rest == operator || strings.HasPrefix(rest, operator+"-") {
		return true
	}
	switch operator {
	case "authentication":
		return rest == "oauth-apiserver"
	case "network":
		return rest == "ovn-kubernetes" || rest == "multus" || strings.HasPrefix(rest, "network-")
	case "storage":
		return rest == "cluster-storage-operator" || rest == "cluster-csi-drivers"
	case "csi-snapshot-controller":
		return rest == "cluster-storage-operator"
	case "node-tuning":
		return rest == "cluster-node-tuning-operator"
	case "openshift-apiserver", "openshift-controller-manager":
		return namespace == operator || strings.HasPrefix(namespace, operator+"-")
	case "operator-lifecycle-manager", "operator-lifecycle-manager-catalog", "operator-lifecycle-manager-packageserver":
		return rest == "operator-lifecycle-manager"
	case "machine-approver":
		return rest == "cluster-machine-approver"
	case "openshift-samples":
		return rest == "cluster-samples-operator"
	}
	return false
}

// updateWaits adds the update as a whole, and the ClusterVersion.
func (b *builder) updateWaits() {
	if b.version == nil || b.report.Target == "" {
		return
	}
	b.refused()
	behind := slices.ContainsFunc(b.pools, func(p cvo.Pool) bool { return b.have[ID("MachineConfigPool", "", p.Name)] })
	if !b.report.Updating && !behind {
		return
	}
	id := ID("Update", "", b.report.Target)
	b.add(Node{Kind: "Update", Name: b.report.Target, State: Waiting, Reason: UpdateRunning, Says: "the update to " + b.report.Target + " is not complete", Since: b.report.Since, Sure: Seen, Owner: "administrator"})
	for i := range b.pools {
		b.wait(id, ID("MachineConfigPool", "", b.pools[i].Name), "Includes", Seen)
	}
	if b.report.Updating {
		b.wait(id, b.controlPlane(), "Includes", Seen)
	}
}

// controlPlane adds the ClusterVersion of an update that is under way, and what it waits for.
func (b *builder) controlPlane() string {
	id := ID("ClusterVersion", "", b.version.Name)
	x := Node{Kind: "ClusterVersion", Name: b.version.Name, State: Waiting, Reason: UpdateRunning, Says: "the control plane is not at " + b.report.Target + " yet", Since: b.report.Since, Sure: Seen, Owner: "cluster-version operator"}
	edges := len(b.g.Edges)
	for i := range b.report.Operators {
		name := b.report.Operators[i].Name
		to := ID("ClusterOperator", "", name)
		if b.have[to] && (b.named(name) && b.report.Operators[i].State != "waiting" || b.report.Operators[i].State == "updating" || b.report.Operators[i].Health != "healthy") {
			b.wait(id, to, "Waits", Seen)
		}
	}
	if c := b.version.Says("Failing"); c != nil {
		x.Quote = c.Message
		b.notApplied(id, c.Message)
		f := failure.Recognise(&failure.Sign{Kind: "ClusterVersion", Name: b.version.Name, Type: c.Type, Reason: c.Reason, Message: c.Message})
		switch {
		case f != nil && !f.Link && f.Of.Kind != "ClusterVersion":
			b.link(id, &x, &failure.Sign{Kind: "ClusterVersion", Name: b.version.Name, Type: c.Type, Reason: c.Reason, Message: c.Message})
		case len(b.g.Edges) > edges:
		case f != nil:
			x.State = Faulty
			x.is(f, "")
		default:
			x.State, x.Reason, x.Says, x.Since = Faulty, UpdateFails, "the update fails: "+cmp.Or(failure.Telling(c.Message, 120), c.Reason), c.LastTransitionTime
		}
	}
	if len(b.g.Edges) == edges && x.State == Waiting {
		if b.report.Assessment != cvo.AssessStalled && b.report.Assessment != cvo.AssessSlow && b.report.Assessment != cvo.AssessUnknown {
			x.State = Going
		}
		if p := fairlead.FindCondition(b.version.Status.Conditions, "Progressing"); p != nil {
			x.Quote = p.Message
			if p.Message != "" {
				x.Says += ": " + failure.Telling(p.Message, 100)
			}
		}
	}
	x.told = true
	return b.add(x)
}

// notApplied lets the control plane wait for what is in trouble of the workloads that could not be updated.
func (b *builder) notApplied(id, message string) {
	for _, o := range cvo.FailingObjects(message) {
		for i := range b.g.Nodes {
			n := &b.g.Nodes[i]
			if n.Namespace == o[1] && slices.Contains(running, n.Kind) && !strings.Contains(n.ID, "#") && (n.Name == o[2] || n.Kind == "Pod" && strings.HasPrefix(n.Name, o[2]+"-")) {
				b.wait(id, n.ID, "Applies", Seen)
			}
		}
	}
}
