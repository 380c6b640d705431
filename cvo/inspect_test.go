package cvo_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// dumpOf is a cluster half an hour into an update to 4.19.0, of which all is
// known and well: etcd is done, and dns is not.
func dumpOf() *cvo.Dump {
	d := &cvo.Dump{Version: &cvo.ClusterVersion{}, Configs: map[string]string{"new": "4.19.0", "old": "4.18.0"}, Alerts: []cvo.Alert{}}
	d.Version.Status.History = []cvo.History{
		{State: cvo.Partial, StartedTime: noon, Version: "4.19.0", Image: "b"},
		{State: cvo.Completed, StartedTime: noon.Add(-time.Hour), CompletionTime: &noon, Version: "4.18.0", Image: "a"},
	}
	d.Version.Status.Conditions = []cvo.Condition{{Type: "Failing", Status: cvo.False}}
	for name, version := range map[string]string{"etcd": "4.19.0", "dns": "4.18.0"} {
		o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: name, Annotations: map[string]string{"include.release.openshift.io/x": "true"}}}
		o.Status.Versions = []cvo.Operand{{Name: "operator", Version: version}}
		o.Status.Conditions = []cvo.Condition{{Type: "Available", Status: cvo.True}, {Type: "Degraded", Status: cvo.False}, {Type: "Progressing", Status: cvo.ConditionStatus(fmt.Sprint(version == "4.18.0")), LastTransitionTime: noon.Add(time.Minute)}}
		if version == "4.18.0" {
			o.Status.Conditions[2].Status = cvo.True
		}
		d.Operators = append(d.Operators, o)
	}
	slices.SortFunc(d.Operators, func(a, b cvo.ClusterOperator) int { return strings.Compare(a.Name, b.Name) }) // dns, etcd
	pool := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: "worker"}}
	pool.Spec.NodeSelector = &rollout.LabelSelector{MatchLabels: map[string]string{"w": ""}}
	pool.Spec.Configuration.Name = "old"
	d.Pools = []cvo.Pool{pool}
	for i := range 3 {
		d.Nodes = append(d.Nodes, fairlead.Node{ObjectMeta: cvo.ObjectMeta{
			Name: fmt.Sprintf("w-%d", i), Labels: map[string]string{"w": ""},
			Annotations: map[string]string{rollout.AnnotationCurrent: "old", rollout.AnnotationDesired: "old", rollout.AnnotationState: rollout.StateDone},
		}})
	}
	return d
}

