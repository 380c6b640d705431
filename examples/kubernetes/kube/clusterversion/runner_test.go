package clusterversion_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// small is a release with a bit of everything.
var small = map[string]string{
	"0000_10_a_00_crd":    `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: xs.example.com, annotations: {v: VERSION}}, spec: {group: example.com, scope: Cluster, names: {kind: X, plural: xs}}}`,
	"0000_10_a_01_x":      `{apiVersion: example.com/v1, kind: X, metadata: {name: x, annotations: {v: VERSION}}}`,
	"0000_20_b_00_deploy": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: b, namespace: ns, annotations: {v: VERSION}}, spec: {replicas: 1}}`,
	"0000_20_b_01_co":     `{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: b, annotations: {v: VERSION}}, status: {versions: [{name: operator, version: VERSION}]}}`,
	"0000_30_c_00_map":    `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns, annotations: {v: VERSION}}, data: {v: VERSION}}`,
}

// managed is a cluster with a Runner.
type managed struct {
	*cluster
	pass kube.Pass
	last fairlead.Pass
}

func manage(c *cluster, policy *cvo.Policy) *managed {
	runner := newRunner(c.t, c.backend, policy, &fairlead.RunnerOptions{Clock: c.clock})
	return &managed{cluster: c, pass: c.backend.Pass(runner)}
}

// passes makes passes until nothing is left to do now, and returns the
// writes. It waits for the results of background work.
func (m *managed) passes() []string {
	m.t.Helper()
	m.calls()
	for range 100 {
		m.last = m.pass(m.t.Context(), "version")
		if m.last.Err != nil {
			m.t.Fatal(m.last.Err)
		}
		waits := slices.ContainsFunc(m.last.Blocked, func(b fairlead.Block) bool {
			told := kube.Sentence(b)
			return strings.Contains(told, "is being retrieved") || strings.Contains(told, "payload is not available")
		})
		if waits {
			m.retrieved()
			continue
		}
		if m.last.Wake.IsZero() || m.last.Wake.After(m.clock.Now()) {
			return m.calls()
		}
	}
	m.t.Fatal("it does not come to rest")
	return nil
}

func (m *managed) wantsWritten(want ...string) {
	m.t.Helper()
	got := slices.DeleteFunc(m.passes(), func(call string) bool { return strings.HasSuffix(call, "/status") })
	for i := range got {
		got[i] = strings.TrimSuffix(got[i], " by fairlead-clusterversion")
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("written %q, want %q", got, want)
	}
}

// condition returns status, reason and message of a condition.
func (m *managed) condition(kind string) string {
	m.t.Helper()
	for _, c := range m.observe().Cluster.Status.Conditions {
		if c.Type == kind {
			return fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

func (m *managed) establish() {
	m.edit(m.read("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.example.com"), "status", `{conditions: [{type: Established, status: "True"}]}`)
}

func (m *managed) rollOut() {
	m.edit(m.read("apps/v1", "Deployment", "ns/b"), "status", "{replicas: 1, updatedReplicas: 1, availableReplicas: 1}")
}

func (m *managed) report(version, degraded string) {
	m.edit(m.read("config.openshift.io/v1", "ClusterOperator", "b"), "status", fmt.Sprintf(
		`{versions: [{name: operator, version: %s}], conditions: [{type: Available, status: "True"}, {type: Degraded, status: "%s", reason: Disk, message: the disk is full}]}`, version, degraded))
}

func installed(t *testing.T) *managed {
	t.Helper()
	c := newCluster(t, clusterversion.Options{Own: releaseA, Verifier: cvo.Digests{digestB}}, clusterVersion())
	c.source[imageA], c.source[imageB] = files("1.0.0", small), files("1.1.0", small)
	m := manage(c, nil)
	m.passes()
	m.establish()
	m.passes()
	m.rollOut()
	m.passes()
	m.report("1.0.0", "False")
	m.passes()
	if got := m.condition("Progressing"); got != "False  Cluster version is 1.0.0" {
		t.Fatalf("Progressing %s; %+v", got, m.last)
	}
	m.calls()
	return m
}

func TestUpdate(t *testing.T) {
	m := installed(t)
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.desiredUpdate", "{image: "+imageB+"}")
	m.wantsWritten("apply CustomResourceDefinition/xs.example.com", "apply X/x", "apply Deployment/b")
	m.rollOut()
	m.wantsWritten()
	if got := m.condition("Progressing"); got != "True ClusterOperatorUpdating Working towards 1.1.0: 3 of 5 done (60% complete), waiting on b" {
		t.Errorf("Progressing %s", got)
	}
	m.report("1.0.0", "True")
	m.wantsWritten()
	if got := m.condition("Progressing"); !strings.Contains(got, "waiting up to 40 minutes on b") {
		t.Errorf("Progressing %s", got)
	}
	m.report("1.1.0", "True")
	m.wantsWritten()
	m.report("1.1.0", "False")
	m.wantsWritten("apply ConfigMap/c")
	if got := m.condition("Progressing"); got != "False  Cluster version is 1.1.0" {
		t.Errorf("Progressing %s", got)
	}
	history := m.observe().Cluster.Status.History
	if len(history) != 2 || history[0].Version != "1.1.0" || history[0].State != cvo.Completed || !history[0].Verified || history[1].State != cvo.Completed {
		t.Errorf("%+v", history)
	}
	m.wantsWritten() // and stays that way
}

// A refused manifest is reported and retried on its own schedule, and does not
// fail the pass.
func TestServerRefuses(t *testing.T) {
	m := installed(t)
	m.fail = func(call string) error {
		if strings.HasPrefix(call, "apply X/") {
			return apierrors.NewForbidden(schema.GroupResource{Group: "example.com", Resource: "xs"}, "x", errors.New("RBAC"))
		}
		return nil
	}
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.desiredUpdate", "{image: "+imageB+"}")
	m.wantsWritten("apply CustomResourceDefinition/xs.example.com", "apply X/x")
	if len(m.last.Blocked) != 1 || !strings.Contains(m.last.Blocked[0].Message, "RBAC") || m.last.Wake.Sub(noon) != 10*time.Second {
		t.Errorf("%+v", m.last)
	}
	for range 5 { // it may be nothing, at first
		m.clock.Set(m.clock.Now().Add(time.Minute))
		m.wantsWritten("apply X/x")
	}
	if got := m.condition("Failing"); !strings.HasPrefix(got, `True UpdatePayloadResourceForbidden Could not update x "x" (2 of 5)`) {
		t.Errorf("Failing %s", got)
	}
	m.fail = func(string) error { return nil }
	m.wantsWritten()
	m.clock.Set(m.clock.Now().Add(time.Minute))
	m.wantsWritten("apply X/x", "apply Deployment/b")
}

// Another client edits the ClusterVersion between observation and write.
func TestStatusConflicts(t *testing.T) {
	c := newCluster(t, clusterversion.Options{Own: releaseA}, clusterVersion())
	c.source[imageA] = files("1.0.0", nil)
	m := manage(c, nil)
	edited := false
	m.fail = func(call string) error {
		if call == "update ClusterVersion/status" && !edited {
			edited = true
			m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.channel", "fast-1")
		}
		return nil
	}
	if p := m.pass(t.Context(), "version"); p.Err != nil || p.Wake.After(noon) {
		t.Fatalf("%+v", p)
	}
	m.passes()
	if w := m.observe(); w.Cluster.Spec.Channel != "fast-1" || w.Cluster.Status.Desired.Version != "1.0.0" {
		t.Errorf("%+v", w.Cluster)
	}
	m.fail = func(string) error { return apierrors.NewServiceUnavailable("starting") }
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.desiredUpdate", "{}")
	if p := m.pass(t.Context(), "version"); p.Err == nil {
		t.Error("a status that cannot be written is not reported")
	}
}

func TestBadRequests(t *testing.T) {
	for _, c := range []struct{ spec, condition, want, blocked string }{
		{`{clusterID: nonsense}`, "Invalid", "True InvalidClusterVersion", "spec.clusterID"},
		{`{desiredUpdate: {}}`, "Invalid", "True InvalidClusterVersion", "spec.desiredUpdate"},
		{`{desiredUpdate: {version: 9.9.9}}`, "Invalid", "True InvalidClusterVersion", "spec.desiredUpdate.version"},
		{`{desiredUpdate: {image: "registry.example/release@sha256:none"}}`, "ReleaseAccepted", "False RetrievePayload", "not among the trusted digests"},
		{`{desiredUpdate: {image: "registry.example/release@sha256:none", force: true}}`, "ReleaseAccepted", "False RetrievePayload", "there is no image"},
		{`{desiredUpdate: {image: "registry.example/release@sha256:odd", force: true}}`, "ReleaseAccepted", "False LoadPayload", "0000_50_x_a.yaml:1"},
	} {
		m := installed(t)
		m.source["registry.example/release@sha256:odd"] = files("1.2.0", map[string]string{"0000_50_x_a": "{kind: ["})
		m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec", c.spec)
		m.wantsWritten()
		if got := m.condition(c.condition); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.spec, got)
		}
		if !slices.ContainsFunc(m.last.Blocked, func(b fairlead.Block) bool { return strings.Contains(kube.Sentence(b), c.blocked) }) {
			t.Errorf("%s: blocked %+v", c.spec, m.last.Blocked)
		}
		if !m.last.Wake.IsZero() && !m.last.Wake.After(m.clock.Now()) {
			t.Errorf("%s: it does not rest", c.spec)
		}
		if got := m.condition("Available"); got != "True  Done applying 1.0.0" {
			t.Errorf("%s: Available %s", c.spec, got)
		}
	}
}

// A new process continues with nothing but the stored state.
func TestRestart(t *testing.T) {
	c := newCluster(t, clusterversion.Options{Own: releaseA, Verifier: cvo.Digests{digestB}}, clusterVersion())
	c.source[imageA] = files("1.0.0", small)
	var store fairlead.MemStore
	first := newRunner(t, c.backend, nil, &fairlead.RunnerOptions{Clock: c.clock, Store: &store})
	m := &managed{cluster: c, pass: c.backend.Pass(first)}
	m.wantsWritten("apply Deployment/b", "apply CustomResourceDefinition/xs.example.com", "apply ConfigMap/c")
	again, err := clusterversion.New(c, &clusterversion.Options{Own: releaseA, Source: c.source, Clock: c.clock, Changed: func() { c.changed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	c.backend = again
	m.pass = again.Pass(newRunner(t, again, nil, &fairlead.RunnerOptions{Clock: c.clock, Store: &store}))
	m.wantsWritten()
	m.establish()
	m.wantsWritten("apply X/x")
	m.rollOut()
	m.wantsWritten("create ClusterOperator/b")
	m.report("1.0.0", "False")
	m.wantsWritten()
	if got := m.condition("Progressing"); got != "False  Cluster version is 1.0.0" {
		t.Errorf("Progressing %s", got)
	}
}

// newRunner returns a runner with a valid policy.
func newRunner(tb testing.TB, backend cvo.Backend, policy *cvo.Policy, opts *fairlead.RunnerOptions) *cvo.Runner {
	tb.Helper()
	r, err := cvo.NewRunner(backend, policy, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
