package machines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

const (
	groupClusterAPI   = "cluster.x-k8s.io/"
	clusterLabel      = "cluster.x-k8s.io/cluster-name"
	controlPlaneLabel = "cluster.x-k8s.io/control-plane"
)

// clusterOf returns what is known about the cluster of a machine of the Cluster API; nil if
// nothing is.
func (c *Cluster) clusterOf(m *lifecycle.Machine) *lifecycle.Cluster {
	name := m.Labels[clusterLabel]
	if !strings.HasPrefix(m.APIVersion, groupClusterAPI) || name == "" {
		return nil
	}
	for i := range c.Owning {
		o := &c.Owning[i]
		if o.Name != name || o.Namespace != m.Namespace {
			continue
		}
		found := &lifecycle.Cluster{Paused: o.Spec.Paused, Deleting: o.DeletionTimestamp != nil}
		known := false
		for j := range c.Machines {
			other := &c.Machines[j]
			if _, is := other.Labels[controlPlaneLabel]; !is || other.Labels[clusterLabel] != name || other.Namespace != m.Namespace {
				continue
			}
			known = true
			if !other.Deleting() {
				found.ControlPlanes++
			}
		}
		found.ExternalControlPlane = !known // its machines may be elsewhere
		return found
	}
	return nil
}

// started returns the state of a machine whose own controller says when it began to drain and
// to wait for volumes, so that its limits count from then.
func started(m *lifecycle.Machine) lifecycle.State {
	s := lifecycle.State{UID: m.UID}
	d := m.Status.Deletion
	if d == nil || d.NodeDrainStartTime == nil {
		return lifecycle.State{}
	}
	s.Stage, s.Began = lifecycle.StageDrain, []lifecycle.Beginning{{Stage: lifecycle.StagePreDrain, At: *m.DeletionTimestamp}, {Stage: lifecycle.StageDrain, At: *d.NodeDrainStartTime}}
	return s
}

// pausedBy returns a block if the machine's own controller reports that it does nothing.
func pausedBy(m *lifecycle.Machine) (fairlead.Block, bool) {
	c := lifecycle.FindCondition(m.Status.Conditions, "Paused")
	if c == nil || c.Status != fairlead.ConditionTrue {
		return fairlead.Block{}, false
	}
	b := fairlead.Block{
		Subject: "machine " + m.ObjectMeta.String(), Reason: lifecycle.ReasonPaused, Message: "its controller reports that it is paused: nothing is done about it",
		Unblock: "remove annotation " + lifecycle.PausedAnnotation + " of the machine, or set spec.paused of its cluster to false", Owner: "whoever paused it", Since: c.LastTransitionTime,
	}
	if c.Message != "" {
		b.Message += ": " + c.Message
	}
	if !strings.HasPrefix(m.APIVersion, groupClusterAPI) {
		b.Owner = "the controller of the other API"
		b.Unblock = "see which API is in charge of it, status.authoritativeAPI: " + shell.Command("oc -n %s get machines.machine.openshift.io %s -o yaml", m.Namespace, m.Name) +
			"; with ClusterAPI, look at its counterpart: " + shell.Command("oc -n openshift-cluster-api get machines.cluster.x-k8s.io %s -o yaml", m.Name)
	}
	return b, true
}

// infrastructure says what the object that stands for an instance reports.
func (c *Cluster) infrastructure(b *fairlead.Block, namespace string, ref *lifecycle.ObjectRef) {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	if ref.APIGroup != "" {
		group = ref.APIGroup
	}
	list := c.Objects[ref.Kind+"."+group]
	if list == nil {
		return
	}
	o, _ := list.Get(namespace, ref.Name)
	if o == nil {
		return
	}
	var says []string
	for i := range o.Status.Conditions {
		if k := &o.Status.Conditions[i]; k.Status == fairlead.ConditionFalse && k.Message != "" {
			says = append(says, k.Type+"=False "+k.Reason+": "+k.Message)
		}
	}
	switch {
	case o.DeletionTimestamp == nil:
		b.Message += "; its deletion was not requested yet"
	case len(says) > 0:
		b.Message += "; it says: " + says[0]
		b.Unblock = "correct what it names; its controller then goes on by itself"
	case len(o.Finalizers) > 0:
		b.Message += ", which finalizer " + words.First(o.Finalizers, 3) + " keeps since " + o.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
}

// detaching says more about a volume whose detachment was requested.
func detaching(b *fairlead.Block, a *lifecycle.VolumeAttachment) {
	b.Message += " by VolumeAttachment " + a.Name
	if a.DeletionTimestamp == nil {
		return
	}
	driver := a.Spec.Attacher
	if driver == "" {
		driver = "its driver"
	}
	b.Owner = "the CSI driver " + driver
	b.Message += fmt.Sprintf(", whose deletion was requested at %s: %s has not detached it", a.DeletionTimestamp.UTC().Format(time.RFC3339), driver)
	if e := a.Status.DetachError; e != nil && e.Message != "" {
		b.Message += ": " + e.Message
	}
	b.Unblock = "read the log of the controller of " + driver + " (its container csi-attacher), and whether the cloud still has the volume on the instance"
}

// requests names the certificate requests that nobody has decided on.
func (c *Cluster) requests(b *fairlead.Block) {
	var pending []string
	if list := c.Objects["CertificateSigningRequest.certificates.k8s.io"]; list != nil {
		for i := range list.Items {
			o := &list.Items[i]
			if !slices.ContainsFunc(o.Status.Conditions, func(k fairlead.Condition) bool {
				return k.Type == "Approved" || k.Type == "Denied" || k.Type == "Failed"
			}) {
				pending = append(pending, o.Name)
			}
		}
	}
	if len(pending) == 0 {
		return
	}
	b.Message += "; " + words.Count(len(pending), "CertificateSigningRequest is", "CertificateSigningRequests are") + " pending: " + words.First(pending, 3)
	b.Unblock = "see whether it is this machine's (" + shell.Command("kubectl describe csr %s", pending[0]) + "), and if so approve it: " + shell.Command("kubectl certificate approve %s", pending[0]) +
		"; then find out why the approver did not"
}

// stuckBy returns a block for the last thing that a machine's own controller reports as failed,
// for a deletion of which nothing else says why it does not proceed.
func stuckBy(m *lifecycle.Machine, now time.Time) (fairlead.Block, bool) {
	for _, c := range lifecycle.Reported(m) {
		if c.Status != fairlead.ConditionFalse || c.Message == "" || !strings.Contains(c.Reason, "Fail") && !strings.Contains(c.Reason, "Error") {
			continue
		}
		return fairlead.Block{
			Subject: "machine " + m.ObjectMeta.String(), Reason: "Reported", Message: "its controller reports " + c.Type + "=False " + c.Reason + ": " + c.Message,
			Owner: "the machine's controller", Since: fairlead.Past(c.LastTransitionTime, now), Unblock: "correct what it names; it is tried again by itself",
		}, true
	}
	return fairlead.Block{}, false
}
