package diagnosis

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// mostRequests is how many requests for certificates a command names.
const mostRequests = 5

// requests adds the requests for certificates of kubelets that nobody has approved or denied, by node. A
// node that is down waits for its own: without a certificate its kubelet cannot report.
func (b *builder) requests() {
	names := map[string][]string{}
	var nodes []string
	for i := range b.csrs {
		r := &b.csrs[i]
		node, ok := strings.CutPrefix(r.Spec.Username, "system:node:")
		if !ok {
			if !strings.Contains(r.Spec.SignerName, "kubelet") {
				continue
			}
			node = "" // a node that joins
		}
		if !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
		names[node] = append(names[node], r.Name)
	}
	slices.Sort(nodes)
	var commands []string
	for _, node := range nodes {
		slices.Sort(names[node])
		for _, name := range names[node] {
			if len(commands) < mostRequests {
				commands = append(commands, b.program(shell.Command("kubectl certificate approve %s", name)))
			}
		}
	}
	for _, node := range nodes {
		all := names[node]
		x := Node{Kind: "CertificateSigningRequest", Name: all[0], State: Faulty, Reason: RequestPending, Sure: Seen, Owner: "administrator"}
		x.Says = words.Count(len(all), "certificate request", "certificate requests") + " of node " + node + " wait for approval"
		if len(all) == 1 {
			x.Says = "certificate request " + all[0] + " of node " + node + " waits for approval"
		}
		if node == "" {
			x.Says = words.Count(len(all), "certificate request of a node that joins waits", "certificate requests of nodes that join wait") + " for approval"
		}
		x.Alike = "kubelet"
		x.do, x.command = "approve the pending certificate requests, if their nodes are yours", strings.Join(commands, " && ")
		id := b.add(x)
		if node == "" {
			b.joining, b.joinID = len(all), id
		}
		for k := range b.g.Nodes {
			if n := &b.g.Nodes[k]; n.ID == ID("Node", "", node) && n.Reason == "KubeletSilent" {
				n.State = Waiting // an administrator sees whether it reports then
				b.wait(n.ID, id, "Certificate", Derived)
			}
		}
	}
}
