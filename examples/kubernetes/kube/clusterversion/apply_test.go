package clusterversion_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: ns, uid: x, resourceVersion: "7", creationTimestamp: null}, data: {a: "1"}}`

// apply applies an action and returns the requests to the server.
func (c *cluster) apply(a cvo.Action) ([]string, error) {
	c.calls()
	err := c.backend.Apply(c.t.Context(), "version", a)
	return c.calls(), err
}

func (c *cluster) wants(a cvo.Action, want ...string) {
	c.t.Helper()
	got, err := c.apply(a)
	if err != nil || !slices.Equal(got, want) {
		c.t.Errorf("asked %q, %v; want %q", got, err, want)
	}
}

// fails applies an action and checks that the error has a class and contains
// all texts.
func (c *cluster) fails(a cvo.Action, class cvo.Class, texts ...string) {
	c.t.Helper()
	_, err := c.apply(a)
	var api *fairlead.RefusedError
	if !errors.As(err, &api) || api.Reason != string(class) {
		c.t.Fatalf("%v, want class %s", err, class)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			c.t.Errorf("%v, want %q in it", err, text)
		}
	}
}

func TestApplyIsServerSide(t *testing.T) {
	c := newCluster(t, clusterversion.Options{})
	a := cvo.Apply{Manifest: manifest(t, configMap)}
	c.wants(a, "apply ConfigMap/m by fairlead-clusterversion")
	first := c.read("v1", "ConfigMap", "ns/m")
	if first.GetLabels()[clusterversion.Label] != "version" || first.GetUID() != "" {
		t.Errorf("labels %v, UID %q", first.GetLabels(), first.GetUID())
	}
	// Fields that others add stay.
	c.edit(first, "data.b", "two")
	c.wants(cvo.Apply{Manifest: manifest(t, strings.Replace(configMap, `a: "1"`, `a: "2"`, 1))}, "apply ConfigMap/m by fairlead-clusterversion")
	data, _, _ := unstructured.NestedStringMap(c.read("v1", "ConfigMap", "ns/m").Object, "data")
	if data["a"] != "2" || data["b"] != "two" {
		t.Errorf("data %v", data)
	}
}

func TestApplyDoesNotFight(t *testing.T) {
	for _, force := range []bool{false, true} {
		c := newCluster(t, clusterversion.Options{Force: force})
		other := set(object("v1", "ConfigMap", "ns/m"), "data.a", "theirs")
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(other), client.FieldOwner("gitops")); err != nil {
			t.Fatal(err)
		}
		a, want := cvo.Apply{Manifest: manifest(t, configMap)}, "theirs"
		if force {
			want = "1"
			c.wants(a, "apply ConfigMap/m by fairlead-clusterversion force")
		} else {
			c.fails(a, cvo.ClassConflict, `configmap "ns/m"`, ".data.a", `"gitops"`, "spec.overrides", "Options.Force")
		}
		if got, _, _ := unstructured.NestedString(c.read("v1", "ConfigMap", "ns/m").Object, "data", "a"); got != want {
			t.Errorf("force %v: data.a is %q", force, got)
		}
	}
}

func TestStatusOfManifestsIsLeftOut(t *testing.T) {
	c := newCluster(t, clusterversion.Options{})
	c.wants(cvo.Apply{Manifest: manifest(t, `{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: dns}, spec: {}, status: {versions: [{name: operator, version: "1"}]}}`)},
		"create ClusterOperator/dns")
	dns := c.read("config.openshift.io/v1", "ClusterOperator", "dns")
	if dns.Object["status"] != nil {
		t.Errorf("the report was written for the operator: %v", dns.Object["status"])
	}
	// It exists: no request is made.
	c.wants(cvo.Apply{Manifest: manifest(t, `{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: dns, labels: {a: b}}}`)})
}

func TestCreateOnly(t *testing.T) {
	c := newCluster(t, clusterversion.Options{Force: true})
	text := `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: ns, annotations: {release.openshift.io/create-only: "true"}}, data: {a: "1"}}`
	c.wants(cvo.Apply{Manifest: manifest(t, text)}, "create ConfigMap/m")
	c.wants(cvo.Apply{Manifest: manifest(t, strings.Replace(text, `"1"`, `"2"`, 1))}, "create ConfigMap/m")
	if got, _, _ := unstructured.NestedString(c.read("v1", "ConfigMap", "ns/m").Object, "data", "a"); got != "1" {
		t.Errorf("it was changed to %q", got)
	}
}

// The server carries out the request, but the answer is lost: the next attempt
// finds it done.
func TestUnknownOutcome(t *testing.T) {
	c := newCluster(t, clusterversion.Options{})
	lose := func(string) error { return context.DeadlineExceeded }
	keep := func(string) error { return nil }

	a := cvo.Apply{Manifest: manifest(t, configMap)}
	c.lost = lose
	c.fails(a, cvo.ClassDown)
	before := c.read("v1", "ConfigMap", "ns/m")
	c.lost = keep
	c.wants(a, "apply ConfigMap/m by fairlead-clusterversion")
	if d := cmp.Diff(before.Object["data"], c.read("v1", "ConfigMap", "ns/m").Object["data"]); d != "" {
		t.Errorf("the second attempt has changed it: %s", d)
	}

	once := cvo.Apply{Manifest: manifest(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns, annotations: {release.openshift.io/create-only: "true"}}}`)}
	c.lost = lose
	c.fails(once, cvo.ClassDown)
	c.lost = keep
	c.wants(once, "create Secret/s")

	gone := cvo.Delete{Manifest: manifest(t, strings.Replace(configMap, "namespace: ns,", `namespace: ns, annotations: {release.openshift.io/delete: "true"},`, 1))}
	c.lost = lose
	c.fails(gone, cvo.ClassDown)
	c.lost = keep
	c.wants(gone)
}