// What is at fault is told, as bad as it is, and not before it is.
func TestInspectFindings(t *testing.T) {
	operator := func(kind string, status cvo.ConditionStatus, age time.Duration) func(*cvo.Dump) {
		return func(d *cvo.Dump) {
			for i, c := range d.Operators[1].Status.Conditions {
				if c.Type == kind {
					d.Operators[1].Status.Conditions[i] = cvo.Condition{Type: kind, Status: status, Reason: "Trouble", Message: "it hurts", LastTransitionTime: noon.Add(time.Hour - age)}
				}
			}
		}
	}
	node := func(kind string, status fairlead.ConditionStatus, age time.Duration) func(*cvo.Dump) {
		return func(d *cvo.Dump) {
			d.Nodes[0].Status.Conditions = []fairlead.NodeCondition{{Type: kind, Status: status, LastTransitionTime: noon.Add(time.Hour - age), Message: "kubelet is gone"}}
		}
	}
	version := func(c cvo.Condition) func(*cvo.Dump) {
		return func(d *cvo.Dump) {
			d.Version.Status.Conditions = append([]cvo.Condition{c}, d.Version.Status.Conditions...)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*cvo.Dump)
		want   string // severity subject: part of message; part of next
	}{
		{"all is well", func(*cvo.Dump) {}, ""},
		{"not available for 4 minutes", operator("Available", cvo.False, 4*time.Minute), "info clusteroperator etcd: is not available: it hurts; up to 20 minutes"},
		{"for 19", operator("Available", cvo.False, 19*time.Minute), "warning clusteroperator etcd: is not available; up to 20 minutes"},
		{"for 21", operator("Available", cvo.False, 21*time.Minute), "error clusteroperator etcd: is not available; more than 20 minutes"},
		{"degraded for 39", operator("Degraded", cvo.True, 39*time.Minute), "warning clusteroperator etcd: is degraded; up to 40 minutes"},
		{"for 41", operator("Degraded", cvo.True, 41*time.Minute), "error clusteroperator etcd: is degraded; more than 40 minutes"},
		{"it does not say", func(d *cvo.Dump) { d.Operators[1].Status.Conditions = nil }, "warning clusteroperator etcd: does not say whether it is available; "},
		{"a node is not ready for 29", node("Ready", "False", 29*time.Minute), "warning node w-0: not ready: kubelet is gone; usually back within 30 minutes"},
		{"for 31", node("Ready", "Unknown", 31*time.Minute), "warning node w-0: not ready; more than 30 minutes is not normal"},
		{"a node without network", node("NetworkUnavailable", "True", 5*time.Minute), "info node w-0: NetworkUnavailable; counts against maxUnavailable"},
		{"a full disk", node("DiskPressure", "True", 5*time.Minute), "info node w-0: DiskPressure; counts against maxUnavailable"},
		{"a node of no pool", func(d *cvo.Dump) {
			node("Ready", "Unknown", 31*time.Minute)(d)
			d.Nodes[0].Labels = nil
		}, "warning node w-0: node w-0: not ready: kubelet is gone; more than 30 minutes is not normal: check the machine and its console; no pods are scheduled"},
		{"one that does not say since when", func(d *cvo.Dump) {
			d.Nodes[0].Labels, d.Nodes[0].Status.Conditions = nil, []fairlead.NodeCondition{{Type: "Ready", Status: "False"}}
		}, "warning node w-0: not ready: it does not say why; check the machine"},
		{"one that is stuck", func(d *cvo.Dump) {
			d.Nodes[0].Labels = nil
			d.Nodes[0].Annotations[rollout.AnnotationState] = rollout.StateDegraded
		}, "error node w-0: its machine config daemon is stuck; it belongs to no pool"},
		{"one that is cordoned", func(d *cvo.Dump) {
			d.Nodes[0].ObjectMeta = fairlead.ObjectMeta{Name: "w-0"}
			d.Nodes[0].Spec.Unschedulable, d.Pools[0].Status.MachineCount = true, 2
		}, "info node w-0: marked unschedulable; kubectl uncordon w-0"},
		{"a refused release", version(cvo.Condition{Type: "ReleaseAccepted", Status: cvo.False, Reason: "PreconditionChecks", Message: "no"}), "error clusterversion version: the update to the requested release was refused: no; fix the cause"},
		{"a request without sense", version(cvo.Condition{Type: "Invalid", Status: cvo.True, Reason: "InvalidClusterVersion", Message: "odd"}), "error clusterversion version: the update to the requested release was refused: odd; correct the field"},
		{"slow", func(d *cvo.Dump) {
			d.Version.Status.Conditions = []cvo.Condition{{Type: "Failing", Status: cvo.Unknown, Reason: "SlowClusterOperator", Message: "waiting on dns"}}
		}, "warning clusterversion version: slower than usual: waiting on dns; nothing has failed"},
		{"an old list of updates", version(cvo.Condition{Type: "RetrievedUpdates", Status: cvo.False, Reason: "RemoteFailed", Message: "no route"}), "info clusterversion version: may be old: no route; update service is reachable"},
		{"an operator of no release", func(d *cvo.Dump) {
			d.Operators = append(d.Operators, cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: "mine"}})
		}, ""},
		{"an alert from before that is no matter", func(d *cvo.Dump) {
			d.Alerts = []cvo.Alert{{Labels: map[string]string{"alertname": "Odd", "severity": "warning"}, State: "firing", ActiveAt: noon.Add(-time.Hour)}}
		}, ""},
		{"an alert since", func(d *cvo.Dump) {
			d.Alerts = []cvo.Alert{{Labels: map[string]string{"alertname": "Odd", "severity": "critical"}, State: "firing", ActiveAt: noon.Add(time.Minute)}}
		}, "error alert Odd: alert: Odd; "},
		{"a paused pool", func(d *cvo.Dump) { d.Pools[0].Spec.Paused = true }, "warning pool worker: the pool worker is paused: 3 of its 3 nodes are not updated; unpause"},
	} {
		d := dumpOf()
		c.change(d)
		r := cvo.Inspect(d, noon.Add(time.Hour))
		if c.want == "" {
			if len(r.Findings) > 0 || !r.Well() || !strings.Contains(r.Headline, "well") || r.Completion.Updated != 1 || r.Completion.Updating != 1 {
				t.Errorf("%s: %+v", c.name, r)
			}
			continue
		}
		head, next, _ := strings.Cut(c.want, "; ")
		who, message, _ := strings.Cut(head, ": ")
		if len(r.Findings) != 1 || string(r.Findings[0].Severity)+" "+r.Findings[0].Subject != who || !strings.Contains(r.Findings[0].Message, message) || !strings.Contains(r.Findings[0].Next, next) {
			t.Errorf("%s: %+v", c.name, r.Findings)
		}
		if info := strings.HasPrefix(c.want, "info"); r.Well() != info || !info && strings.Contains(r.Headline, "proceeding well") {
			t.Errorf("%s: well %v: %s", c.name, r.Well(), r.Headline)
		}
		if back := again(t, r); !reflect.DeepEqual(back, r) {
			t.Errorf("%s: through JSON %+v became %+v", c.name, r, back)
		}
	}
}

