package diagnosis

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/taints/placement"
)

// The conditions of a claim whose size is changed (kubernetes/api core/v1/types.go), what failed first.
const (
	resizeFailed  = "ControllerResizeError"
	growthFailed  = "NodeResizeError"
	resizePending = "FileSystemResizePending"
	resizing      = "Resizing"
)

// claimsResize adds the claims that should have another size and do not get it: it was refused, or takes
// long, or the kubelet of a node has to enlarge the file system, which it does for a pod.
func (b *builder) claimsResize() {
	for i := range b.storage.claims {
		c := &b.storage.claims[i]
		if c.DeletionTimestamp != nil || b.have[ID("PersistentVolumeClaim", c.Namespace, c.Name)] {
			continue
		}
		for _, kind := range [...]string{resizeFailed, growthFailed, resizePending, resizing} {
			if is := fairlead.FindCondition(c.Status.Conditions, kind); is != nil && is.Status == fairlead.ConditionTrue {
				b.claimResizes(c, is)
				break
			}
		}
		if len(c.Status.Conditions) == 0 && len(b.storage.events[c.ObjectMeta.String()]) > 0 && grows(c) {
			b.claimResizes(c, &fairlead.Condition{Type: resizing}) // nobody has begun
		}
	}
}

// grows reports whether a claim has a volume, and should have a larger one.
func grows(c *snapshot.Claim) bool {
	has, err := placement.ParseAmount(c.Status.Capacity["storage"])
	wants, wrong := placement.ParseAmount(c.Spec.Resources.Requests["storage"])
	return err == nil && wrong == nil && c.Status.Phase == "Bound" && wants.Compare(has) > 0
}

// claimResizes adds a claim with a condition of a change of its size.
func (b *builder) claimResizes(c *snapshot.Claim, is *fairlead.Condition) {
	x := Node{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, State: Faulty, Reason: ClaimNotResized, Since: is.LastTransitionTime, Sure: Seen, Owner: "storage driver"}
	claim := "claim " + c.ObjectMeta.String()
	size := ""
	if from, to := c.Status.Capacity["storage"], c.Spec.Resources.Requests["storage"]; from != "" && to != "" && from != to {
		size = " from " + from + " to " + to
	}
	x.Says = claim + " is not resized" + size
	x.do, x.command = "see what its storage driver says", shell.Command("kubectl -n %s describe pvc %s", c.Namespace, c.Name)
	failed := is.Type == resizeFailed || is.Type == growthFailed
	if !failed && !x.Since.IsZero() && b.age(x.Since) < startTime {
		x.State = Going
	}
	x.Quote = is.Message
	if all := b.storage.events[c.ObjectMeta.String()]; is.Type == resizing && len(all) > 0 {
		x.Quote = all[0]
	}
	if is.Type == resizePending {
		b.fileSystem(&x, c)
	} else if said := failure.Telling(x.Quote, 160); said != "" {
		x.Says += ": " + said
		x.do = "correct what its storage driver names"
	}
	b.add(x)
}

// fileSystem says what a claim waits for whose volume has the new size, and whose file system has not.
func (b *builder) fileSystem(x *Node, c *snapshot.Claim) {
	x.Says += ": its volume is, and the kubelet enlarges the file system when it mounts it for a pod"
	users := b.users(c.Namespace, c.Name, "")
	at := slices.IndexFunc(users, func(p *fairlead.Pod) bool { return p.Spec.NodeName != "" })
	switch {
	case at >= 0:
		p := users[at]
		x.do, x.command = "end pod "+p.ObjectMeta.String()+", which uses it, so that another one mounts it", shell.Command("kubectl -n %s delete pod %s", p.Namespace, p.Name)
		if p.ControllerOf() == nil {
			x.do, x.command = "start pod "+p.ObjectMeta.String()+", which uses it and has no controller, again", shell.Command("kubectl -n %s get pod %s -o yaml", p.Namespace, p.Name)
		}
	case b.pods != nil:
		x.do = "start a pod that mounts it"
	default:
		x.do = "restart the pod that uses it"
	}
}
