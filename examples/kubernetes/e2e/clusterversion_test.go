package e2e_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	oldVersion, newVersion = "4.18.0", "4.19.0"
	oldDigest, newDigest   = "sha256:0a", "sha256:0b"
	releaseImage           = "registry.example/release@"
)

// upgrade is a scenario: two releases, and the problems in between.
type upgrade struct {
	*world
	text     map[string]string // manifests by file name; VERSION and DASHED represent that of the release
	degraded string            // the operator that is degraded for a while
	slow     string            // the operator that stays at its version for a while
	trouble  *trouble          // what blocks the update; nil means nothing
	further  map[string]string // releases besides the two: digests by version

	tasks     map[string][]*payload.Manifest // by version
	operators *reporters
	manager   *operator.Process
	flags     []string
}

// Our own release: every kind that is waited for, a custom resource of a definition
// in the release, a Job between runlevels, a manifest that is only created, one
// that needs a capability, and one that the next release removes. The update has a
// risk that is evaluated, and a gate.
func TestClusterVersion(t *testing.T) {
	text := map[string]string{}
	files := os.DirFS("testdata/release")
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := fs.ReadFile(files, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		text[e.Name()] = string(data)
	}
	u := &upgrade{world: newWorld(t, nil), text: text, degraded: "api", slow: "web"}
	u.trouble = newTrouble(t)
	u.run()
	u.rightsUsed([]string{"rbac-clusterversion.yaml"})
	if got := u.get("v1", "ConfigMap", "shop/settings").Object["data"]; fmt.Sprint(got) != "map[greeting:hello of 4.18.0]" {
		t.Errorf("a create-only manifest was changed to %v", got)
	}
	if u.get("v1", "ConfigMap", "shop/legacy") != nil {
		t.Error("a resource that the release removes still exists")
	}
	deleted := u.requests(cluster.Filter{User: operator.User, Verb: "delete", Resource: "configmaps", Name: "legacy"})
	if len(deleted) != 1 || deleted[0].PreconditionUID() == "" {
		t.Errorf("deletions of configmap legacy: %+v", deleted)
	}
}