func TestDelete(t *testing.T) {
	held := object("v1", "ConfigMap", "ns/m")
	held.SetUID("u1")
	held.SetFinalizers([]string{"example.com/hold"})
	c := newCluster(t, clusterversion.Options{}, clusterVersion(), held)
	d := cvo.Delete{Manifest: manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: ns, annotations: {release.openshift.io/delete: "true"}}}`)}
	c.wants(d, "delete ConfigMap/m uid=u1")
	c.wants(d) // it is being deleted
	if w := c.observe().Deleting; len(w) != 1 || w[0] != d.Manifest.ID {
		t.Fatalf("deleting %v", w)
	}
	u := c.read("v1", "ConfigMap", "ns/m")
	u.SetFinalizers(nil)
	if err := c.Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if w := c.observe().Deleting; len(w) != 0 {
		t.Errorf("it is gone, and deleting are %v", w)
	}
	c.wants(d)
	c.wants(cvo.Delete{Manifest: manifest(t, `{apiVersion: example.com/v1, kind: Unknown, metadata: {name: m, annotations: {release.openshift.io/delete: "true"}}}`)})
}

// A new object with the same name is not deleted.
func TestDeleteIsOfOneObject(t *testing.T) {
	mine := object("v1", "ConfigMap", "ns/m")
	mine.SetUID("u1")
	c := newCluster(t, clusterversion.Options{}, clusterVersion(), mine)
	c.fail = func(call string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "m", errors.New("the UID in the precondition is another"))
	}
	d := cvo.Delete{Manifest: manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: ns, annotations: {release.openshift.io/delete: "true"}}}`)}
	c.fails(d, cvo.ClassConflict, `delete configmap "ns/m"`, "UID")
	theirs := c.read("v1", "ConfigMap", "ns/m")
	c.fail = func(string) error { return nil }
	if err := c.WithWatch.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	theirs = object("v1", "ConfigMap", "ns/m")
	theirs.SetUID("u2")
	if err := c.WithWatch.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if w := c.observe().Deleting; len(w) != 0 {
		t.Errorf("another object counts as the deleted one: %v", w)
	}
}

