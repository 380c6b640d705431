package drain

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Words returns a Block of a drain with its words: Message, Owner and Unblock.
func Words(b fairlead.Block) fairlead.Block {
	b.Message, b.Unblock = inWords(&b)
	if b.Detail != "" {
		b.Message += ": " + b.Detail
	}
	b.Owner = who(&b)
	return b
}

// who says who can end a wait.
func who(b *fairlead.Block) string {
	switch {
	case b.Owner == "" && b.Reason == ReasonReplacementDue:
		return "whoever creates nodes"
	case b.Reason != ReasonPodRuns && b.Reason != ReasonPodProtected && b.Reason != ReasonPodInvalid && b.Reason != ReasonPodReturns:
		return b.Owner
	case b.Owner == "":
		return "whoever created the pod"
	}
	return "its controller, " + b.Owner
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
