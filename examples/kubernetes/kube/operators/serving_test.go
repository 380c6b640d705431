package operators_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// meters returns an operator that the API server calls for everything possible.
func meters() shelf.Version {
	return shelf.Version{
		Package: "pipes", Number: "1.0.0", Kind: "Pipe", Served: []string{"v1alpha1", "v1"}, Fields: []string{"length"},
		Calls: []string{"validating", "mutating", "conversion", "api"},
	}
}

const certificate = "pipes-service-cert"

// serving installs meters in a namespace whose group selects all.
func serving(t *testing.T) *world {
	w := newWorld(t, nil)
	w.stock("Automatic", meters())
	group := w.get(groupKind, ns, "plumbing")
	group.Object["spec"] = map[string]any{}
	w.must(w.client.Update(t.Context(), group))
	return w
}

func (w *world) secret() *corev1.Secret {
	w.t.Helper()
	var s corev1.Secret
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: ns, Name: certificate}, &s))
	return &s
}

// hold checks that the certificate of a Secret is valid for a client that
// trusts the authorities.
func (w *world) hold(s *corev1.Secret, authorities []byte) {
	w.t.Helper()
	pair, err := tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
	w.must(err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	w.must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "pipes-service." + ns + ".svc", CurrentTime: w.clock.Now()}); err != nil {
		w.t.Errorf("the certificate does not hold: %v", err)
	}
}

// bundles returns the authorities that the API server trusts, by the kind of
// call.
func (w *world) bundles() map[string][]byte {
	w.t.Helper()
	ctx, all := w.t.Context(), map[string][]byte{}
	var v admissionv1.ValidatingWebhookConfigurationList
	var m admissionv1.MutatingWebhookConfigurationList
	w.must(w.client.List(ctx, &v))
	w.must(w.client.List(ctx, &m))
	for i := range v.Items {
		all["validating"] = v.Items[i].Webhooks[0].ClientConfig.CABundle
	}
	for i := range m.Items {
		all["mutating"] = m.Items[i].Webhooks[0].ClientConfig.CABundle
	}
	decode := func(text string) (made []byte) {
		w.must(json.Unmarshal([]byte(`"`+text+`"`), &made))
		return made
	}
	for _, o := range w.all(apiServiceKind) {
		text, _, _ := unstructured.NestedString(o.Object, "spec", "caBundle")
		all["api"] = decode(text)
	}
	for _, o := range w.all(crdKind) {
		if text, there, _ := unstructured.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle"); there {
			all["conversion"] = decode(text)
		}
	}
	return all
}

func (w *world) trusted() {
	w.t.Helper()
	all := w.bundles()
	if len(all) != 4 {
		w.t.Errorf("trusted for %v", slices.Sorted(maps.Keys(all)))
	}
	for _, authorities := range all {
		w.hold(w.secret(), authorities)
	}
}

