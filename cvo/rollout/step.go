package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Step decides what comes next in a pool at the time now. A nil policy means the
// defaults. Its arguments are not changed, and equal ones give equal decisions.
//
//  1. Nodes that are being updated continue, each on its own, even if the pool's
//     configuration has changed or the pool is paused: see [Stage].
//  2. Of the nodes that do not run the pool's configuration yet, those that
//     [Choose] picks are started.
//  3. The status of the pool is kept up to date.
func Step(state State, w *World, now time.Time, policy *Policy) Decision {
	p := policy.complete()
	s := &stepper{World: w, Ledger: fairlead.NewLedger(state.Pending, w.Outcomes, now, p.backoff()), old: state, now: now, policy: p, nodes: make(map[string]*Node, len(w.Nodes))}
	for i := range w.Nodes {
		s.nodes[w.Nodes[i].Name] = &w.Nodes[i]
	}
	s.remember()
	s.advance()
	s.begin()
	s.report()
	s.state.Pending = s.Pending()
	blocked := slices.Clone(s.Blocked())
	slices.SortStableFunc(blocked, func(a, b fairlead.Block) int { // those of drains, which have no words, come after the node's own
		return cmp.Or(order(strings.HasPrefix(a.Subject, "node "), strings.HasPrefix(b.Subject, "node ")), strings.Compare(a.Subject, b.Subject), order(a.Message == "", b.Message == ""))
	})
	for i := range blocked {
		if blocked[i].Message == "" {
			blocked[i] = drain.Words(blocked[i])
		}
	}
	return Decision{State: s.state, Actions: s.actions, Blocked: blocked, Wake: s.Wake()}
}

// stepper makes one decision.
type stepper struct {
	*World
	fairlead.Ledger
	old     State
	state   State
	now     time.Time
	policy  Policy
	nodes   map[string]*Node
	actions []Action
	drains  map[string]drain.NodeDecision // by node, for those that the engine drains
}

// remember carries over the selected nodes, without those that are done or
// deleted, and adds those that others have started.
func (s *stepper) remember() {
	for _, b := range s.old.Begun {
		b.Since = fairlead.Past(b.Since, s.now)
		n := s.nodes[b.Node]
		if n == nil {
			continue
		}
		told := Configuration{n.Annotations[AnnotationDesired], n.Annotations[AnnotationDesiredImage]}
		switch {
		case told == b.Configuration:
			b.Told = true
		case Stage(n) != StageNone: // being updated to something else
			b.Configuration, b.Told = told, true
		}
		if b.Told && told == b.Configuration && Stage(n) == StageNone && !Unavailable(n) {
			continue // it is done
		}
		s.state.Begun = append(s.state.Begun, b)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if stage := Stage(n); stage != StageNone && s.state.find(n.Name) == nil {
			told := Configuration{n.Annotations[AnnotationDesired], n.Annotations[AnnotationDesiredImage]}
			s.state.Begun = append(s.state.Begun, Begun{Node: n.Name, Configuration: told, Since: s.now, Told: true})
		}
	}
	slices.SortFunc(s.state.Begun, func(a, b Begun) int { return strings.Compare(a.Node, b.Node) })
}

// begin picks nodes to start, and says what the others wait for.
func (s *stepper) begin() {
	p := &s.Pool
	subject := "pool " + p.Name
	if p.Spec.Configuration.Name == "" {
		s.block(subject, ReasonNoTarget, "it has no target configuration", "", "set spec.configuration.name")
		return
	}
	c, err := Choose(s.World, s.state.names())
	if err != nil {
		s.block(subject, ReasonBudgetInvalid, err.Error(), "", "correct spec.maxUnavailable")
		return
	}
	for _, name := range c.Candidates {
		s.state.Begun = append(s.state.Begun, Begun{Node: name, Configuration: p.Spec.Configuration, Since: s.now})
		s.tell(s.nodes[name], p.Spec.Configuration)
	}
	slices.SortFunc(s.state.Begun, func(a, b Begun) int { return strings.Compare(a.Node, b.Node) })
	for _, name := range c.Waiting {
		if n := s.nodes[name]; !tainted(n) && !s.Pool.Spec.Paused && !s.Build.awaited(p) {
			s.do(Mark{Node: name, Revision: n.ResourceVersion, Waits: true})
		}
	}
	s.unmark(c)
	s.explain(c)
}

// tell decides to set the desired configuration of a node.
func (s *stepper) tell(n *Node, to Configuration) {
	a := Begin{Node: n.Name, Revision: n.ResourceVersion, Configuration: to}
	s.do(a)
	s.block("node "+n.Name, ReasonBegin, "it is being told to run "+to.Name, "", "wait until its annotation "+AnnotationDesired+" says so", a)
}

// unmark removes the taint from nodes that run the pool's configuration without
// having been updated by the engine.
func (s *stepper) unmark(c *Choice) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if tainted(n) && Updated(&s.Pool, n) && s.state.find(n.Name) == nil {
			s.do(Mark{Node: n.Name, Revision: n.ResourceVersion})
		}
	}
}

