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

// missing reports objects that a dump refers to and lacks: nodes that a pool counts, and
// operators that the ClusterVersion names or that the cluster must have. A dump that has
// lost files must report less, not better news.
func (i *inspection) missing() {
	if i.d.Nodes != nil && i.d.Pools != nil {
		if n := i.stray(); n > 0 {
			i.gap("which pool "+words.Count(n, "node belongs", "nodes belong")+" to", "oc get machineconfigpools -o yaml")
		}
		for k := range i.out.Pools {
			p := &i.out.Pools[k]
			at := slices.IndexFunc(i.d.Pools, func(d Pool) bool { return d.Name == p.Name })
			if lost := i.d.Pools[at].Status.MachineCount - p.Total; lost > 0 {
				i.gap(fmt.Sprintf("%d of the %s that pool %s counts", lost, words.Count(i.d.Pools[at].Status.MachineCount, "node", "nodes"), p.Name), "oc get nodes -o yaml")
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
		i.gap(words.Plural(len(lost), "the cluster operator ", "the cluster operators ")+words.List(lost, "and", 10)+", which the ClusterVersion names", "oc get clusteroperators -o yaml")
	}
	absent := slices.DeleteFunc(i.absent(), func(name string) bool { return slices.Contains(lost, name) })
	if len(absent) > 0 {
		i.gap(words.Plural(len(absent), "the cluster operator ", "the cluster operators ")+words.List(absent, "and", 6)+", expected on every cluster of this kind", "oc get clusteroperators -o yaml")
	}
}

// always are the operators that releases from 4.14 on have on a cluster with its own
// control plane: their manifests require no capability.
const always = "authentication config-operator dns etcd kube-apiserver kube-controller-manager kube-scheduler kube-storage-version-migrator " +
	"machine-approver machine-config monitoring network openshift-apiserver openshift-controller-manager service-ca"

// newOperators is the one capability that came with a new operator; the others made
// existing operators optional.
const newOperators = "OperatorLifecycleManagerV1"

// optional returns the operators that belong to capabilities.
func optional() map[string]string {
	return map[string]string{
		"baremetal": "baremetal", "marketplace": "marketplace", "openshift-samples": "openshift-samples", "Console": "console", "Insights": "insights",
		"MachineAPI": "cluster-autoscaler control-plane-machine-set machine-api", "Storage": "storage", "CSISnapshot": "csi-snapshot-controller",
		"NodeTuning": "node-tuning", "ImageRegistry": "image-registry", "CloudCredential": "cloud-credential", "Ingress": "ingress",
		"OperatorLifecycleManager": "operator-lifecycle-manager operator-lifecycle-manager-catalog operator-lifecycle-manager-packageserver",
		"CloudControllerManager":   "cloud-controller-manager", newOperators: "olm",
	}
}

// absent returns the operators that a cluster with its own control plane must have and
// that are not in the dump, sorted: those of every cluster, and those of capabilities
// that are enabled, or that its release does not know yet. Operators of feature sets are
// not expected, because the dump does not say which set is on. While a cluster is being
// installed, they appear one by one.
func (i *inspection) absent() []string {
	v := i.d.Version
	if v == nil || len(v.Status.History) == 0 || i.out.Install && i.out.Updating ||
		!slices.ContainsFunc(i.d.Nodes, func(n fairlead.Node) bool { return n.ControlPlane() }) && !slices.ContainsFunc(i.d.Pools, func(p Pool) bool { return p.Name == "master" }) {
		return nil
	}
	names := strings.Fields(always)
	known, enabled := v.Status.Capabilities.KnownCapabilities, v.Status.Capabilities.EnabledCapabilities
	for c, operators := range optional() {
		is := slices.Contains(enabled, c)
		switch {
		case c == newOperators:
			is = is && !i.out.Updating
		case len(known) > 0:
			is = is || !slices.Contains(known, c)
		}
		if is {
			names = append(names, strings.Fields(operators)...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(i.d.Operators, func(o ClusterOperator) bool { return o.Name == name })
	})
}

// stray counts the nodes that have a machine configuration and belong to no pool.
func (i *inspection) stray() (n int) {
	managed := map[string]bool{}
	for k := range i.d.Nodes {
		managed[i.d.Nodes[k].Name] = i.d.Nodes[k].Annotations[rollout.AnnotationCurrent] != ""
	}
	for _, r := range i.out.Nodes {
		if r.Pool == "" && managed[r.Name] {
			n++
		}
	}
	return n
}
