package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/taints/placement"
)

// storage is what is known of volumes. A nil list is not known.
type storage struct {
	claims      []snapshot.Claim
	claimed     bool // claims are all
	classes     []snapshot.StorageClass
	attachments []lifecycle.VolumeAttachment
	volumes     []lifecycle.PersistentVolume
	known       *placement.Storage  // the same, as it decides where pods can run
	events      map[string][]string // by claim, what was noticed about it, the last first
}

// defaultClass marks the storage class of claims that name none.
const defaultClass = "storageclass.kubernetes.io/is-default-class"

// claim returns a claim, or nil.
func (w *world) claim(namespace, name string) *snapshot.Claim {
	for i := range w.storage.claims {
		if c := &w.storage.claims[i]; c.Namespace == namespace && c.Name == name {
			return c
		}
	}
	return nil
}

// claimsOf returns the names of the claims of a pod, in order.
func claimsOf(p *fairlead.Pod) (names []string) {
	for i := range p.Spec.Volumes {
		if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			names = append(names, c.ClaimName)
		}
	}
	return names
}

// claimsEnd adds the claims that are being deleted and that pods still use.
func (b *builder) claimsEnd() {
	for i := range b.storage.claims {
		c := &b.storage.claims[i]
		if c.DeletionTimestamp == nil || !slices.Contains(c.Finalizers, "kubernetes.io/pvc-protection") {
			continue
		}
		x := Node{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, State: Faulty, Reason: ClaimInUse, Since: *c.DeletionTimestamp, Sure: Derived, Owner: "owner of the pods"}
		users := b.users(c.Namespace, c.Name, "")
		if len(users) == 0 {
			continue // the controller removes the finalizer at any moment, or the pods are not known
		}
		x.Says = "claim " + c.ObjectMeta.String() + " is being deleted, and still used by " + words.Count(len(users), "pod", "pods") + " (" + users[0].ObjectMeta.String() + ")"
		x.do, x.command = "end the pods that use it, or let the claim be: it is deleted when the last of them has ended", shell.Command("kubectl -n %s get pod %s -o wide", users[0].Namespace, users[0].Name)
		b.add(x)
	}
}

// volumesFail adds the volumes that are not reclaimed after their claims were deleted.
func (b *builder) volumesFail() {
	for i := range b.storage.volumes {
		v := &b.storage.volumes[i]
		if v.Status.Phase != "Failed" || v.DeletionTimestamp != nil {
			continue
		}
		x := Node{Kind: "PersistentVolume", Name: v.Name, State: Faulty, Reason: VolumeFailed, Sure: Seen, Owner: "storage driver", Quote: v.Status.Message}
		x.Says = "volume " + v.Name
		if c := v.Spec.ClaimRef; c != nil {
			x.Says += " of the deleted claim " + c.Namespace + "/" + c.Name
		}
		x.Says += " could not be reclaimed"
		if said := failure.Telling(v.Status.Message, 140); said != "" {
			x.Says += ": " + said
		}
		x.do, x.command = "correct what its driver names; if its data is not needed any more, delete the storage and the volume", shell.Command("kubectl describe persistentvolume %s", v.Name)
		b.add(x)
	}
}

// claimsPend adds the claims that have lost their volume, and those that have had none for too long although no
// pod has to be placed first.
func (b *builder) claimsPend() {
	waits := map[string]bool{}
	for i := range b.storage.classes {
		c := &b.storage.classes[i]
		waits[c.Name] = c.VolumeBindingMode == "WaitForFirstConsumer"
	}
	for i := range b.storage.claims {
		c := &b.storage.claims[i]
		if c.Status.Phase == "Lost" && c.DeletionTimestamp == nil {
			b.claimWaits(&fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: c.Namespace}}, c.Name)
			continue
		}
		if c.Status.Phase != "Pending" || c.DeletionTimestamp != nil || b.have[ID("PersistentVolumeClaim", c.Namespace, c.Name)] || b.age(c.CreationTimestamp) < startTime {
			continue
		}
		if class := c.Spec.StorageClassName; class != nil && waits[*class] {
			continue // it gets one with its first pod, which says what it waits for itself
		}
		x := Node{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, State: Faulty, Sure: Seen, Owner: "administrator", Since: c.CreationTimestamp}
		x.command = shell.Command("kubectl -n %s describe pvc %s", c.Namespace, c.Name)
		b.pendingClaim(&x, c)
		b.add(x)
	}
}

// detach lets a node that is back release the volumes that no pod of it uses.
func (w *world) detach(node string) {
	if len(w.storage.attachments) == 0 {
		return
	}
	used := map[string]bool{}
	for _, i := range w.indexed().podsOn[node] {
		for _, claim := range claimsOf(&w.pods[i]) {
			if c := w.claim(w.pods[i].Namespace, claim); c != nil {
				used[c.Spec.VolumeName] = true
			}
		}
	}
	w.storage.attachments = slices.DeleteFunc(slices.Clone(w.storage.attachments), func(a lifecycle.VolumeAttachment) bool {
		return a.Spec.NodeName == node && !used[a.Spec.Source.PersistentVolumeName]
	})
}