func TestErrorClasses(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	unserved := apierrors.NewGenericServerResponse(404, "patch", schema.GroupResource{Group: "example.com", Resource: "xs"}, "m", "404 page not found", 0, true)
	for _, c := range []struct {
		err  error
		want cvo.Class
	}{
		{apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), cvo.ClassNotFound},
		{apierrors.NewConflict(resource, "m", errors.New("changed")), cvo.ClassConflict},
		{apierrors.NewTimeoutError("slow", 1), cvo.ClassDown},
		{apierrors.NewServiceUnavailable("starting"), cvo.ClassDown},
		{&url.Error{Op: "Patch", URL: "https://127.0.0.1", Err: syscall.ECONNREFUSED}, cvo.ClassDown},
		{context.DeadlineExceeded, cvo.ClassDown},
		{apierrors.NewInternalError(errors.New("etcd")), cvo.ClassInternal},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "m", nil), cvo.ClassInvalid},
		{apierrors.NewBadRequest("unknown field"), cvo.ClassInvalid},
		{apierrors.NewInternalError(errors.New("failed to create typed patch object (/m; v1, Kind=ConfigMap): .x: field not declared in schema")), cvo.ClassInvalid},
		{apierrors.NewUnauthorized("who"), cvo.ClassUnauthorized},
		{apierrors.NewForbidden(resource, "m", errors.New("no")), cvo.ClassForbidden},
		{apierrors.NewTooManyRequests("later", 1), cvo.ClassOverloaded},
		{apierrors.NewServerTimeout(resource, "patch", 1), cvo.ClassOverloaded},
		{&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "X"}}, cvo.ClassNoMatch},
		{unserved, cvo.ClassNoMatch},
		{errors.New("odd"), cvo.ClassOther},
	} {
		k := newCluster(t, clusterversion.Options{})
		k.fail = func(string) error { return c.err }
		k.fails(cvo.Apply{Manifest: manifest(t, configMap)}, c.want, `configmap "ns/m"`, c.err.Error())
	}
}

func TestManifestsThatCannotBeSent(t *testing.T) {
	c := newCluster(t, clusterversion.Options{})
	c.fails(cvo.Apply{Manifest: manifest(t, `{kind: ConfigMap, metadata: {name: m}}`)}, cvo.ClassInvalid, "0000_50_x_a.yaml:1", "apiVersion")
	c.fails(cvo.Apply{Manifest: manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, labels: {a: [1]}}}`)}, cvo.ClassInvalid, "labels")
	if err := c.backend.Apply(t.Context(), "another", cvo.Apply{}); err == nil || !strings.Contains(err.Error(), `"another"`) {
		t.Errorf("%v", err)
	}
}

// A status is written at the observed version, or not at all.
func TestWriteStatus(t *testing.T) {
	c := newCluster(t, clusterversion.Options{}, clusterVersion())
	first := cvo.WriteStatus{Status: cvo.Status{Desired: releaseA, History: []cvo.History{{State: cvo.Partial, StartedTime: noon, Version: "1.0.0", Image: imageA}}}}
	c.fails(first, cvo.ClassNotFound) // nothing was observed
	c.observe()
	c.wants(first, "update ClusterVersion/status")
	got := c.observe().Cluster.Status
	if got.Desired.Image != imageA || len(got.History) != 1 || !got.History[0].StartedTime.Equal(noon) {
		t.Errorf("status %+v", got)
	}
	c.edit(c.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.channel", "fast-1")
	c.fails(cvo.WriteStatus{}, cvo.ClassConflict, "status of ClusterVersion version")
	w := c.observe()
	if w.Cluster.Spec.Channel != "fast-1" || w.Cluster.Status.Desired.Image != imageA {
		t.Errorf("%+v", w.Cluster)
	}
	was := w.Cluster.ResourceVersion
	c.wants(cvo.WriteStatus{Revision: was}, "update ClusterVersion/status")
	c.observe()
	c.fails(cvo.WriteStatus{Status: first.Status, Revision: was}, cvo.ClassConflict, "status of ClusterVersion version") // it comes late
}

func TestApplyAll(t *testing.T) {
	c := newCluster(t, clusterversion.Options{Parallel: 2})
	var actions []cvo.Action
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		actions = append(actions, cvo.Apply{Manifest: manifest(t, strings.ReplaceAll(configMap, "name: m,", "name: "+name+","))})
	}
	c.fail = func(call string) error {
		if strings.Contains(call, "/c ") {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "c", nil)
		}
		return nil
	}
	for i, err := range c.backend.ApplyAll(t.Context(), "version", actions) {
		if (err != nil) != (i == 2) {
			t.Errorf("%d: %v", i, err)
		}
	}
	var list unstructured.UnstructuredList
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	if err := c.List(t.Context(), &list, client.InNamespace(metav1.NamespaceAll)); err != nil || len(list.Items) != 4 {
		t.Errorf("%d are there, %v", len(list.Items), err)
	}
}
