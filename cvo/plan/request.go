package plan

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// invalidRequest reports whether the ClusterVersion is invalid because of the update that is
// requested: then that is withdrawn first, because oc requests no other one of an invalid
// ClusterVersion.
func (m *model) invalidRequest() bool {
	cv := m.Situation.Cluster
	c := cv.Says("Invalid")
	return c != nil && cv.Spec.DesiredUpdate != nil && strings.Contains(c.Message, "spec.desiredUpdate")
}

// withdraw withdraws an invalid request before the first update.
func (w *writer) withdraw(s *PlanStep) {
	if !w.m.invalidRequest() {
		return
	}
	d := w.m.Situation.Cluster.Spec.DesiredUpdate
	what := d.Version
	if what == "" {
		what = d.Image
	}
	s.First = append(s.First, Task{
		ClearRequest, "withdraw the request for " + clip(what, 80) + ", which makes the ClusterVersion invalid: oc requests nothing else until then", cvo.WithdrawCommand,
		"the ClusterVersion has no condition Invalid any more", "",
	})
}

// changing finds what the cluster is doing, other than an update to another release, which
// plans begin with: oc requests no update meanwhile.
func (m *model) changing() {
	cv := m.Situation.Cluster
	to, moving := onItsWay(m.Situation)
	c := cv.Says("Progressing")
	if c == nil || moving && to != m.start {
		return
	}
	text := "the cluster is still progressing: " + clip(c.Message, 140)
	switch {
	case moving && cv.Spec.DesiredUpdate != nil && cv.Spec.DesiredUpdate.Architecture != "":
		text = fmt.Sprintf("the cluster is being moved to the images of %s for several architectures, at the same version", m.start)
	case moving:
		text = fmt.Sprintf("the cluster is being moved to other images of %s, at the same version", m.start)
	}
	m.broken = append(m.broken, m.once(FactChanging, m.start, text+"; no update is requested until that is complete",
		fix{"Wait", m.start, "wait until it is complete: oc wait clusterversion version --for=condition=Progressing=false --timeout=6h", func(in *input) {
			set(in.Situation.Cluster.Status.Conditions, "Progressing", fairlead.ConditionFalse)
			if h := in.Situation.Cluster.Status.History; len(h) > 0 && h[0].Version == m.start {
				h[0].State = cvo.Completed
			}
		}, costLeave}))
}

// foreseen returns what the cluster reports today against updates to the next minor version, where no
// release of that is known yet.
func (in *input) foreseen() []*fact {
	from, ok := parseMinor(in.Situation.Cluster.Runs())
	to, ok2 := parseMinor(in.Goal.Minor)
	if !ok || !ok2 || to.major != from.major || to.minor != from.minor+1 {
		return nil
	}
	v := in.variant()
	target := in.Goal.Minor + ".0"
	v.Situation.Moves = append(v.Situation.Moves, Move{From: v.Situation.Cluster.Runs(), To: target})
	m, bad := newModel(v, target)
	if m == nil {
		return bad
	}
	all := append(m.broken, m.crossings[0]...)
	for _, f := range all {
		for i := range f.fixes {
			if text := f.fixes[i].text; !strings.Contains(f.text, text) && i == 0 {
				f.text += "; " + text
			}
		}
		f.fixes = nil
	}
	for _, g := range m.gates {
		if g.stage == 0 {
			all = append(all, &fact{reason: FactGate, subject: g.name, text: "an administrator must acknowledge " + g.name + " first: " + cvo.AcknowledgeCommand(g.name)})
		}
	}
	return all
}