// own gives a dump all operators of a cluster with its own control plane, but for some.
func own(d *cvo.Dump, but ...string) {
	for name := range strings.FieldsSeq("authentication config-operator kube-apiserver kube-controller-manager kube-scheduler kube-storage-version-migrator " +
		"machine-approver machine-config monitoring network openshift-apiserver openshift-controller-manager service-ca baremetal marketplace openshift-samples " +
		"console insights cluster-autoscaler control-plane-machine-set machine-api storage csi-snapshot-controller node-tuning image-registry cloud-credential ingress " +
		"operator-lifecycle-manager operator-lifecycle-manager-catalog operator-lifecycle-manager-packageserver cloud-controller-manager olm") {
		if !slices.Contains(but, name) {
			o := d.Operators[0]
			o.Name = name
			d.Operators = append(d.Operators, o)
		}
	}
}

// If no operator has the annotation of a release, as in a dump whose annotations were
// removed, all count; if one has it, the others do not.
func TestInspectUnmarked(t *testing.T) {
	d := dumpOf()
	d.Operators[0].Annotations = nil
	if r := cvo.Inspect(d, noon.Add(time.Hour)); len(r.Operators) != 1 {
		t.Errorf("one is marked: %d operators", len(r.Operators))
	}
	d.Operators[1].Annotations = nil
	if r := cvo.Inspect(d, noon.Add(time.Hour)); len(r.Operators) != 2 || r.Completion.Updated != 1 {
		t.Errorf("none is marked: %d operators, %+v", len(r.Operators), r.Completion)
	}
}

