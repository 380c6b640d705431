package diagnosis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// testNow is when test clusters are looked at.
var testNow = time.Date(2026, 3, 14, 4, 4, 0, 0, time.UTC)

// testWorld reads a cluster, a line for each object; ago is a duration before the time at which
// the cluster is looked at:
//
//	version FROM TO [since=AGO] [done] [failing=TEXT] [refused=VERSION:REASON:TEXT] [progressing=TEXT] [overrides]
//	gate NAME [acknowledged] [says=TEXT]
//	operator NAME [old] [degraded=TEXT] [unavailable=TEXT] [progressing] [since=AGO]
//	pool NAME [old] [paused] [max=N]
//	node NAME [pool=POOL] [old] [draining] [working] [cordoned[=AGO]] [silent=AGO] [notready=TEXT]
//	    [degraded=TEXT] [drained] [cpu=N] [master] [taint=KEY] [tainted=AGO]
//	pod NAMESPACE/NAME [node=NODE] [of=KIND/NAME] [app=APP] [notready] [finished] [since=AGO] [cpu=N]
//	    [waiting=REASON] [says=TEXT] [deleted=AGO] [finalizer=NAME] [created=AGO] [scheduler=NAME] [device=NAME]
//	budget NAMESPACE/NAME app=APP [min=N] [max=N] [always]
//	replicas KIND/NAMESPACE/NAME N
//	machine NAMESPACE/NAME [node=NODE] [deleted=AGO] [failed] [created=AGO] [hook=NAME] [of=SET] [finalizer=NAME]
//	    [error=REASON:TEXT] [capi] [condition=TYPE:REASON:TEXT]
//	request NAME [of=NODE]
//	sign KIND NAMESPACE/NAME TYPE REASON [says=TEXT]
//	cronjob NAMESPACE/NAME [suspended] [ran=AGO]
//	job NAMESPACE/NAME failed
//	lease NAMESPACE/NAME renewed=AGO
//	claim NAMESPACE/NAME resizing=AGO
//	package NAME catalog=NAME [in=NAMESPACE] CHANNEL:CSV[,CSV...]...
//	subscription NAMESPACE/NAME [channel=NAME] [catalog=NAME] [plan=NAME] [installed=NAME] [failed=REASON:TEXT]
//	group NAMESPACE/NAME [all]
//	catalog NAME [down] [in=NAMESPACE]
//	installplan NAMESPACE/NAME csv=NAME [drops=CRD:VERSION]
//	csv NAMESPACE/NAME [failed=REASON] [mode=MODE] [ago=AGO]
//	wanted VERSION [risk=NAME] [channels=CHANNEL] [with=CHANNEL]
//	alert NAME SEVERITY [LABEL=VALUE]...
//	unknown pods|budgets|nodes|alerts
//
// Underscores in texts are spaces.
func testWorld(text string) (*world, error) {
	w := &world{
		now: testNow, configs: map[string]string{}, alerts: []cvo.Alert{}, nodes: []fairlead.Node{}, pods: []fairlead.Pod{}, budgets: []fairlead.PodDisruptionBudget{},
		machines: []lifecycle.Machine{}, events: map[string][]string{},
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := w.line(f[0], f[1:]); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	w.measure()
	return w, nil
}

// words of a line: those without a value, and those with one.
type words_ map[string]string

func parse(fields []string) (plain []string, with words_) {
	with = words_{}
	for _, f := range fields {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			plain = append(plain, f)
		}
		with[key] = strings.ReplaceAll(value, "_", " ")
	}
	return plain, with
}

func (x words_) has(key string) bool { _, ok := x[key]; return ok }

// ago returns an instant before testNow.
func (x words_) ago(key string) time.Time {
	d, err := time.ParseDuration(x[key])
	if err != nil {
		d = 2 * time.Hour
	}
	return testNow.Add(-d)
}

