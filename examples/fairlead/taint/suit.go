package taint

import (
	"cmp"
	"io"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/placement"
)

// suits says which nodes suit pods apart from taints: by labels, room, ports and the pods
// that are there.
type suits struct {
	*lookup
	cluster *placement.Cluster
}

func newSuits(cluster *taints.Cluster, storage *placement.Storage, o *taints.Options) *suits {
	s := &suits{lookup: newLookup(cluster), cluster: placement.New(&placement.Options{RoomUntold: true, ComparisonOperators: o.ComparisonOperators, Storage: storage})}
	for i := range cluster.Nodes {
		_ = s.cluster.SetNode(&cluster.Nodes[i]) // a quantity that cannot be read counts as none, and is told with the pods
	}
	for i := range cluster.Pods {
		_ = s.cluster.Add(&cluster.Pods[i])
	}
	return s
}

// rejection is a filter that rejects nodes for a pod.
type rejection struct {
	Filter  placement.Filter `json:"filter"`  // which
	Message string           `json:"message"` // why, for the first of the nodes
	Nodes   int              `json:"nodes"`   // how many it rejects
}

// split returns, of nodes grouped by taints, those that suit a pod without a node, in the
// same groups, and why others do not.
func (s *suits) split(p *fairlead.Pod) (suited [][]*fairlead.Node, rejected []rejection) {
	at := map[placement.Filter]int{}
	for _, like := range s.classes {
		var fit []*fairlead.Node
		for _, n := range like {
			good := true
			for _, r := range s.cluster.Evaluate(p, n.Name) {
				if r.Filter == placement.TaintToleration || r.Filter == placement.NodeUnschedulable {
					continue
				}
				good = false
				if _, known := at[r.Filter]; !known {
					at[r.Filter] = len(rejected)
					rejected = append(rejected, rejection{Filter: r.Filter, Message: r.Message})
				}
				rejected[at[r.Filter]].Nodes++
			}
			if good {
				fit = append(fit, n)
			}
		}
		if len(fit) > 0 {
			suited = append(suited, fit)
		}
	}
	slices.SortStableFunc(rejected, func(a, b rejection) int { return cmp.Compare(b.Nodes, a.Nodes) })
	return suited, rejected
}

// unsuited is a pod without a node that no node suits, or that some do not.
type unsuited struct {
	Pod      string      `json:"pod"`      // such as pod/shop/web-0
	Suited   int         `json:"suited"`   // how many nodes suit it apart from taints
	Rejected []rejection `json:"rejected"` // why the others do not, the most frequent first
}

// text says why nodes do not suit a pod.
func (u *unsuited) text(w io.Writer) {
	if u.Suited == 0 {
		words.Fprintf(w, "%s, without a node: it cannot be scheduled: no node suits it, whatever the taints\n", u.Pod)
	} else {
		words.Fprintf(w, "%s: other nodes do not suit it, whatever their taints\n", u.Pod)
	}
	for _, r := range u.Rejected {
		words.Fprintf(w, "  %s: %s: %s\n", r.Filter, words.Count(r.Nodes, "node", "nodes"), r.Message)
	}
}
