package operators_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestImages installs a bundle in an image from a catalog in an image, both in
// a directory.
func TestImages(t *testing.T) {
	root := t.TempDir()
	v := onlyPipes()
	var docs []string
	for line := range strings.Lines(shelf.Catalog(v)) {
		docs = append(docs, line)
	}
	var bundle struct {
		Properties []struct {
			Type  string
			Value json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(docs[2]), &bundle); err != nil {
		t.Fatal(err)
	}
	manifests := filepath.Join(root, "registry.example.com", "pipes:1.0.0", "manifests")
	n := 0
	kept := bundle.Properties[:0]
	for _, p := range bundle.Properties {
		if p.Type != "olm.bundle.object" {
			kept = append(kept, p)
			continue
		}
		var held struct{ Data []byte }
		if err := json.Unmarshal(p.Value, &held); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(manifests, []string{"csv", "crd", "service"}[n]+".yaml"), string(held.Data))
		n++
	}
	write(t, filepath.Join(root, "registry.example.com", "pipes:1.0.0", "metadata", "annotations.yaml"),
		"annotations:\n  operators.operatorframework.io.bundle.package.v1: pipes\n")
	var full map[string]any
	if err := json.Unmarshal([]byte(docs[2]), &full); err != nil {
		t.Fatal(err)
	}
	full["properties"] = kept
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	shelfDir := filepath.Join(root, "registry.example.com", "shelf:v1")
	write(t, filepath.Join(shelfDir, "catalog.json"), docs[0]+docs[1]+strings.ReplaceAll(string(text), `"Type"`, `"type"`))

	w := newWorld(t, &operators.BackendOptions{Images: operators.Directory(root)})
	group := object(groupKind, ns, "plumbing")
	group.Object["spec"] = map[string]any{"targetNamespaces": []any{ns}}
	w.create(group)
	w.create(subscription("Automatic"))
	source := object(catalogKind, ns, "plumbing")
	source.Object["spec"] = map[string]any{"sourceType": "grpc", "image": "registry.example.com/absent:v1"}
	w.create(source)
	for range 12 {
		w.pass()
	}
	if message, _, _ := unstructured.NestedString(w.get(catalogKind, ns, "plumbing").Object, "status", "message"); !strings.Contains(message, "unreachable") {
		t.Errorf("message %q", message)
	}
	source = w.get(catalogKind, ns, "plumbing")
	w.must(unstructured.SetNestedField(source.Object, strings.ReplaceAll("registry.example.com/shelf:v1", "~", ""), "spec", "image"))
	w.must(w.client.Update(t.Context(), source))
	w.run(100)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, `"Value"`, `"value"`)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDirectoryStaysInside refuses names that would lead out of the directory.
func TestDirectoryStaysInside(t *testing.T) {
	for _, image := range []string{"../secret", "/etc/passwd", "", "a/../../b"} {
		if _, err := operators.Directory(t.TempDir()).Open(t.Context(), image); err == nil || !strings.Contains(err.Error(), "is not the name of an image") {
			t.Errorf("%q: %v", image, err)
		}
	}
}