// The manifests of OpenShift's own operators, as far as an API server alone
// accepts them: built-in kinds, and resources of kinds defined among them, in
// existing namespaces.
func TestClusterVersionOfOpenShift(t *testing.T) {
	root := os.Getenv("FAIRLEAD_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	dir := filepath.Join(root, "payload")
	p, err := payload.Load(os.DirFS(dir), nil)
	if err != nil {
		t.Skipf("no real payload: FAIRLEAD_DATA names no directory that contains one: %v", err)
	}
	u := &upgrade{world: newWorld(t, nil), text: map[string]string{}, degraded: "kube-controller-manager", slow: "kube-scheduler"}
	n := 0
	for _, m := range acceptable(p.Select(nil).Tasks) {
		name := strings.TrimSuffix(filepath.Base(m.File), filepath.Ext(m.File))
		u.text[fmt.Sprintf("%s-%02d.json", name, m.Document)] = strings.ReplaceAll(string(m.JSON), "0.0.1-snapshot", "VERSION")
		n++
	}
	t.Logf("%d of %d manifests are of kinds that the server has", n, len(p.Manifests))
	u.run()
}

// acceptable selects manifests of a real payload.
func acceptable(all []*payload.Manifest) (out []*payload.Manifest) {
	const deployments = 6 // more pods are not needed
	builtIn := []string{
		"ClusterOperator", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "FlowSchema", "Namespace", "NetworkPolicy",
		"PodDisruptionBudget", "PriorityClass", "PriorityLevelConfiguration", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount",
	}
	defined := map[string]bool{}
	namespaces := []string{"", "default", "kube-system", "kube-public"}
	for _, m := range all {
		switch {
		case m.Delete():
		case m.ID.Kind == "CustomResourceDefinition":
			group, kind := definedBy(m)
			defined[group+"/"+kind] = true
		case m.ID.Kind == "Namespace":
			namespaces = append(namespaces, m.ID.Name)
		}
	}
	n := 0
	for _, m := range all {
		switch {
		case !strings.HasPrefix(m.File, payload.DirRelease):
		case m.ID.Name == "clusterversions.config.openshift.io", m.ID.Name == "clusteroperators.config.openshift.io": // config/crd has them
		case m.ID.Group == "security.openshift.io": // its resources are not valid with its definitions alone
		case bytes.Contains(m.JSON, []byte(`"userNames"`)): // which Kubernetes' bindings do not have
		case !slices.Contains(namespaces, m.ID.Namespace): // operators create it
		case m.ID.Kind == "Deployment":
			if n++; n <= deployments {
				out = append(out, m)
			}
		case slices.Contains(builtIn, m.ID.Kind) || defined[m.ID.Group+"/"+m.ID.Kind]:
			out = append(out, m)
		}
	}
	return out
}

// definedBy returns the group and kind that a definition defines.
func definedBy(m *payload.Manifest) (group, kind string) {
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(m.JSON); err != nil {
		return "", ""
	}
	group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ = unstructured.NestedString(o.Object, "spec", "names", "kind")
	return group, kind
}

// run installs the first release and updates to the second: an operator is
// degraded, another one slow, the API server is down for ten seconds, and the
// manager is killed and restarted.
func (u *upgrade) run() {
	u.Helper()
	u.prepare()
	begin := time.Now()
	u.manager = operator.Start(u.T, u.Cluster, u.flags...)
	u.operators = u.report()
	u.reaches(oldVersion)
	u.Logf("installed in %v: %s", time.Since(begin).Round(time.Second), summary(u.written(begin)))
	if u.trouble != nil {
		u.enable()
	}
	u.quiet()

	changes := u.watchAll()
	begin = time.Now()
	u.operators.hold(u.degraded, true)
	u.operators.hold(u.slow, false)
	if u.trouble != nil {
		u.atRisk()
		u.gated()
	} else {
		u.ask(newVersion)
	}
	u.tells("Progressing", "Working towards "+newVersion, "waiting up to 40 minutes on "+u.degraded)
	u.outage(10 * time.Second)
	u.manager.Kill()
	time.Sleep(2 * time.Second)
	u.manager = operator.Start(u.T, u.Cluster, u.flags...)
	u.manager.Ready()
	u.operators.release(u.degraded)
	u.tells("Progressing", "Working towards "+newVersion, "waiting on "+u.slow)
	if u.trouble != nil {
		u.flaps(u.degraded, 20, 0)
	}
	held := changes.newest()
	u.operators.release(u.slow)
	u.reaches(newVersion)
	took := time.Since(begin)
	time.Sleep(time.Second) // the watches' last events
	u.Logf("updated in %v, with ten seconds of outage and a new manager", took.Round(time.Second))

	u.inOrder(changes, held)
	u.onceEach(changes)
	u.politely(begin)
	if u.trouble != nil {
		u.flaps(u.degraded, 20, 6) // it degrades and recovers several times before it counts as flapping
		u.tells("Failing", u.degraded, "intermittent since")
	}
	for _, r := range u.requests(cluster.Filter{User: operator.User, Where: func(r *cluster.Request) bool { return r.Idle }}) {
		u.Errorf("a status was written that was there already: %s at %v", r.URI, r.Received)
	}
	if err := u.manager.Stop(); err != nil {
		u.Errorf("stopping the operator: %v", err)
	}
}

// prepare creates nodes, definitions, releases, permissions and the
// ClusterVersion.
func (u *upgrade) prepare() {
	u.Helper()
	for _, node := range []string{"n1", "n2", "n3"} {
		labels := map[string]string{"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/os": "linux"}
		if err := u.kubelets.AddNode(u.Context(), node, labels); err != nil {
			u.Fatal(err)
		}
	}
	u.definitions(
		"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
		"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
		"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_featuregates.crd.yaml")
	releases := u.TempDir()
	u.tasks = map[string][]*payload.Manifest{}
	digests := map[string]string{oldVersion: oldDigest, newVersion: newDigest}
	maps.Copy(digests, u.further)
	trusted := newDigest
	for version, digest := range digests {
		trusted += "," + digest
		dir := filepath.Join(releases, strings.Replace(digest, ":", "/", 1))
		u.write(dir, version)
		p, err := payload.Load(os.DirFS(dir), nil)
		if err != nil {
			u.Fatal(err)
		}
		u.tasks[version] = p.Select(nil).Tasks
	}
	u.flags = []string{
		"-controllers=clusterversion", "-leader-elect=false", "-clusterversion-own-image=" + releaseImage + oldDigest, "-clusterversion-own-version=" + oldVersion,
		"-clusterversion-pod=operator-0", "-clusterversion-releases=" + releases, "-clusterversion-trusted=" + trusted, "-clusterversion-retry=1s",
	}
	u.eventually("the kinds are served", func() string {
		cv := object("config.openshift.io/v1", "ClusterVersion", "version")
		cv.Object["spec"] = map[string]any{"channel": "stable-4.18", "clusterID": "5ec312f9-f729-429d-a454-61d4906896ca"}
		return problem(u.admin.Create(u.Context(), cv))
	})
	if u.trouble != nil {
		u.trouble.prepare(u)
	}
	operator.Install(u.T, u.Cluster, "rbac-clusterversion.yaml")
	u.grant()
	u.eventually("the operator has a pod", func() string { // from which it takes its own release
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Namespace, Name: "operator-0"}}
		no, yes := false, true // as required in the operator's namespace
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		pod.Spec.NodeName, pod.Spec.Containers = "n1", []corev1.Container{{
			Name: "operator", Image: releaseImage + oldDigest,
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}}
		return problem(u.admin.Create(u.Context(), pod))
	})
}