// What a dump speaks of and does not have is a gap, and keeps all from being well.
func TestInspectMissing(t *testing.T) {
	for _, c := range []struct {
		change func(*cvo.Dump)
		want   string
	}{
		{func(d *cvo.Dump) { d.Pools[0].Status.MachineCount = 3 }, ""},
		{func(d *cvo.Dump) { d.Pools[0].Status.MachineCount = 5 }, "2 of the 5 nodes that pool worker counts"},
		{func(d *cvo.Dump) { d.Pools = []cvo.Pool{} }, "which pool 3 nodes belong to"},
		{func(d *cvo.Dump) { d.Pools = []cvo.Pool{}; d.Nodes = d.Nodes[:0] }, ""},
		{func(d *cvo.Dump) {
			d.Version.Status.Conditions = append(d.Version.Status.Conditions, cvo.Condition{Type: "Progressing", Status: cvo.True, Message: "Working towards 4.19.0: 2 of 4 done (50% complete), waiting up to 40 minutes on console, waiting on dns, network"})
		}, "the cluster operators console and network, which the ClusterVersion names"},
		{func(d *cvo.Dump) {
			d.Version.Status.Conditions = append(d.Version.Status.Conditions, cvo.Condition{Type: "Progressing", Status: cvo.True, Message: "Unable to apply 4.19.0: some cluster operators are not available"})
		}, ""},
		{func(d *cvo.Dump) {
			d.Version.Status.Conditions = append(d.Version.Status.Conditions, cvo.Condition{Type: "Progressing", Status: cvo.True, Message: "Unable to apply 4.19.0: wait has exceeded 40 minutes for these operators: etcd, storage"})
		}, "the cluster operator storage, which the ClusterVersion names"},
		{func(d *cvo.Dump) { d.Nodes[0].Labels["node-role.kubernetes.io/control-plane"] = ""; own(d) }, ""},
		{func(d *cvo.Dump) {
			d.Nodes[0].Labels["node-role.kubernetes.io/master"] = ""
			own(d, "network", "kube-scheduler")
		}, "the cluster operators kube-scheduler and network, expected on every cluster of this kind"},
		{func(d *cvo.Dump) {
			d.Nodes[0].Labels["node-role.kubernetes.io/master"] = ""
			own(d, "storage", "ingress", "insights", "olm")
			d.Version.Status.Capabilities.KnownCapabilities = []string{"Insights", "Storage", "Console", "OperatorLifecycleManagerV1"} // not Ingress: it is not optional
			d.Version.Status.Capabilities.EnabledCapabilities = []string{"Storage"}
		}, "the cluster operators ingress and storage, expected on every cluster of this kind"},
	} {
		d := dumpOf()
		c.change(d)
		r := cvo.Inspect(d, noon.Add(time.Hour))
		var gaps []string
		for _, g := range r.Gaps {
			gaps = append(gaps, g.What)
		}
		if got := strings.Join(gaps, "; "); got != c.want || r.Well() != (c.want == "") {
			t.Errorf("%q, not %q; well %v", got, c.want, r.Well())
		}
		if missing := strings.Contains(r.Headline, "information is missing"); missing != (c.want != "" && len(r.Findings) == 0) {
			t.Errorf("%q is missing, and the headline is %q", c.want, r.Headline)
		}
	}
}

// Many symptoms with one cause are one finding.
func TestInspectCauses(t *testing.T) {
	down := "NodeControllerDegraded: The master nodes not ready: node \"m-1\" not ready since 2026-05-01 12:00:00 +0000 UTC because KubeletNotReady (container runtime network not ready: no CNI configuration)"
	bad := func(d *cvo.Dump, message string, names ...string) {
		for _, name := range names {
			o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: name, Annotations: map[string]string{"include.release.openshift.io/x": "true"}}}
			o.Status.Conditions = []cvo.Condition{{Type: "Available", Status: cvo.True}, {Type: "Degraded", Status: cvo.True, Reason: "Bad", Message: message, LastTransitionTime: noon}}
			d.Operators = append(d.Operators, o)
		}
		d.Version.Status.Conditions = []cvo.Condition{{Type: "Failing", Status: cvo.True, Reason: "ClusterOperatorsDegraded", Message: "Cluster operators " + strings.Join(names, ", ") + " are degraded", LastTransitionTime: noon}}
	}
	for _, c := range []struct {
		name     string
		change   func(*cvo.Dump)
		subject  string
		message  string
		explains int
	}{
		{"a master that is not ready", func(d *cvo.Dump) { bad(d, down, "kube-apiserver", "kube-scheduler", "kube-controller-manager") }, "node m-1", "no CNI configuration", 4},
		{"a node that cannot be had", func(d *cvo.Dump) {
			for i := range d.Nodes {
				d.Nodes[i].Annotations[rollout.AnnotationState], d.Nodes[i].Annotations[rollout.AnnotationDesired] = rollout.StateDegraded, "new"
				d.Nodes[i].Annotations[rollout.AnnotationReason] = "failed to drain node: " + d.Nodes[i].Name + " after 1 hour"
			}
			bad(d, "error MachineConfigPool worker is not ready", "machine-config")
		}, "3 nodes", "failed to drain node: <name> after 1 hour", 5},
		{"one error at several operators", func(d *cvo.Dump) {
			bad(d, "rpc error: "+strings.Repeat("wrapped: ", 40)+"podman pull: lookup quay.io: i/o timeout", "a-operator", "b-operator")
		}, "2 clusteroperators", "podman pull: lookup quay.io: i/o timeout", 3},
	} {
		d := dumpOf()
		c.change(d)
		r := cvo.Inspect(d, noon.Add(time.Hour))
		if len(r.Findings) != 1 || r.Findings[0].Subject != c.subject || len(r.Findings[0].Explains) != c.explains || !strings.Contains(r.Findings[0].Message, c.message) || r.Findings[0].Severity != cvo.SeverityError {
			t.Errorf("%s: %+v", c.name, r.Findings)
		}
		if !strings.Contains(r.Headline, c.subject) {
			t.Errorf("%s: %s", c.name, r.Headline)
		}
	}
}