// TestCopies copies a CSV to another namespace, even if the manager is killed
// between the two writes that a copy takes; the copy is never taken for an
// operator of that namespace.
func TestCopies(t *testing.T) {
	w := newWorld(t, nil)
	const other = "tenant"
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}})
	w.stock("Automatic", onlyPipes())
	group := w.get(groupKind, ns, "plumbing")
	w.must(unstructured.SetNestedStringSlice(group.Object, []string{ns, other}, "spec", "targetNamespaces"))
	w.must(w.client.Update(t.Context(), group))
	cut := map[bool]bool{} // for a new copy, and for an updated one
	w.fail = func(verb string, o client.Object) (error, bool) {
		if renewed := w.succeeded("pipes.v1.0.0"); verb == "patch status" && o.GetNamespace() == other && !cut[renewed] {
			cut[renewed] = true
			seen, err := w.backend.Observe(context.WithoutCancel(t.Context()), other)
			if err != nil || len(seen.CSVs) != 1 || !seen.CSVs[0].Copied() {
				t.Errorf("half a copy is seen as %v, %v", seen, err)
			}
			seen, err = w.backend.Observe(context.WithoutCancel(t.Context()), ns)
			w.must(err)
			for _, o := range seen.Generated {
				if o.Kind == csvKind.Kind && !renewed && o.Digest != "" {
					t.Errorf("half a copy counts as written: %v", o)
				}
			}
			return errors.New("the manager was killed"), false
		}
		return nil, false
	}
	w.run(100)
	copied := w.get(csvKind, other, "pipes.v1.0.0")
	reason, _, _ := unstructured.NestedString(copied.Object, "status", "reason")
	phase, _, _ := unstructured.NestedString(copied.Object, "status", "phase")
	if len(cut) != 2 || reason != "Copied" || phase != "Succeeded" {
		t.Errorf("cut %v, the copy has phase %q, reason %q", cut, phase, reason)
	}
	roles := 0
	for _, o := range w.all(kind("rbac.authorization.k8s.io", "v1", "RoleBinding")) {
		if o.GetNamespace() == other {
			roles++
		}
	}
	if roles != 1 {
		t.Errorf("%d role bindings in the other namespace", roles)
	}
	group = w.get(groupKind, ns, "plumbing")
	w.must(unstructured.SetNestedStringSlice(group.Object, []string{ns}, "spec", "targetNamespaces"))
	w.must(w.client.Update(t.Context(), group))
	w.run(100)
	for _, o := range w.all(csvKind) {
		if o.GetNamespace() == other {
			t.Error("the copy is still there")
		}
	}
}

// succeeded reports whether a CSV of the namespace exists and has succeeded.
func (w *world) succeeded(csv string) bool {
	w.t.Helper()
	o := object(csvKind, ns, csv)
	w.must(client.IgnoreNotFound(w.client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)))
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return phase == "Succeeded"
}

// TestRepair restores deleted objects, and deploys again.
func TestRepair(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	w.must(w.client.Delete(t.Context(), object(kind("", "v1", "Service"), ns, "pipes-metrics")))
	w.must(w.client.Delete(t.Context(), object(kind("apps", "v1", "Deployment"), ns, "pipes")))
	w.run(100)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	w.get(kind("", "v1", "Service"), ns, "pipes-metrics")
	w.get(kind("apps", "v1", "Deployment"), ns, "pipes")
}

// TestKindGone observes a namespace whose plan names a kind that was recently
// removed.
func TestKindGone(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	w.gone = "Service"
	seen, err := w.backend.Observe(t.Context(), ns)
	w.must(err)
	if len(seen.CSVs) != 1 || !slices.ContainsFunc(seen.Objects, func(o install.Object) bool { return o.Ref.Kind == "ServiceAccount" }) {
		t.Errorf("%+v", seen)
	}
}

// TestPlanDeleted deletes an operator's plan, as is done with failed plans: the
// objects of the bundle are still observed, so nothing is planned; objects lost
// later are restored by one plan.
func TestPlanDeleted(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	stocked := &corev1.ConfigMap{}
	w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "plumbing"}, stocked))
	const property = `{"type":"olm.bundle.object","value":{"data":"`
	settings := base64.StdEncoding.EncodeToString([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"pipes-settings"}}`))
	stocked.Data["catalog.json"] = strings.Replace(stocked.Data["catalog.json"], property, property+settings+`"}},`+property, 1)
	w.must(w.client.Update(t.Context(), stocked))
	w.run(60)
	for _, p := range w.all(planKind) {
		w.must(w.client.Delete(t.Context(), &p))
	}
	made := func(want int) {
		t.Helper()
		w.run(40)
		n := 0
		for _, write := range w.writes {
			if strings.HasPrefix(write, "create InstallPlan ") {
				n++
			}
		}
		if n != want {
			t.Errorf("%d plans were made, want %d", n, want)
		}
		w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	}
	made(1)
	w.must(w.client.Delete(t.Context(), object(kind("", "v1", "ConfigMap"), ns, "pipes-settings")))
	made(2)
	w.get(kind("", "v1", "ConfigMap"), ns, "pipes-settings")
}

