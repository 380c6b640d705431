package diagnosis

import (
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/shell"
)

// starter removes a taint from a node once the node can run pods.
type starter struct {
	taint, who, command string
	pods                []string // how the names of its pods begin, or what is in them; nil if not known
}

// starters are those that are known, from the projects' documentation.
var starters = sync.OnceValue(func() []starter {
	pods := "kubectl get pods -A -o wide"
	return []starter{
		{"node.cloudprovider.kubernetes.io/uninitialized", "the cloud controller manager", "kubectl get pods -A -l k8s-app=cloud-controller-manager", []string{"cloud-controller-manager"}},
		{"node.cluster.x-k8s.io/uninitialized", "the Cluster API", "kubectl get machines -A -o wide", nil},
		{"node.cilium.io/agent-not-ready", "the Cilium agent", "kubectl get pods -A -o wide -l k8s-app=cilium", []string{"cilium-"}},
		{"ebs.csi.aws.com/agent-not-ready", "the EBS CSI driver", pods, []string{"ebs-csi-node"}},
		{"efs.csi.aws.com/agent-not-ready", "the EFS CSI driver", pods, []string{"efs-csi-node"}},
		{"disk.csi.azure.com/agent-not-ready", "the Azure disk CSI driver", pods, []string{"csi-azuredisk-node", "azuredisk-csi-node"}},
		{"karpenter.sh/unregistered", "Karpenter", "kubectl get nodeclaims -o wide", []string{"karpenter-"}},
	}
})

// runs reports whether a pod is one of the starter's, by its name.
func (s *starter) runs(p *fairlead.Pod) bool {
	return slices.ContainsFunc(s.pods, func(part string) bool { return strings.Contains(p.Name, part) }) && !strings.Contains(p.Name, "operator")
}

// notStarted adds a node that has had the taint of a node that starts for too long.
func (b *builder) notStarted(n *fairlead.Node) {
	if len(n.Spec.Taints) == 0 {
		return
	}
	for _, s := range starters() {
		if !slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == s.taint }) {
			continue
		}
		x := Node{ID: ID("Node", "", n.Name) + "#" + s.taint, Kind: "Node", Name: n.Name, State: Faulty, Reason: NodeNotStarted, Since: n.CreationTimestamp, Sure: Seen, Owner: s.who, Alike: s.taint}
		x.Says = "node " + n.Name + " still has the taint " + s.taint + ", which " + s.who + " removes"
		x.do, x.command = "see whether "+s.who+" runs, and what its log says about the node", s.command
		if b.age(n.CreationTimestamp) < startTime && !n.CreationTimestamp.IsZero() {
			x.State = Going
		} else if p := b.shutOut(&s); p != nil {
			name := p.ObjectMeta.String()
			x.Says = "node " + n.Name + " has the taint " + s.taint + " until " + s.who + " runs, whose pod " + name + " does not tolerate it"
			x.do, x.command = "let the pods of "+workload(p)+" tolerate that taint; these are the tolerations of pod "+name, shell.Command("kubectl -n %s get pod %s -o jsonpath={.spec.tolerations}", p.Namespace, p.Name)
		}
		b.down[n.Name], b.closedBy[n.Name] = true, b.add(x)
		return
	}
}

// shutOut returns a pod of a starter that has no node and does not tolerate the taint that the
// starter is to remove: both wait for each other. It returns nil if another pod of it runs.
func (b *builder) shutOut(s *starter) (found *fairlead.Pod) {
	for i := range b.pods {
		p := &b.pods[i]
		if !s.runs(p) || p.DeletionTimestamp != nil {
			continue
		}
		if p.Spec.NodeName != "" {
			return nil
		}
		if !slices.ContainsFunc(p.Spec.Tolerations, func(t fairlead.Toleration) bool { return t.Key == s.taint || t.Key == "" }) {
			found = p
		}
	}
	return found
}

// started lets nodes that have not started wait for the starter's pods in trouble: those on the
// node, or those of a starter that runs elsewhere.
func (b *builder) started() {
	for _, s := range starters() {
		for i := range b.g.Nodes {
			n := &b.g.Nodes[i]
			if n.Reason != NodeNotStarted || n.Alike != s.taint || n.State != Faulty {
				continue
			}
			for k := range b.g.Nodes {
				x := &b.g.Nodes[k]
				if p := b.pod(x.Namespace, x.Name); x.Kind == "Pod" && x.State == Faulty && p != nil && s.runs(p) && p.Spec.NodeName != "" && (p.Spec.NodeName == n.Name || !agent(p)) {
					b.wait(n.ID, x.ID, "Starts", Derived)
					n.State = Waiting
				}
			}
		}
	}
}

// carries reports whether a pod that fails may be why its node is not ready: an agent that needs no
// pod network itself, on a node whose kubelet reports that it has none.
func (b *builder) carries(p *fairlead.Pod) bool {
	n := b.node(p.Spec.NodeName)
	if n == nil || !p.Spec.HostNetwork || !agent(p) {
		return false
	}
	ready := n.Condition("Ready")
	if ready == nil {
		return false
	}
	f := failure.Recognise(&failure.Sign{Kind: "Node", Name: n.Name, Type: ready.Type, Reason: ready.Reason, Message: ready.Message})
	if f == nil || f.Code != noNetwork {
		return false
	}
	f, _ = b.containerFailure(p)
	return f != nil
}

// noNetwork is the known failure of a node that has no pod network.
const noNetwork = "NetworkPluginNotReady"

// networked lets nodes without a pod network wait for the agents on them that fail.
func (b *builder) networked() {
	for i := range b.g.Nodes {
		n := &b.g.Nodes[i]
		if n.Kind != "Node" || n.Reason != noNetwork || n.State != Faulty {
			continue
		}
		for _, k := range b.index.podsOn[n.Name] {
			p := &b.pods[k]
			if id := ID("Pod", p.Namespace, p.Name); b.have[id] && b.carries(p) {
				b.wait(n.ID, id, "Starts", Derived)
				n.State = Waiting
			}
		}
	}
}

// agent reports whether a pod runs on each node.
func agent(p *fairlead.Pod) bool {
	o := p.ControllerOf()
	return o != nil && o.Kind == "DaemonSet"
}
