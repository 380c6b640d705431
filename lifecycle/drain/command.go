package drain

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
)

// Flags are for which of a node's pods kubectl drain needs a flag, without which it refuses to
// begin.
type Flags struct {
	IgnoreDaemonSets   bool `json:"ignoreDaemonSets,omitempty"`   // there are pods of DaemonSets, which stay
	DeleteEmptyDirData bool `json:"deleteEmptyDirData,omitempty"` // pods lose the data in their emptyDir
	Force              bool `json:"force,omitempty"`              // nothing replaces some of the pods
	DisableEviction    bool `json:"disableEviction,omitempty"`    // the policy deletes pods instead of evicting them
}

// add notes what the filters found of a pod.
func (f *Flags) add(found finding) {
	f.IgnoreDaemonSets = f.IgnoreDaemonSets || found&foundDaemonSet != 0
	f.DeleteEmptyDirData = f.DeleteEmptyDirData || found&foundLocal != 0 && found&(foundDaemonSet|foundMirror) == 0
	f.Force = f.Force || found&(foundUnmanaged|foundDaemonSetGone) != 0 && found&foundMirror == 0
}

// Command returns the command that drains a node: that of oc, or else of kubectl.
func (f Flags) Command(node string, oc bool) string {
	program, text := "kubectl drain", shell.Command("kubectl drain %s", node)
	if oc {
		program, text = "oc adm drain", shell.Command("oc adm drain %s", node)
	}
	operands, dashed := strings.CutPrefix(text, program+" -- ")
	if dashed { // the name would be taken for a flag, and flags after it for nodes
		text = program
	}
	if f.IgnoreDaemonSets {
		text += " --ignore-daemonsets"
	}
	if f.DeleteEmptyDirData {
		text += " --delete-emptydir-data"
	}
	if f.Force {
		text += " --force"
	}
	if f.DisableEviction {
		text += " --disable-eviction"
	}
	if dashed {
		text += " -- " + operands
	}
	return text
}

// Command returns the command of kubectl that drains the node as planned. It is empty if nothing
// is to be done, if the drain does not complete, or if kubectl does not do what is planned: wait
// for pods, keep some of them, or follow an order.
func (n *NodePlan) Command() string {
	goes := false
	for i := range n.Pods {
		p := &n.Pods[i]
		goes = goes || p.Round > 0
		if p.Order != 0 || p.Fate == FateWait || p.Fate == FateRefuse || slices.ContainsFunc(p.Reasons, func(r PodReason) bool {
			return r.Fate == FateSkip && (r.Filter == FilterOwn || r.Filter == FilterLabel || r.Filter == FilterRule)
		}) {
			return ""
		}
	}
	if !goes || n.Stuck > 0 {
		return ""
	}
	return n.Flags.Command(n.Node, false)
}