// explain says what prevents nodes from starting.
func (s *stepper) explain(c *Choice) {
	subject, target := "pool "+s.Pool.Name, s.Pool.Spec.Configuration.Name
	if n := len(c.Waiting) + len(c.Held); n > 0 && s.Pool.Spec.Paused {
		s.block(subject, ReasonPaused, fmt.Sprintf("it is paused, and %s not run %s", words.Count(n, "node does", "nodes do"), target), "whoever paused it", "set spec.paused to false")
	} else if len(c.Waiting) > 0 && s.Build.awaited(&s.Pool) {
		s.block(subject, ReasonBuild, fmt.Sprintf("%s, and %s", words.Count(len(c.Waiting), "node waits for an update", "nodes wait for an update"), s.Build), "", "wait until the image is built and spec.configuration.image names it")
	} else if len(c.Waiting) > 0 && len(c.Peers) > 0 {
		s.block(subject, ReasonPeers, fmt.Sprintf("%s for an update: %s", words.Count(len(c.Waiting), "node waits", "nodes wait"), waitFor(c.Peers)), "", "wait until those nodes are updated and take pods")
	} else if len(c.Waiting) > 0 {
		down := slices.Concat(c.Unavailable, c.Failing, c.Candidates)
		slices.Sort(down)
		s.block(subject, ReasonBudget, fmt.Sprintf("%s for an update: of %d that may be down, %s (%s)",
			words.Count(len(c.Waiting), "node waits", "nodes wait"), c.MaxUnavailable, words.Count(len(down), "is", "are"), strings.Join(down, ", ")),
			"", "wait until one of them is back, or raise spec.maxUnavailable")
	}
	if n, err := asked(&s.Pool, len(s.Nodes)); err == nil && n > c.MaxUnavailable {
		s.block(subject, ReasonQuorum, fmt.Sprintf("spec.maxUnavailable allows %d nodes at a time, which would break the quorum of a control plane of %d; at most %d may be down", n, len(s.Nodes), c.MaxUnavailable),
			"administrator", fmt.Sprintf("set spec.maxUnavailable to %d or less", c.MaxUnavailable))
	}
	s.outside(c)
	for _, name := range c.Failing {
		if s.state.find(name) == nil {
			s.degraded(s.nodes[name])
		}
	}
}

// outside reports nodes that take no pods for reasons other than the update, and
// joins those with one cause.
func (s *stepper) outside(c *Choice) {
	type cause struct{ reason, why string }
	var causes []cause
	names := map[cause][]string{}
	for _, name := range c.Unavailable {
		of := cause{ReasonUnavailable, unready(s.nodes[name])}
		if slices.Contains(c.Held, name) {
			of.reason = ReasonHeld
		}
		if s.state.find(name) != nil || of.reason == ReasonUnavailable && len(c.Waiting) == 0 {
			continue
		}
		if names[of] == nil {
			causes = append(causes, of)
		}
		names[of] = append(names[of], name)
	}
	for _, of := range causes {
		list := names[of]
		owner, unblock := "whoever runs the nodes", "make it ready and schedulable again"
		if of.why == cordoned {
			owner, unblock = "whoever cordoned it", "uncordon it"
		}
		if len(list) == 1 {
			message := "it counts against maxUnavailable of the pool: " + of.why
			if of.reason == ReasonHeld {
				message = "it needs the update, which does not start while the node takes no pods: " + of.why + "; it counts against maxUnavailable"
			}
			s.block("node "+list[0], of.reason, message, owner, unblock)
			continue
		}
		message := fmt.Sprintf("%d of its %d nodes count against maxUnavailable, each because %s: %s", len(list), len(s.Nodes), of.why, strings.Join(list, ", "))
		if of.reason == ReasonHeld {
			message = fmt.Sprintf("%d of its %d nodes need the update, which does not start while they take no pods, each because %s: %s", len(list), len(s.Nodes), of.why, strings.Join(list, ", "))
		}
		s.block("pool "+s.Pool.Name, of.reason, message, strings.ReplaceAll(owner, " it", " them"), strings.ReplaceAll(strings.ReplaceAll(unblock, "it takes", "they take"), " it", " them"))
	}
}

func (s *stepper) degraded(n *Node) {
	why := n.Annotations[AnnotationReason]
	if why == "" {
		why = "it does not say why"
	}
	s.block("node "+n.Name, ReasonDegraded, "it is "+n.Annotations[AnnotationState]+" during the update to "+n.Annotations[AnnotationDesired]+": "+why,
		"whoever runs the node", "repair the node, or give the pool a configuration that it can run")
}

// report keeps the status of the pool.
func (s *stepper) report() {
	want := Status(s.World, s.now)
	if !want.equal(&s.Pool.Status) {
		a := Report{Pool: s.Pool.Name, Revision: s.Pool.ResourceVersion, Status: want}
		if s.do(a) > 1 {
			s.block("pool "+s.Pool.Name, ReasonStatusOutdated, "its status could not be written yet", "", "wait until its status is what the nodes say", a)
		}
	}
}

// do decides on an action, unless it was decided on a short time ago and its
// effect is awaited. It returns how often it was decided on.
func (s *stepper) do(a Action) (attempts int) {
	if s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
	return s.Attempts(a.Key())
}

// block says why something waits, and returns since when. If an action for the
// same reason is pending, the error of its last attempt is added.
func (s *stepper) block(subject, reason, message, owner, unblock string, under ...Action) time.Time {
	for _, a := range under {
		message = s.Because(message, a.Key())
	}
	return s.Block(fairlead.Block{Subject: subject, Reason: reason, Message: message, Owner: owner, Unblock: unblock})
}

// waitFor names the peers that the pool waits for.
func waitFor(peers []string) string {
	return "quorum must not depend on " + strings.Join(peers, ", ") + ", which " + map[bool]string{true: "is", false: "are"}[len(peers) == 1] + " down or must be updated first"
}
