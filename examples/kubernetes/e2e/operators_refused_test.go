package e2e_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The server refuses writes based on stale data, changes nothing then, and
// protects fields that other managers own.
func TestOperatorsRefused(t *testing.T) {
	w := newWorld(t, nil)
	v := shelf.Plumbing()[0]
	v.Packages, v.Kinds = nil, nil
	w.installOperators("Automatic", v)
	manager := operator.Start(t, w.Cluster, "-controllers=operators", "-leader-elect=false")
	w.installed("pipes.v1.0.0")
	w.still()
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}

	config := w.Config()
	config.WarningHandlerWithContext = operators.Warnings{}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := operators.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := backend.Observe(t.Context(), plumbing)
	if err != nil {
		t.Fatal(err)
	}
	plan := seen.Plans[0]
	plan.Revision = ""
	account := install.Ref{Kind: "ServiceAccount", Namespace: plumbing, Name: "pipes"}
	manifest := []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"pipes","namespace":"plumbing"}}`)
	const old = "2"
	step := install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Ref: account, Manifest: manifest, Digest: "other"}
	at := step
	at.Revision = old
	definition := install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Digest: "other", Revision: old,
		Ref:      install.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "pipes." + shelf.Group},
		Manifest: []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"pipes.` + shelf.Group + `"}}`)}
	began := time.Now()
	for _, a := range []install.Action{
		install.SetPhase{CSV: "pipes.v1.0.0", Revision: old, Phase: "Failed"},
		install.Annotate{CSV: "pipes.v1.0.0", Revision: old},
		install.Deploy{CSV: "pipes.v1.0.0", Revision: old, Digest: "x"},
		install.Undeploy{CSV: "pipes.v1.0.0", Revision: old},
		install.DeleteCSV{CSV: "pipes.v1.0.0", Revision: old},
		install.UpdateSubscription{Name: "pipes", Revision: old},
		install.DeleteSubscription{Name: "pipes", Revision: old},
		install.CreateSubscription{Subscription: seen.Subscriptions[0].Subscription},
		install.DeletePlan{Name: "install-1", Revision: old},
		install.WritePlan{Plan: plan},
		install.UpdateGroup{Name: plumbing, Revision: old},
		install.WriteCondition{Name: "pipes.v1.0.0", Revision: old},
		install.WriteCondition{Name: "pipes.v1.0.0"},
		install.UpdateCatalog{Name: plumbing, Revision: old},
		install.ServeCatalog{Name: plumbing, Revision: old},
		install.DeleteObject{Ref: account, Owner: "pipes.v1.0.0", Revision: old},
		step, at, definition,
	} {
		var changed *kube.ChangedError
		if err := backend.Apply(t.Context(), plumbing, a); !errors.As(err, &changed) {
			t.Errorf("%s: %v, want a ChangedError", a, err)
		}
	}
	for _, r := range w.requests(cluster.Filter{User: cluster.AdminUser, Since: began, Where: writes}) {
		if r.Code < 400 {
			t.Errorf("%s %s was carried out", r.Verb, r.URI)
		}
	}

	step.Ref.Name, step.Manifest = "extra", []byte(strings.ReplaceAll(string(manifest), `"pipes"`, `"extra"`))
	if err := backend.Apply(t.Context(), plumbing, step); err != nil {
		t.Errorf("an object that does not exist: %v", err)
	}
	if err := backend.Apply(t.Context(), plumbing, step); err != nil {
		t.Errorf("the same again: %v", err)
	}
	service := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service"}}
	service.SetNamespace(plumbing)
	service.SetName("pipes-metrics")
	service.Object["spec"] = map[string]any{"selector": map[string]any{"app": "something-else"}}
	operator.Apply(t, w.admin, service) // by force
	if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(service), service); err != nil {
		t.Fatal(err)
	}
	err = backend.Apply(t.Context(), plumbing, install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Digest: "other",
		Ref: install.Ref{Kind: "Service", Namespace: plumbing, Name: "pipes-metrics"}, Revision: service.GetResourceVersion(),
		Manifest: []byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"pipes-metrics","namespace":"plumbing"},"spec":{"selector":{"app":"pipes"}}}`)})
	var taken *kube.TakenError
	if !errors.As(err, &taken) || !strings.Contains(err.Error(), "e2e") {
		t.Errorf("a field of another writer: %v, want a TakenError that names it", err)
	}
	var warned *install.Warned
	err = backend.Apply(t.Context(), plumbing, install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Digest: "other",
		Ref:      install.Ref{Group: "apps", Kind: "Deployment", Namespace: plumbing, Name: "odd"},
		Manifest: []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"odd","namespace":"plumbing"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"odd"}},"template":{"metadata":{"labels":{"app":"odd"}},"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"containers":[{"name":"c","image":"none"}]}}}}`)})
	if !errors.As(err, &warned) || len(warned.Warnings) == 0 {
		t.Errorf("a deprecated label: %v, want the server's warning", err)
	}
}

// Unreadable objects are reported by events and conditions, with growing
// intervals, and the operator continues once they are corrected.
func TestOperatorsBadInput(t *testing.T) {
	w := newWorld(t, nil)
	v := shelf.Plumbing()[0]
	v.Packages, v.Kinds = nil, nil
	w.installOperators("Automatic", v)
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: plumbing, Name: plumbing}, Data: map[string]string{"catalog.json": `{"schema": "olm.package", "name": 7}`}}
	if err := w.admin.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.create(olmObject("v1alpha1", "Subscription", "bad", map[string]any{"name": "pipes", "config": map[string]any{"env": "no list"}}))
	err := w.admin.Create(t.Context(), olmObject("v1alpha1", "Subscription", "worse", map[string]any{"name": 7}))
	if err == nil || !strings.Contains(err.Error(), "spec.name") {
		t.Errorf("a subscription to 7: %v, want that the server refuses it", err)
	}
	manager := operator.Start(t, w.Cluster, "-controllers=operators", "-leader-elect=false")
	manager.Ready()
	w.told("Subscription", operators.ReasonObject)
	w.told("CatalogSource", install.ReasonCatalog)
	w.eventually("the catalog reports what is wrong", func() string {
		o := olmObject("v1alpha1", "CatalogSource", plumbing, nil)
		if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err.Error()
		}
		message, _, _ := unstructured.NestedString(o.Object, "status", "message")
		if !strings.Contains(message, "catalog.json:1:") {
			return message
		}
		return ""
	})
	w.still()
	began := time.Now()
	time.Sleep(10 * time.Second)
	if n := len(w.requests(cluster.Filter{User: operator.User, Since: began, Where: writes})); n > 0 {
		t.Errorf("%d writes in ten seconds with nothing to do", n)
	}
	if n := len(w.requests(cluster.Filter{User: operator.User, Since: began})); n > 60 {
		t.Errorf("%d requests in ten seconds with nothing to do: more than two passes", n)
	}
	w.stock(v)
	w.installed("pipes.v1.0.0")

	broken := olmObject("v1alpha1", "ClusterServiceVersion", "broken.v1.0.0", map[string]any{"customresourcedefinitions": "no object"})
	w.create(broken)
	w.eventually("an event about the CSV", func() string {
		if !w.hasEvent("PassFailed", "broken.v1.0.0 cannot be read") {
			return "there is none"
		}
		return ""
	})
	if err := w.admin.Delete(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	w.still()
	w.installed("pipes.v1.0.0")
	w.eventually("nothing fails any more", func() string {
		if n := manager.Metric(`fairlead_blocked{engine="install",reason="` + install.ReasonCatalog + `"}`); n != 0 {
			return "the catalog still blocks"
		}
		return ""
	})
}