func (w *world) line(kind string, fields []string) error {
	plain, x := parse(fields)
	switch kind {
	case "version":
		w.testVersion(plain, x)
	case "gate":
		if w.gates == nil {
			w.gates = &cvo.AdminGates{Gates: map[string]string{}, Acks: map[string]string{}}
		}
		if w.gates.Gates[plain[0]] = x["says"]; x.has("acknowledged") {
			w.gates.Acks[plain[0]] = "true"
		}
	case "operator":
		w.testOperator(plain[0], x)
	case "pool":
		w.testPool(plain[0], x)
	case "node":
		w.testNode(plain[0], x)
	case "pod":
		w.testPod(plain[0], x)
	case "budget":
		w.testBudget(plain[0], x)
	case "replicas":
		p := strings.Split(plain[0], "/")
		n, err := strconv.Atoi(plain[1])
		w.replicas = append(w.replicas, drain.Replicas{Kind: p[0], Namespace: p[1], Name: p[2], Count: n})
		return err
	case "machine":
		w.testMachine(plain[0], x)
	case "request":
		r := snapshot.Object{ObjectMeta: fairlead.ObjectMeta{Name: plain[0], UID: plain[0]}}
		if r.Spec.SignerName = "kubernetes.io/kube-apiserver-client-kubelet"; x.has("of") {
			r.Spec.SignerName, r.Spec.Username = "kubernetes.io/kubelet-serving", "system:node:"+x["of"]
		}
		w.csrs = append(w.csrs, r)
	case "sign":
		ns, name, ok := strings.Cut(plain[1], "/")
		if !ok {
			ns, name = "", plain[1]
		}
		w.signs = append(w.signs, sign{failure.Sign{Kind: plain[0], Namespace: ns, Name: name, Type: plain[2], Reason: plain[3], Message: x["says"]}, testNow.Add(-time.Hour)})
	case "subscription", "package", "group", "catalog", "installplan", "csv":
		return w.testOperators(kind, plain, x)
	case "cronjob", "job", "lease", "claim":
		w.testApp(kind, plain, x)
	case "wanted":
		w.to = plain[0]
		w.planned = &plan.Situation{
			At: testNow, Moves: []plan.Move{{From: w.target(), To: w.to}}, Members: []plan.Member{}, Operators: []plan.Operator{}, Removed: []plan.RemovedAPI{},
		}
		if x.has("risk") {
			w.planned.Moves[0].Risks = []string{x["risk"]}
			w.planned.Risks = []plan.Risk{{Name: x["risk"], Applies: fairlead.ConditionTrue, Message: "Names are resolved late."}}
		}
		if x.has("channel") {
			w.version.Spec.Channel = x["channel"]
			w.planned.Channels = map[string][]string{w.to: {x["with"]}, w.target(): {x["channel"], x["with"]}}
		}
	case "alert":
		a := cvo.Alert{Labels: map[string]string{"alertname": plain[0], "severity": plain[1]}, State: "firing", ActiveAt: testNow.Add(-time.Hour)}
		for k, v := range x {
			if v != "" {
				a.Labels[k] = v
			}
		}
		a.Annotations = map[string]string{"summary": "Something is wrong.", "runbook_url": "https://example.com/" + plain[0]}
		w.alerts = append(w.alerts, a)
	case "unknown":
		switch plain[0] {
		case "pods":
			w.pods = nil
		case "budgets":
			w.budgets = nil
		case "nodes":
			w.nodes = nil
		case "alerts":
			w.alerts = nil
		}
	default:
		return fmt.Errorf("no such kind of line")
	}
	return nil
}

