package cvo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/words"
)

// waitedFor finds the operators that a ClusterVersion names.
var waitedFor = regexp.MustCompile(`(?:waiting (?:up to \S+ \S+ )?on|[Cc]luster operators?|for these operators:) ((?:[a-z0-9][-a-z0-9]*, )*[a-z0-9][-a-z0-9]*)`)

// missing tells of what a dump speaks of and does not have: nodes that a pool counts,
// and operators that the ClusterVersion names. A dump from which files were lost says
// less, and nothing better.
func (i *inspection) missing() {
	if i.d.Nodes != nil && i.d.Pools != nil {
		if n := i.stray(); n > 0 {
			i.gap(fmt.Sprintf("the pool of %s", words.Count(n, "node", "nodes")), "oc get machineconfigpools -o yaml")
		}
		for k := range i.out.Pools {
			p := &i.out.Pools[k]
			at := slices.IndexFunc(i.d.Pools, func(d Pool) bool { return d.Name == p.Name })
			if lost := i.d.Pools[at].Status.MachineCount - p.Total; lost > 0 {
				i.gap(fmt.Sprintf("%s of pool %s, which counts %d", words.Count(lost, "node", "nodes"), p.Name, i.d.Pools[at].Status.MachineCount), "oc get nodes -o yaml")
				if p.Unknown += lost; p.State == "updated" {
					p.State = "unknown"
				}
			}
		}
	}
	if i.d.Operators == nil || i.d.Version == nil {
		return
	}
	var lost []string
	for _, kind := range []string{"Failing", "Progressing"} {
		c := fairlead.FindCondition(i.d.Version.Status.Conditions, kind)
		if c == nil || c.Status == False {
			continue
		}
		for _, m := range waitedFor.FindAllStringSubmatch(strings.ReplaceAll(c.Message, ", waiting", "; waiting"), -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				there := slices.ContainsFunc(i.d.Operators, func(o ClusterOperator) bool { return o.Name == name })
				if !there && !slices.Contains(lost, name) && !slices.Contains([]string{"is", "are", "to", "the", "has", "have", "do", "does", "not"}, name) {
					lost = append(lost, name)
				}
			}
		}
	}
	if len(lost) > 0 {
		i.gap("how "+words.List(lost, "and", 10)+" fares, which the ClusterVersion names", "oc get clusteroperators -o yaml")
	}
}

// stray counts the nodes that have a machine configuration and belong to no pool.
func (i *inspection) stray() (n int) {
	for _, r := range i.out.Nodes {
		if r.Pool != "" {
			continue
		}
		at := slices.IndexFunc(i.d.Nodes, func(d fairlead.Node) bool { return d.Name == r.Name })
		if i.d.Nodes[at].Annotations[rollout.AnnotationCurrent] != "" {
			n++
		}
	}
	return n
}