// definitions installs CRDs of OpenShift's own API, from its Go module.
func (w *world) definitions(files ...string) {
	w.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	if err != nil {
		w.Fatalf("where the definitions of OpenShift are: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
		if err != nil {
			w.Fatal(err)
		}
		objects, err := operator.Decode(data)
		if err != nil {
			w.Fatal(err)
		}
		for _, o := range objects {
			operator.Apply(w.T, w.admin, o)
		}
	}
}

// write writes a release to disk.
func (u *upgrade) write(dir, version string) {
	u.Helper()
	files := map[string]string{
		"release-manifests/release-metadata": fmt.Sprintf(`{"kind": "cincinnati-metadata-v0", "version": %q}`, version),
		"release-manifests/image-references": fmt.Sprintf(`{"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": %q}}`, version),
	}
	for name, text := range u.text {
		if version == newVersion {
			text = strings.ReplaceAll(text, "# RETIRED", `release.openshift.io/delete: "true"`)
		}
		text = strings.ReplaceAll(text, "DASHED", strings.ReplaceAll(version, ".", "-"))
		files["release-manifests/"+name] = strings.ReplaceAll(text, "VERSION", version)
	}
	for _, sub := range []string{payload.DirOwn, payload.DirRelease} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			u.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			u.Fatal(err)
		}
	}
}

// grant gives the operator the permissions that the two releases need, and no
// others.
func (u *upgrade) grant() {
	u.Helper()
	rules, err := clusterversion.Rights(slices.Concat(u.tasks[oldVersion], u.tasks[newVersion]), u.admin.RESTMapper())
	if err != nil {
		u.Fatal(err)
	}
	u.create(&rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "payload", Labels: map[string]string{"fairlead.io/aggregate-to-payload": "true"}}, Rules: rules,
	})
	u.eventually("the rights are gathered", func() string {
		var role rbacv1.ClusterRole
		if err := u.admin.Get(u.Context(), client.ObjectKey{Name: "fairlead-clusterversion-payload"}, &role); err != nil {
			return err.Error()
		}
		if len(role.Rules) == 0 {
			return "there are none"
		}
		return ""
	})
}

// object returns an object with the name "namespace/name" or "name".
func object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	namespace, name := kube.SplitName(name)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// get returns an object; nil if there is none.
func (w *world) get(apiVersion, kind, name string) *unstructured.Unstructured {
	w.Helper()
	o := object(apiVersion, kind, name)
	err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return o
}

// cv reads the ClusterVersion; the error is that of a server that is down.
func (w *world) cv() (*cvo.ClusterVersion, error) {
	o := object("config.openshift.io/v1", "ClusterVersion", "version")
	if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return nil, err
	}
	var v cvo.ClusterVersion
	return &v, kube.Decode(o, &v)
}

// ask requests a release.
func (u *upgrade) ask(version string) {
	u.Helper()
	digest := map[string]string{oldVersion: oldDigest, newVersion: newDigest}[version]
	u.patch(fmt.Sprintf(`{"spec": {"desiredUpdate": {"image": %q}}}`, releaseImage+digest))
}

// patch changes the ClusterVersion.
func (u *upgrade) patch(patch string) {
	u.Helper()
	o := object("config.openshift.io/v1", "ClusterVersion", "version")
	if err := u.admin.Patch(u.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		u.Fatal(err)
	}
}

// reaches waits until a release is completely applied.
func (u *upgrade) reaches(version string) {
	u.Helper()
	u.within(8*time.Minute, "the cluster reaches "+version, func() string {
		v, err := u.cv()
		if err != nil {
			return err.Error()
		}
		if h := v.Status.History; len(h) > 0 && h[0].Version == version && h[0].State == cvo.Completed {
			return ""
		}
		return fmt.Sprint(v.Status.Conditions)
	})
}

// tells waits until a condition contains texts.
func (u *upgrade) tells(kind string, texts ...string) {
	u.Helper()
	u.within(5*time.Minute, kind+" tells "+strings.Join(texts, ", "), func() string {
		v, err := u.cv()
		if err != nil {
			return err.Error()
		}
		for _, c := range v.Status.Conditions {
			if c.Type == kind && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(c.Message, text) }) {
				return ""
			}
		}
		return fmt.Sprint(v.Status.Conditions)
	})
}

// quiet waits until the operator writes nothing for a second.
func (u *upgrade) quiet() {
	u.Helper()
	before := -1
	u.within(time.Minute, "the operator rests", func() string {
		time.Sleep(time.Second)
		n := len(u.requests(cluster.Filter{User: operator.User, Where: writes}))
		defer func() { before = n }()
		if n != before {
			return fmt.Sprintf("%d requests", n-before)
		}
		return ""
	})
}

// written returns the operator's requests since a time, without watches.
func (u *upgrade) written(since time.Time) []cluster.Request {
	u.Helper()
	return u.requests(cluster.Filter{User: operator.User, Since: since, Where: func(r *cluster.Request) bool { return r.Verb != "watch" }})
}
