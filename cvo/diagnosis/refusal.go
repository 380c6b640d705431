package diagnosis

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/words"
)

// adminAck is the reason of a precondition: an administrator has to acknowledge something.
const adminAck = "AdminAckRequired"

// refused adds a release that was requested and is not accepted.
func (b *builder) refused() {
	r := b.refusal()
	if r == nil {
		return
	}
	want := b.wanted()
	x := Node{Kind: "Update", Name: want, State: Faulty, Reason: UpdateRefused, Says: "the update to " + want + " is refused", Quote: r.Message, Since: r.Since, Sure: Seen, Owner: "administrator"}
	f := failure.Recognise(&failure.Sign{Kind: "ClusterVersion", Name: b.version.Name, Type: "ReleaseAccepted", Reason: r.Check, Message: r.Message})
	if f != nil {
		x.is(f, x.Says+": ")
	} else if said := failure.Telling(r.Message, 120); said != "" {
		x.Says += ": " + said
	}
	if do, command := r.Help(b.version, b.gates); f == nil || command != cvo.WithdrawCommand {
		do, _, _ = strings.Cut(do, ", or withdraw the request") // its step says that, with the command
		do, _, _ = strings.Cut(do, ". Or withdraw the request")
		x.do, x.command = do, command
	}
	if !b.lasts(r) { // the cluster version operator looks at it again by itself
		x.State = Going
	}
	b.add(x)
}

// refusal returns the request that the cluster refuses, or nil.
func (w *world) refusal() *cvo.Refused {
	if w.version == nil {
		return nil
	}
	return cvo.RefusedUpdate(w.version)
}

// lasts reports whether anything that is known still leads to a refusal: of overrides and of
// acknowledgements, the objects themselves tell. All other reasons last.
func (w *world) lasts(r *cvo.Refused) bool {
	for _, reason := range r.Reasons {
		switch reason {
		case cvo.ReasonOverrides:
			if len(w.version.Spec.Overrides) == 0 {
				continue
			}
		case adminAck:
			if open, known := w.gates.Unacknowledged(w.version.Status.Desired.Version); known && len(open) == 0 {
				continue
			}
		}
		return true
	}
	return false
}

// refusedVersion returns the version that was requested and is not accepted, or "".
func (b *builder) refusedVersion() string {
	if b.refusal() == nil {
		return ""
	}
	return b.wanted()
}

// wanted returns the version that is requested, or the reported one.
func (b *builder) wanted() string {
	if d := b.version.Spec.DesiredUpdate; d != nil && d.Version != "" {
		return d.Version
	}
	if r := b.refusal(); r != nil && r.Release.Version != "" {
		return r.Release.Version
	}
	return b.version.Status.Desired.Version
}

// refusalRemedies: what the cluster refuses the update for is done, or the request is withdrawn.
func (w *world) refusalRemedies(n *Node) []remedy {
	r := w.refusal()
	if r == nil {
		return nil
	}
	clear := remedy{Step{Do: "Withdraw the request for " + n.Name, Command: cvo.WithdrawCommand, Tried: true}, func(c *world) bool { return c.editVersion(withdrawn) }}
	s := Step{Do: upper(n.do), Command: n.command, Or: &clear.Step}
	has := func(reason string) bool { return slices.Contains(r.Reasons, reason) }
	open, _ := w.gates.Unacknowledged(w.version.Status.Desired.Version)
	switch {
	case has(cvo.ReasonOverrides) && len(w.version.Spec.Overrides) > 0:
		s.Do, s.Tried = "Remove spec.overrides: what they leave alone is managed again", true
		s.Must, s.See = "nobody needs what they leave as it is", "oc get clusterversion version -o jsonpath='{.spec.overrides}'"
		return []remedy{{s, func(c *world) bool { return c.editVersion(func(v *cvo.ClusterVersion) { v.Spec.Overrides = nil }) }}, clear}
	case has(adminAck) && len(open) > 0:
		var commands, says []string
		for _, gate := range open {
			commands, says = append(commands, cvo.AcknowledgeCommand(gate)), append(says, failure.Telling(w.gates.Gates[gate], 160))
		}
		s.Do, s.Command, s.Tried = "Acknowledge "+words.List(open, "and", 3)+" in openshift-config/admin-acks", strings.Join(commands, " && "), true
		s.Must, s.See = "what "+words.Plural(len(open), "it says", "they say")+" is done: "+strings.Join(says, "; "), "oc -n openshift-config-managed get configmap admin-gates -o yaml"
		return []remedy{{s, func(c *world) bool { return c.acknowledge(open) }}, clear}
	case n.command == cvo.WithdrawCommand:
		return []remedy{clear}
	}
	w.shows(&s, n)
	return []remedy{w.supposed(n, s)}
}

// withdrawn removes a request that the cluster does not begin.
func withdrawn(v *cvo.ClusterVersion) {
	v.Spec.DesiredUpdate = nil
	v.Status.Conditions = slices.DeleteFunc(slices.Clone(v.Status.Conditions), func(c fairlead.Condition) bool {
		return c.Type == "ReleaseAccepted" || c.Type == "Invalid"
	})
}

// editVersion replaces the ClusterVersion by a changed copy.
func (w *world) editVersion(edit func(*cvo.ClusterVersion)) bool {
	if w.version == nil {
		return false
	}
	v := *w.version
	v.Spec.Overrides = slices.Clone(v.Spec.Overrides)
	edit(&v)
	w.version = &v
	return true
}

// acknowledge says that gates are acknowledged.
func (w *world) acknowledge(gates []string) bool {
	if w.gates == nil {
		return false
	}
	all := *w.gates
	if all.Acks = maps.Clone(all.Acks); all.Acks == nil {
		all.Acks = map[string]string{}
	}
	for _, g := range gates {
		all.Acks[g] = "true"
	}
	w.gates = &all
	return true
}