func (w *world) testVersion(plain []string, x words_) {
	v := &cvo.ClusterVersion{ObjectMeta: cvo.ObjectMeta{Name: "version"}}
	from, to, began := plain[0], plain[1], x.ago("since")
	v.Status.Desired.Version = to
	ended := testNow.Add(-90 * 24 * time.Hour)
	v.Status.History = []cvo.History{
		{State: cvo.Partial, StartedTime: began, Version: to, Image: "new"}, {State: cvo.Completed, StartedTime: ended.Add(-time.Hour), CompletionTime: &ended, Version: from, Image: "old"},
	}
	progressing := cvo.Condition{Type: "Progressing", Status: cvo.True, Message: x["progressing"], LastTransitionTime: began}
	if x.has("done") {
		done := began.Add(time.Hour)
		v.Status.History[0].State, v.Status.History[0].CompletionTime = cvo.Completed, &done
		progressing.Status = cvo.False
	}
	failing := cvo.Condition{Type: "Failing", Status: cvo.False, LastTransitionTime: began}
	if x.has("failing") {
		failing.Status, failing.Message = cvo.True, x["failing"]
	}
	v.Status.Conditions = []cvo.Condition{progressing, failing}
	if p := strings.SplitN(x["refused"], ":", 3); len(p) == 3 {
		v.Spec.DesiredUpdate = &cvo.Update{Version: p[0]}
		v.Status.Conditions = append(v.Status.Conditions, cvo.Condition{Type: "ReleaseAccepted", Status: cvo.False, Reason: p[1], Message: p[2], LastTransitionTime: testNow.Add(-time.Hour)})
	}
	if x.has("overrides") {
		v.Spec.Overrides = []payload.Override{{Kind: "Deployment", Namespace: "a", Name: "b", Unmanaged: true}}
	}
	w.version = v
	for _, pool := range []string{"master", "worker"} {
		w.configs[pool+"-new"], w.configs[pool+"-old"] = to, from
	}
}

// target returns the version that the cluster is updated to.
func (w *world) target() string { return w.version.Status.Desired.Version }

func (w *world) testOperator(name string, x words_) {
	o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: name, Annotations: map[string]string{"include.release.openshift.io/self-managed-high-availability": "true"}}}
	since := x.ago("since")
	set := func(kind string, status cvo.ConditionStatus, message string) {
		o.Status.Conditions = append(o.Status.Conditions, cvo.Condition{Type: kind, Status: status, Message: message, LastTransitionTime: since})
	}
	set("Available", map[bool]cvo.ConditionStatus{true: cvo.False, false: cvo.True}[x.has("unavailable")], x["unavailable"])
	set("Degraded", map[bool]cvo.ConditionStatus{true: cvo.True, false: cvo.False}[x.has("degraded")], x["degraded"])
	set("Progressing", map[bool]cvo.ConditionStatus{true: cvo.True, false: cvo.False}[x.has("progressing")], x["progressing"])
	version := w.target()
	if x.has("old") {
		version = w.version.Status.History[1].Version
	}
	o.Status.Versions = []cvo.Operand{{Name: "operator", Version: version}}
	w.operators = append(w.operators, o)
}

func (w *world) testPool(name string, x words_) {
	p := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: name}}
	p.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"node-role.kubernetes.io/" + name: ""}}
	p.Spec.Paused = x.has("paused")
	p.Spec.Configuration.Name = name + "-new"
	if x.has("old") {
		p.Spec.Configuration.Name = name + "-old"
	}
	if n, err := strconv.Atoi(x["max"]); err == nil {
		p.Spec.MaxUnavailable = &fairlead.IntOrString{Int: n}
	}
	w.pools = append(w.pools, p)
}