// TestDeploy carries out install strategies: deployments no longer in one are
// removed, broken ones and those with another selector are recreated, and a
// strategy may be empty.
func TestDeploy(t *testing.T) {
	w := newWorld(t, nil)
	csv := object(csvKind, ns, "tap.v1")
	csv.SetUID("tap")
	csv.Object["spec"] = map[string]any{}
	w.create(csv)
	selector := "tap"
	manifest := func(name string) json.RawMessage {
		return json.RawMessage(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"` + name + `","namespace":"plumbing","labels":{"olm.owner":"tap.v1"}},
			"spec":{"replicas":1,"selector":{"matchLabels":{"app":"` + selector + `"}},"template":{"containers":[],"spec":{"containers":[{"name":"m","args":["x"],"nonsense":1}]}}}}`)
	}
	deploy := func(digest string, names ...string) {
		t.Helper()
		a := install.Deploy{CSV: "tap.v1", Revision: w.get(csvKind, ns, "tap.v1").GetResourceVersion(), Digest: digest}
		for _, name := range names {
			a.Deployments = append(a.Deployments, manifest(name))
		}
		w.must(w.backend.Apply(t.Context(), ns, a))
	}
	health := func() install.CSV {
		t.Helper()
		seen, err := w.backend.Observe(t.Context(), ns)
		w.must(err)
		return seen.CSVs[0]
	}
	if c := health(); c.Deployed != "" {
		t.Errorf("before anything is deployed: %q", c.Deployed)
	}
	sent := "" // to the server, which here drops unknown fields
	w.fail = func(_ string, o client.Object) (error, bool) {
		if u, ok := o.(*unstructured.Unstructured); ok && u.GetKind() == "Deployment" && u.Object["spec"] != nil {
			sent = fmt.Sprint(u.Object["spec"].(map[string]any)["template"])
		}
		return nil, false
	}
	deploy("1", "hot", "cold")
	deploy("2", "cold")
	w.wantMade(map[schema.GroupVersionKind][]string{kind("apps", "v1", "Deployment"): {"cold"}})
	d := w.get(kind("apps", "v1", "Deployment"), ns, "cold")
	if sent != "map[spec:map[containers:[map[args:[x] name:m]]]]" {
		t.Errorf("an unknown field of a deployment is sent, or too much is left out: %s", sent)
	}
	if refs := d.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != "tap" {
		t.Errorf("owners %v", refs)
	}
	d.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}}}
	w.must(w.client.Status().Update(t.Context(), d))
	if c := health(); c.DeployedDigest != "2" {
		t.Errorf("digest %q", c.DeployedDigest)
	}
	csv = w.get(csvKind, ns, "tap.v1")
	w.must(unstructured.SetNestedField(csv.Object, []any{map[string]any{"name": "cold"}}, "spec", "install", "spec", "deployments"))
	w.must(w.client.Update(t.Context(), csv))
	d = w.get(kind("apps", "v1", "Deployment"), ns, "cold")
	d.SetAnnotations(map[string]string{operators.DigestAnnotation: "1"})
	w.must(w.client.Update(t.Context(), d))
	if c := health(); c.DeployedDigest != "" {
		t.Errorf("digest %q of a deployment that is not as it was written", c.DeployedDigest)
	}
	if c := health(); c.Deployed != install.Broken {
		t.Errorf("after the deadline: %q", c.Deployed)
	}
	deploy("2", "cold")
	if n := w.count("delete Deployment cold"); n != 1 {
		t.Errorf("a broken deployment was deleted %d times, want once", n)
	}
	selector = "cold-tap"
	deploy("3", "cold")
	d = w.get(kind("apps", "v1", "Deployment"), ns, "cold")
	if is, _, _ := unstructured.NestedString(d.Object, "spec", "selector", "matchLabels", "app"); is != selector || w.count("delete Deployment cold") != 2 {
		t.Errorf("selector %q, deleted %d times", is, w.count("delete Deployment cold"))
	}
	deploy("4", "cold")
	if n := w.count("delete Deployment cold"); n != 2 {
		t.Errorf("a deployment with the same selector was made again")
	}
	deploy("")
	w.wantMade(map[schema.GroupVersionKind][]string{kind("apps", "v1", "Deployment"): nil})
	csv = w.get(csvKind, ns, "tap.v1")
	csv.Object["spec"] = map[string]any{}
	w.must(w.client.Update(t.Context(), csv))
	if c := health(); c.Deployed != install.Ready || c.DeployedDigest != "" {
		t.Errorf("nothing to deploy: %q, digest %q", c.Deployed, c.DeployedDigest)
	}
	w.must(w.backend.Apply(t.Context(), ns, install.Undeploy{CSV: "tap.v1", Revision: w.get(csvKind, ns, "tap.v1").GetResourceVersion()}))
	if c := health(); c.Deployed != "" {
		t.Errorf("after it was taken back: %q", c.Deployed)
	}
}

// TestCatalogChanges plans a bundle again if its content changes under the same
// name.
func TestCatalogChanges(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Manual", onlyPipes())
	w.run(40)
	v := onlyPipes()
	v.Fields = append(v.Fields, "colour")
	m := w.get(kind("", "v1", "ConfigMap"), ns, "plumbing")
	m.Object["data"] = map[string]any{"catalog.json": shelf.Catalog(v)}
	w.must(w.client.Update(t.Context(), m))
	w.run(60)
	w.approve()
	w.run(60)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	crd, err := w.get(crdKind, "", "pipes."+shelf.Group).MarshalJSON()
	if err != nil || !strings.Contains(string(crd), "colour") {
		t.Errorf("the CRD is not that of the new catalog: %s, %v", crd, err)
	}
}

// TestRemoval removes an operator, and leaves nothing but its CRD.
func TestRemoval(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	sub := w.get(subscriptionKind, ns, "pipes")
	sub.SetAnnotations(map[string]string{install.RemovalAnnotation: install.RemovalUninstall})
	w.must(w.client.Update(t.Context(), sub))
	w.run(100)
	w.wantPhases(map[string]string{})
	for _, k := range []string{"ServiceAccount", "Service"} {
		if left := w.all(kind("", "v1", k)); len(left) > 0 {
			t.Errorf("%s %s is left", k, left[0].GetName())
		}
	}
	if left := w.all(kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding")); len(left) > 0 {
		t.Errorf("ClusterRoleBinding %s is left", left[0].GetName())
	}
	if n := len(w.all(crdKind)); n != 1 {
		t.Errorf("%d CRDs, want that of the operator", n)
	}
	if n := len(w.all(subscriptionKind)); n != 0 {
		t.Errorf("%d subscriptions", n)
	}
}

// TestAcross refuses an operator whose API another namespace has.
func TestAcross(t *testing.T) {
	w := newWorld(t, &operators.BackendOptions{Across: true})
	w.stock("Automatic", onlyPipes())
	w.run(60)
	const other = "tenant"
	for _, o := range []*unstructured.Unstructured{w.get(catalogKind, ns, "plumbing"), w.get(groupKind, ns, "plumbing"), subscription("Automatic")} {
		o.SetNamespace(other)
		o.SetResourceVersion("")
		o.SetUID("")
		o.SetAnnotations(nil)
		delete(o.Object, "status")
		w.create(o)
	}
	m := w.get(kind("", "v1", "ConfigMap"), ns, "plumbing")
	m.SetNamespace(other)
	m.SetResourceVersion("")
	w.create(m)
	sub := w.get(subscriptionKind, other, "pipes")
	w.must(unstructured.SetNestedField(sub.Object, other, "spec", "sourceNamespace"))
	w.must(w.client.Update(t.Context(), sub))
	var told []string
	for range 12 {
		d, err := w.runner.Reconcile(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		told = reasons(d.Blocked)
		w.clock.Advance(1e9)
	}
	if !slices.Contains(told, install.ReasonNamespaces) {
		t.Errorf("reasons %v, want %s", told, install.ReasonNamespaces)
	}
}

// TestReportUpgradeable writes the report and reads it back.
func TestReportUpgradeable(t *testing.T) {
	if _, err := operators.New(nil, &operators.BackendOptions{ClusterVersion: "4.19.0"}); err == nil {
		t.Error("ClusterVersion without ReportNamespace is accepted")
	}
	w := newWorld(t, &operators.BackendOptions{ClusterVersion: "4.19.0", ReportNamespace: "fairlead"})
	w.stock("Automatic", onlyPipes())
	d, _ := w.run(60)
	m := w.get(kind("", "v1", "ConfigMap"), "fairlead", "fairlead-upgradeable-"+ns)
	text, _, _ := unstructured.NestedString(m.Object, "data", "condition")
	if !strings.Contains(text, `"type":"Upgradeable","status":"True"`) || len(d.Blocked) > 0 {
		t.Errorf("report %q, blocks %v", text, d.Blocked)
	}
}