// users returns the pods that use a claim, on a node, or on any if node is "".
func (b *builder) users(namespace, claim, node string) (pods []*fairlead.Pod) {
	for i := range b.pods {
		p := &b.pods[i]
		if p.Namespace == namespace && !p.Finished() && (node == "" || p.Spec.NodeName == node) && slices.Contains(claimsOf(p), claim) {
			pods = append(pods, p)
		}
	}
	return pods
}

// volumesWait adds what the volumes of a pod wait for, and edges to it; false if that is not known.
func (b *builder) volumesWait(p *fairlead.Pod) bool {
	pod, found := ID("Pod", p.Namespace, p.Name), false
	for _, name := range claimsOf(p) {
		for _, id := range append(b.claimWaits(p, name), b.attachedElsewhere(p, name)...) {
			b.wait(pod, id, "Mounts", Derived)
			found = true
		}
	}
	return found
}

// claimWaits adds a claim that has no volume, and returns its ID.
func (b *builder) claimWaits(p *fairlead.Pod, name string) []string {
	c := b.claim(p.Namespace, name)
	full := p.Namespace + "/" + name
	x := Node{Kind: "PersistentVolumeClaim", Namespace: p.Namespace, Name: name, State: Faulty, Sure: Seen, Owner: "administrator"}
	x.command = shell.Command("kubectl -n %s describe pvc %s", p.Namespace, name)
	switch {
	case c == nil && !b.storage.claimed:
		return nil
	case c == nil:
		x.Reason, x.Says, x.Sure = "ClaimMissing", "claim "+full+", which the pod mounts, does not exist", Derived
		x.do, x.command = "create it, or correct the pod's volume", shell.Command("kubectl -n %s get pvc", p.Namespace)
		return []string{b.add(x)}
	case c.Status.Phase == "Lost":
		x.Reason, x.Says, x.Danger = ClaimLost, "claim "+full+" has lost its volume "+c.Spec.VolumeName, true
		x.do = "restore the volume from a backup, and create the claim again"
		return []string{b.add(x)}
	case c.Status.Phase != "Pending":
		return nil
	}
	x.Since = c.CreationTimestamp
	b.pendingClaim(&x, c)
	return []string{b.add(x)}
}

// pendingClaim says why a claim has no volume.
func (b *builder) pendingClaim(x *Node, c *snapshot.Claim) {
	full := "claim " + c.ObjectMeta.String()
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	var names []string
	var has, preset bool
	for i := range b.storage.classes {
		s := &b.storage.classes[i]
		names = append(names, s.Name)
		has = has || s.Name == class
		preset = preset || s.Annotations[defaultClass] == "true"
	}
	slices.Sort(names)
	said, f := b.saidOfClaim(c)
	bypass := b.bypass(c)
	switch {
	case b.storage.classes != nil && class != "" && !has:
		x.Reason, x.Says = ClassMissing, full+" asks for storage class "+class+", which does not exist"
		x.do, x.command = "create the claim again with one that exists"+listed(names)+", or create the class", "kubectl get storageclasses"
	case b.storage.classes != nil && class == "" && c.Spec.StorageClassName == nil && !preset:
		x.Reason, x.Says = NoDefaultClass, full+" names no storage class, and none is the default"
		x.do, x.command = "make one the default"+listed(names), "kubectl get storageclasses"
		if len(names) == 1 {
			x.do = "make storage class " + names[0] + " the default"
			x.command = shell.Command("kubectl patch storageclass %s -p %s", names[0], `{"metadata":{"annotations":{"`+defaultClass+`":"true"}}}`)
		}
	case bypass != nil:
		x.Reason, x.Sure = ClaimBypassed, Derived
		x.Says = full + " has no volume: storage class " + class + " waits for the scheduler to choose a node, and pod " + bypass.ObjectMeta.String() + " was given node " + bypass.Spec.NodeName + " without it (spec.nodeName)"
		x.do = "in what makes the pod, select the node with a nodeSelector instead of nodeName"
		x.command = shell.Command("kubectl -n %s get pod %s -o yaml", bypass.Namespace, bypass.Name)
	case f != nil && f.Code != "ProvisioningFailed":
		x.is(f, full+": ")
		x.Quote = said
		if f.Command == "" {
			x.command = shell.Command("kubectl -n %s describe pvc %s", c.Namespace, c.Name)
		}
	case said != "":
		x.Reason, x.Says, x.Quote = "ProvisioningFailed", full+" gets no volume: "+failure.Telling(said, 160), said
		x.do = "correct what the driver's message names"
	default:
		x.Reason, x.Says = ClaimPending, full+" has no volume yet"
		if class != "" {
			x.Says += " from storage class " + class
		}
		x.do = "see what its provisioner says"
	}
}

