package drain

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Wait is why a drain does not proceed, as plain data, so that it costs nothing
// until somebody needs the text: [Wait.Block] returns it.
type Wait struct {
	Node   string    `json:"node,omitempty"`   // the drained node
	Reason string    `json:"reason"`           // a stable word, see the Reason constants
	Name   string    `json:"name,omitempty"`   // of the pod (namespace/name), request or limit that it is about
	Owner  string    `json:"owner,omitempty"`  // who can end it
	Detail string    `json:"detail,omitempty"` // more, for people
	Since  time.Time `json:"since"`            // when it began
}

// Block returns the wait as a text.
func (w Wait) Block() fairlead.Block {
	message, unblock := w.Words()
	if w.Detail != "" {
		message += ": " + w.Detail
	}
	return fairlead.Block{Subject: "node " + w.Node, Reason: w.Reason, Message: message, Owner: w.who(), Since: w.Since, Unblock: unblock}
}

// who says who can end the wait.
func (w *Wait) who() string {
	switch {
	case w.Owner == "" && w.Reason == ReasonReplacementDue:
		return "whoever creates nodes"
	case w.Reason != ReasonPodRuns && w.Reason != ReasonPodProtected && w.Reason != ReasonPodInvalid && w.Reason != ReasonPodReturns:
		return w.Owner
	case w.Owner == "":
		return "whoever created the pod"
	}
	return "its controller, " + w.Owner
}

// same reports whether two waits are about the same thing, so that the later one
// began when the earlier one did.
func (w *Wait) same(o *Wait) bool {
	return w.Reason == o.Reason && w.Name == o.Name && w.Owner == o.Owner && w.Node == o.Node
}

// waitList collects the waits of one Step.
type waitList struct {
	fairlead.Unchanged[Wait] // Old are those of the previous Step
	now                      time.Time
	node                     string
	n                        int
}

// add adds a wait. If its Since is zero, or in the future, it is set to when the
// wait was first added.
func (l *waitList) add(w Wait) {
	w.Node = l.node
	if w.Since.IsZero() || w.Since.After(l.now) {
		w.Since = l.since(&w)
	}
	l.Add(w)
	l.n++
}

// since returns when a wait was first added.
func (l *waitList) since(w *Wait) time.Time {
	begin := min(l.n, len(l.Old)) // mostly where it was the last time
	for _, part := range [2][]Wait{l.Old[begin:], l.Old[:begin]} {
		for i := range part {
			if o := &part[i]; o.same(w) {
				return fairlead.Past(o.Since, l.now)
			}
		}
	}
	return l.now
}

// Silence returns since when a node has stopped reporting, and whether it has:
// its condition Ready is Unknown. A node that reports that it is not ready does
// report.
func Silence(n *fairlead.Node) (since time.Time, silent bool) {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == "Ready" {
			return c.LastTransitionTime, c.Status == "Unknown"
		}
	}
	return time.Time{}, false
}

// Unreachable reports whether the node has stopped reporting, see [Silence].
func Unreachable(n *Node) bool {
	_, silent := Silence(n)
	return silent
}