func (w *world) testNode(name string, x words_) {
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}, Annotations: map[string]string{}}}
	n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "250"}
	if x.has("cpu") {
		n.Status.Allocatable["cpu"] = x["cpu"]
	}
	n.Spec.ProviderID = "test:///" + name
	if pool := x["pool"]; pool != "" {
		n.Labels["node-role.kubernetes.io/"+pool] = ""
		current, desired, state := pool+"-new", pool+"-new", rollout.StateDone
		if x.has("old") {
			current, desired = pool+"-old", pool+"-old"
		}
		switch {
		case x.has("draining"), x.has("working"):
			desired, state = pool+"-new", rollout.StateWorking
		case x.has("degraded"):
			desired, state = pool+"-new", rollout.StateDegraded
			n.Annotations[rollout.AnnotationReason] = x["degraded"]
		}
		n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = current, desired, state
		if x.has("drained") {
			n.Annotations[rollout.AnnotationDesiredDrain] = "drain-" + desired
		}
		if x.has("draining") {
			n.Annotations[rollout.AnnotationDesiredDrain] = "drain-" + desired
			n.Spec.Unschedulable = true
		}
	}
	ready := fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: testNow.Add(-24 * time.Hour)}
	switch {
	case x.has("silent"):
		ready = fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.", LastTransitionTime: x.ago("silent")}
		n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: "node.kubernetes.io/unreachable", Effect: fairlead.NoSchedule})
	case x.has("notready"):
		ready = fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionFalse, Reason: "KubeletNotReady", Message: x["notready"], LastTransitionTime: x.ago("since")}
		n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: "node.kubernetes.io/not-ready", Effect: fairlead.NoSchedule})
	}
	n.Status.Conditions = []fairlead.NodeCondition{ready}
	if kind := x["pressure"]; kind != "" {
		n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: kind, Status: fairlead.ConditionTrue, LastTransitionTime: testNow.Add(-time.Hour)})
	}
	n.Spec.Unschedulable = n.Spec.Unschedulable || x.has("cordoned")
	if x["cordoned"] != "" {
		at := x.ago("cordoned")
		n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: unschedulableTaint, Effect: fairlead.NoSchedule, TimeAdded: &at})
	}
	if x.has("master") || x["pool"] == "master" {
		n.Labels["node-role.kubernetes.io/master"] = ""
		n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: "node-role.kubernetes.io/master", Effect: fairlead.NoSchedule})
	}
	if x.has("taint") {
		t := fairlead.Taint{Key: x["taint"], Effect: fairlead.NoExecute}
		if x.has("tainted") {
			at := x.ago("tainted")
			t.TimeAdded = &at
		}
		n.Spec.Taints = append(n.Spec.Taints, t)
	}
	w.nodes = append(w.nodes, n)
}

func (w *world) testPod(full string, x words_) {
	ns, name, _ := strings.Cut(full, "/")
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name, UID: full, Labels: map[string]string{"app": x["app"]}}}
	p.Spec.NodeName = x["node"]
	if of := x["of"]; of != "" {
		kind, owner, _ := strings.Cut(of, "/")
		yes := true
		p.OwnerReferences = []fairlead.OwnerReference{{Kind: kind, Name: owner, UID: of, Controller: &yes}}
	}
	if x.has("hash") {
		p.Labels["pod-template-hash"] = x["hash"]
	}
	if x.has("cpu") {
		p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": x["cpu"]}}}}
	}
	if p.Spec.SchedulerName = x["scheduler"]; x.has("created") {
		p.CreationTimestamp = x.ago("created")
	}
	if x.has("device") {
		p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{x["device"]: "1"}}}}
	}
	p.Status.Phase = fairlead.PodRunning
	status := fairlead.ConditionTrue
	if x.has("notready") || p.Spec.NodeName == "" || x.has("waiting") {
		status = fairlead.ConditionFalse
	}
	if p.Spec.NodeName == "" {
		p.Status.Phase = fairlead.PodPending
	}
	if x.has("finished") {
		p.Status.Phase = fairlead.PodSucceeded
	}
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: status, LastTransitionTime: x.ago("since")}}
	if x.has("waiting") {
		p.Status.ContainerStatuses = []fairlead.ContainerStatus{{Name: "c", State: fairlead.ContainerState{Waiting: &fairlead.ContainerReason{Reason: x["waiting"], Message: x["says"]}}}}
	}
	if x.has("deleted") {
		at := x.ago("deleted")
		p.DeletionTimestamp = &at
	}
	if x.has("finalizer") {
		p.Finalizers = []string{x["finalizer"]}
	}
	w.pods = append(w.pods, p)
}