// selectedNode is the annotation in which the scheduler tells a provisioner which node it chose.
const selectedNode = "volume.kubernetes.io/selected-node"

// bypass returns a pod that has a node and waits for a claim whose volume is made where the scheduler
// places a pod: the scheduler gives a pod no node before its claims have volumes.
func (b *builder) bypass(c *snapshot.Claim) *fairlead.Pod {
	if c.Spec.StorageClassName == nil || c.Annotations[selectedNode] != "" {
		return nil
	}
	for i := range b.storage.classes {
		if s := &b.storage.classes[i]; s.Name == *c.Spec.StorageClassName && s.VolumeBindingMode == "WaitForFirstConsumer" {
			for _, p := range b.users(c.Namespace, c.Name, "") {
				if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
					return p
				}
			}
		}
	}
	return nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + words.List(names, "or", 4) + ")"
}

// saidOfClaim returns the last event of a claim that says why it has no volume, and the known failure
// in it.
func (b *builder) saidOfClaim(c *snapshot.Claim) (string, *failure.Failure) {
	for _, said := range b.storage.events[c.ObjectMeta.String()] {
		return said, failure.Recognise(&failure.Sign{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, Message: said})
	}
	return "", nil
}

// attachedElsewhere adds what keeps the volume of a claim on another node than the pod's, and returns
// its IDs.
func (b *builder) attachedElsewhere(p *fairlead.Pod, claim string) (ids []string) {
	c := b.claim(p.Namespace, claim)
	if c == nil || c.Spec.VolumeName == "" || p.Spec.NodeName == "" || slices.Contains(c.Spec.AccessModes, "ReadWriteMany") || slices.Contains(c.Spec.AccessModes, "ReadOnlyMany") {
		return nil
	}
	for i := range b.storage.attachments {
		a := &b.storage.attachments[i]
		if node := a.Spec.NodeName; a.Spec.Source.PersistentVolumeName == c.Spec.VolumeName && node != p.Spec.NodeName {
			ids = append(ids, b.attached(p, c, a))
		}
	}
	return ids
}

// attached adds what keeps a volume attached to a node, and returns its ID.
func (b *builder) attached(p *fairlead.Pod, c *snapshot.Claim, a *lifecycle.VolumeAttachment) string {
	node, volume := a.Spec.NodeName, c.Spec.VolumeName
	if b.down[node] && !b.reports(node) {
		return ID("Node", "", node)
	}
	x := Node{Kind: "VolumeAttachment", Name: a.Name, State: Faulty, Sure: Derived, Owner: "storage driver"}
	users := b.users(c.Namespace, c.Name, node)
	switch {
	case b.nodes != nil && b.node(node) == nil:
		x.Reason, x.Danger = AttachedToGone, true
		x.Says = fmt.Sprintf("volume %s is still attached to node %s, which does not exist any more (VolumeAttachment %s)", volume, node, a.Name)
		x.do, x.command = "if the machine of "+node+" is gone or off, delete the VolumeAttachment: its driver detaches the volume", shell.Command("kubectl delete volumeattachment %s", a.Name)
	case len(users) > 0 && b.have[ID("Pod", users[0].Namespace, users[0].Name)]:
		return ID("Pod", users[0].Namespace, users[0].Name)
	case len(users) > 0:
		u := users[0]
		x.Reason, x.Owner = VolumeInUse, "owner of the pods"
		x.Says = fmt.Sprintf("volume %s of claim %s is in use by pod %s on node %s, and can be on one node only", volume, c.ObjectMeta.String(), u.ObjectMeta.String(), node)
		x.do, x.command = "end that pod first; a Deployment with such a volume needs the strategy Recreate", shell.Command("kubectl -n %s delete pod %s", u.Namespace, u.Name)
		if workload(u) != workload(p) {
			x.do = "give each pod a claim of its own, or end pod " + u.ObjectMeta.String()
		}
	default:
		x.Reason = AttachedIdle
		x.Says = fmt.Sprintf("volume %s is still attached to node %s, where no pod uses it (VolumeAttachment %s)", volume, node, a.Name)
		x.do, x.command = "see why the storage driver does not detach it", shell.Command("kubectl describe volumeattachment %s", a.Name)
	}
	return b.add(x)
}

// volumeFailure reports whether a known failure is about volumes, so that claims may explain it.
func volumeFailure(f *failure.Failure) bool {
	return slices.Contains([]string{"VolumeAttachedElsewhere", "ClaimMissing", "ClaimUnbound", "MountFailed", "ProvisioningFailed"}, f.Code) ||
		strings.HasPrefix(f.Code, "Volume")
}