// An installation and a change to several architectures read as what they are.
func TestInspectKinds(t *testing.T) {
	d := dumpOf()
	d.Version.Status.History = d.Version.Status.History[:1]
	if r := cvo.Inspect(d, noon.Add(time.Hour)); !r.Install || !strings.Contains(r.Headline, "installed") {
		t.Errorf("%+v", r)
	}
	d = dumpOf()
	d.Version.Status.History[1].Version = "4.19.0"
	for i := range d.Operators {
		d.Operators[i].Status.Versions[0].Version = "4.19.0"
		d.Operators[i].Name = []string{"etcd", "machine-config"}[i]
	}
	r := cvo.Inspect(d, noon.Add(time.Hour))
	if !r.MultiArch || !r.Updating || r.Completion.Updated != 1 || r.Remaining != nil || !strings.Contains(r.Headline, "several architectures") {
		t.Errorf("%+v", r)
	}
}

// A node is updated by the rule of package rollout alone, and when its
// configuration is of the target.
func TestInspectUpdatedNodes(t *testing.T) {
	for _, c := range []struct {
		change func(*cvo.Dump)
		want   string
	}{
		{func(*cvo.Dump) {}, "updated"},
		{func(d *cvo.Dump) { d.Nodes[0].Annotations[rollout.AnnotationDesiredImage] = "i" }, "updating"},
		{func(d *cvo.Dump) { d.Pools[0].Spec.Configuration.Image = "i" }, "pending"},
		{func(d *cvo.Dump) { d.Nodes[0].Annotations[rollout.AnnotationState] = rollout.StateWorking }, "updating"},
		{func(d *cvo.Dump) { d.Configs = nil }, "unknown"},
		{func(d *cvo.Dump) { d.Configs["new"] = "4.18.9" }, "pending"},
		{func(d *cvo.Dump) { d.Version = nil }, "unknown"},
	} {
		d := dumpOf()
		d.Pools[0].Spec.Configuration.Name = "new"
		for i := range d.Nodes {
			d.Nodes[i].Annotations[rollout.AnnotationCurrent], d.Nodes[i].Annotations[rollout.AnnotationDesired] = "new", "new"
		}
		c.change(d)
		r := cvo.Inspect(d, noon.Add(time.Hour))
		k := slices.IndexFunc(r.Nodes, func(n cvo.NodeReport) bool { return n.Name == "w-0" })
		if got := r.Nodes[k].State; got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
		if rule := rollout.Updated(&d.Pools[0], &d.Nodes[0]); r.Nodes[k].State == "updated" && !rule {
			t.Error("rollout says otherwise")
		}
	}
}

// A report without findings has an empty list of them in JSON, not null.
func TestNoFindings(t *testing.T) {
	text, err := json.Marshal(cvo.Inspect(&cvo.Dump{}, noon))
	if err != nil || !strings.Contains(string(text), `"findings":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestPoolDegraded: what a pool says of itself is told even if the nodes are not in the dump.
func TestPoolDegraded(t *testing.T) {
	for _, kind := range []string{"RenderDegraded", "NodeDegraded"} {
		d := &cvo.Dump{Version: &cvo.ClusterVersion{}}
		p := cvo.Pool{ObjectMeta: fairlead.ObjectMeta{Name: "worker"}}
		p.Status.MachineCount, p.Status.UpdatedMachineCount = 3, 2
		p.Status.Conditions = []cvo.Condition{{Type: "Updated", Status: cvo.False}, {Type: kind, Status: cvo.True, Message: "content mismatch for file /etc/motd", LastTransitionTime: noon}}
		d.Pools = []cvo.Pool{p}
		r := cvo.Inspect(d, noon.Add(time.Hour))
		if r.Pools[0].State != "degraded" || !slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool {
			return f.Reason == "PoolDegraded" && f.Severity == cvo.SeverityError && strings.Contains(f.Message, "/etc/motd")
		}) {
			t.Errorf("%s: %+v", kind, r.Findings)
		}
	}
}