// TestServing installs an operator with webhooks, a conversion and an API
// service, renews its certificate, and removes all of it.
func TestServing(t *testing.T) {
	w := serving(t)
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	w.trusted()
	first, old := w.secret(), w.deployment().Spec.Template.Annotations["olmcahash"]
	if n := strings.Count(string(first.Data["ca.crt"]), "BEGIN"); n != 1 {
		t.Errorf("%d authorities at the beginning", n)
	}
	if strings.Contains(string(first.Data["ca.crt"]), "KEY") || len(first.Data) != 3 {
		t.Errorf("the Secret has %v", slices.Sorted(maps.Keys(first.Data)))
	}

	w.clock.Set(w.renewal(first))
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.trusted()
	for what, authorities := range w.bundles() {
		if strings.Count(string(authorities), "BEGIN") != 2 {
			t.Errorf("%s: the pods that have not changed over are not trusted", what)
		}
		w.hold(first, authorities)
	}
	if now := w.deployment().Spec.Template.Annotations["olmcahash"]; now == old || now == "" {
		t.Errorf("the pods do not begin again with the new certificate: %q", now)
	}

	spoilt := w.secret()
	spoilt.Data["tls.key"] = []byte("nonsense")
	w.must(w.client.Update(t.Context(), spoilt))
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.trusted()

	w.must(w.client.Patch(t.Context(), w.get(subscriptionKind, ns, "pipes"), client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"`+install.RemovalAnnotation+`":"uninstall"}}}`))))
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.wantPhases(map[string]string{})
	w.wantMade(map[schema.GroupVersionKind][]string{secretKind: nil, validatingKind: nil, mutatingKind: nil, apiServiceKind: nil, kind("", "v1", "Service"): nil})
	crd := w.get(crdKind, "", "pipes."+shelf.Group)
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy != "None" || crd.GetAnnotations()[operators.ConversionAnnotation] != "" {
		t.Errorf("the CRD is converted still: %v", crd.Object["spec"].(map[string]any)["conversion"])
	}
}

// TestServingAgain loses the answer to each write for serving: each is still
// carried out only once.
func TestServingAgain(t *testing.T) {
	w := serving(t)
	lost := map[string]bool{}
	w.fail = func(verb string, o client.Object) (error, bool) {
		k := o.GetObjectKind().GroupVersionKind().Kind
		switch key := verb + " " + k; k {
		case "Secret", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService", "CustomResourceDefinition", "Service", "":
			if !lost[key] {
				lost[key] = true
				return apierrors.NewTimeoutError("no answer", 1), true
			}
		}
		return nil, false
	}
	if d, _ := w.run(200); len(d.Blocked) > 0 {
		t.Fatal(d.Blocked)
	}
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	w.trusted()
	if len(lost) < 5 {
		t.Errorf("answers were lost to %v only", slices.Sorted(maps.Keys(lost)))
	}
}

// TestForeignSecret finds another Secret in place of a certificate: it stays,
// and is reported.
func TestForeignSecret(t *testing.T) {
	w := serving(t)
	foreign := &corev1.Secret{}
	foreign.Namespace, foreign.Name = ns, certificate
	foreign.Data = map[string][]byte{"mine": []byte("x")}
	w.create(foreign)
	var text string
	for range 40 {
		d, err := w.pass()
		text = ""
		for _, b := range d.Blocked {
			text += b.Message + "\n"
		}
		text += fmt.Sprint(err)
		if strings.Contains(text, "was not issued here") {
			break
		}
	}
	if !strings.Contains(text, "was not issued here") {
		t.Errorf("it says: %s", text)
	}
	if got := w.secret(); string(got.Data["mine"]) != "x" || len(got.Data) != 1 {
		t.Errorf("it was written: %v", got.Data)
	}
}

// TestOwnConversion applies a CRD with its own conversion after that of its
// operator was set: the latter stays.
func TestOwnConversion(t *testing.T) {
	w := serving(t)
	w.run(80)
	before := w.bundles()["conversion"]
	crd := w.get(crdKind, "", "pipes."+shelf.Group)
	if len(before) == 0 || crd.GetAnnotations()[operators.ConversionAnnotation] == "" {
		t.Fatal("it is not set")
	}
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion") // as a manual change
	w.must(w.client.Update(t.Context(), crd))
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	if after := w.bundles()["conversion"]; string(after) != string(before) {
		t.Errorf("a conversion that was removed manually is not set again: %q", after)
	}
}

// TestConversionKept applies the CRD of a later version: the conversion that was
// set stays complete, although an earlier version of the CRD contained a part of
// it, and this one none.
func TestConversionKept(t *testing.T) {
	w := serving(t)
	w.run(80)
	name := "pipes." + shelf.Group
	crd := w.get(crdKind, "", name)
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	w.must(w.client.Update(t.Context(), crd))
	own := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}}}}}}
	own.SetGroupVersionKind(crdKind)
	own.SetName(name)
	w.must(w.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(own), client.FieldOwner(operators.FieldManager)))
	w.run(80)
	before := w.bundles()["conversion"]
	crd = w.get(crdKind, "", name)
	manifest := crd.DeepCopy()
	manifest.SetManagedFields(nil)
	manifest.SetResourceVersion("")
	manifest.SetUID("")
	unstructured.RemoveNestedField(manifest.Object, "spec", "conversion")
	text, err := manifest.MarshalJSON()
	w.must(err)
	seen, err := w.backend.Observe(t.Context(), ns)
	w.must(err)
	plan := slices.MaxFunc(seen.Plans, func(a, b install.InstallPlan) int { return a.Spec.Generation - b.Spec.Generation })
	w.must(w.backend.Apply(t.Context(), ns, install.ApplyStep{
		Plan: plan.Name, Generation: plan.Spec.Generation, Resolving: "pipes.v1.0.0", Digest: "other", Revision: crd.GetResourceVersion(), Manifest: text,
		Ref: install.Ref{Group: crdKind.Group, Kind: crdKind.Kind, Name: name},
	}))
	crd = w.get(crdKind, "", name)
	owns := slices.ContainsFunc(crd.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == operators.FieldManager && f.Operation == metav1.ManagedFieldsOperationApply && strings.Contains(string(f.FieldsV1.Raw), `"f:strategy"`)
	})
	if !owns { // a server removes fields that their owner leaves out
		t.Errorf("the applied CRD leaves out the conversion: %v", crd.GetManagedFields())
	}
	after, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
	if got := w.bundles()["conversion"]; after != "Webhook" || len(before) == 0 || string(got) != string(before) {
		t.Errorf("strategy %q, authority %q, want Webhook and %q", after, got, before)
	}
}

func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	var d appsv1.Deployment
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: ns, Name: "pipes"}, &d))
	return &d
}

// renewal returns when two thirds of a certificate's lifetime are over.
func (w *world) renewal(s *corev1.Secret) time.Time {
	w.t.Helper()
	pair, err := tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
	w.must(err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	w.must(err)
	return leaf.NotBefore.Add(leaf.NotAfter.Sub(leaf.NotBefore) / 3 * 2)
}