func (w *world) testBudget(full string, x words_) {
	ns, name, _ := strings.Cut(full, "/")
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name, Generation: 1}}
	b.Status.ObservedGeneration = 1
	b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": x["app"]}}
	if n, err := strconv.Atoi(x["min"]); err == nil {
		b.Spec.MinAvailable = &fairlead.IntOrString{Int: n}
	} else if x.has("min") {
		b.Spec.MinAvailable = &fairlead.IntOrString{Text: x["min"]}
	}
	if n, err := strconv.Atoi(x["max"]); err == nil {
		b.Spec.MaxUnavailable = &fairlead.IntOrString{Int: n}
	}
	if x.has("always") {
		b.Spec.UnhealthyPodEvictionPolicy = fairlead.AlwaysAllow
	}
	w.budgets = append(w.budgets, b)
}

func (w *world) testMachine(full string, x words_) {
	ns, name, _ := strings.Cut(full, "/")
	m := lifecycle.Machine{APIVersion: "machine.openshift.io/v1beta1", Kind: "Machine", ObjectMeta: lifecycle.ObjectMeta{Namespace: ns, Name: name, UID: full, CreationTimestamp: testNow.Add(-48 * time.Hour)}}
	m.Finalizers = []string{lifecycle.Finalizer}
	if x.has("created") {
		m.CreationTimestamp = x.ago("created")
		m.Status.Phase = lifecycle.PhaseProvisioned
	}
	if x.has("node") {
		m.Spec.ProviderID, m.Status.Phase = "test:///"+x["node"], lifecycle.PhaseRunning
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: x["node"]}
	}
	if x.has("deleted") {
		at := x.ago("deleted")
		m.DeletionTimestamp, m.Status.Phase = &at, lifecycle.PhaseDeleting
	}
	if x.has("failed") {
		m.Status.Phase = lifecycle.PhaseFailed
	}
	if x.has("error") {
		m.Status.ErrorReason, m.Status.ErrorMessage, _ = strings.Cut(x["error"], ":")
	}
	if x.has("capi") {
		m.APIVersion, m.Finalizers = "cluster.x-k8s.io/v1beta2", []string{"machine.cluster.x-k8s.io"}
	}
	if x.has("condition") {
		f := strings.SplitN(x["condition"], ":", 3)
		c := lifecycle.Condition{Type: f[0], Status: fairlead.ConditionFalse, Reason: f[1], Message: f[2]}
		if c.Type == "Deleting" {
			c.Status = fairlead.ConditionTrue
		}
		m.Status.Conditions = []lifecycle.Condition{c}
	}
	if of := x["of"]; of != "" {
		yes := true
		m.OwnerReferences = []fairlead.OwnerReference{{Kind: "MachineSet", Name: of, UID: of, Controller: &yes}}
	}
	if x.has("hook") {
		m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: x["hook"], Owner: "tests"}}
	}
	w.machines = append(w.machines, m)
}

// testApp adds what makes pods, leads, or is explained by other engines.
func (w *world) testApp(kind string, plain []string, x words_) {
	ns, name, _ := strings.Cut(plain[0], "/")
	switch kind {
	case "claim":
		c := snapshot.Claim{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name}}
		c.Status.Phase, c.Status.Conditions = "Bound", []fairlead.Condition{{Type: "Resizing", Status: fairlead.ConditionTrue, LastTransitionTime: x.ago("resizing")}}
		w.storage.claims = append(w.storage.claims, c)
	case "cronjob":
		c := snapshot.CronJob{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name, CreationTimestamp: testNow.Add(-72 * time.Hour)}}
		c.Spec.Schedule, c.Spec.Suspend = "0 * * * *", x.has("suspended")
		c.Status.LastScheduleTime = x.ago("ran")
		w.apps.cronJobs = append(w.apps.cronJobs, c)
	case "job":
		j := snapshot.Job{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name}}
		if x.has("failed") {
			j.Status.Conditions = []fairlead.Condition{{Type: "Failed", Status: fairlead.ConditionTrue, Reason: "BackoffLimitExceeded", LastTransitionTime: testNow.Add(-time.Hour)}}
		}
		w.apps.jobs = append(w.apps.jobs, j)
	case "lease":
		l := snapshot.Lease{ObjectMeta: fairlead.ObjectMeta{Namespace: ns, Name: name}}
		l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = 15, x.ago("renewed")
		w.leases = append(w.leases, l)
	}
}
