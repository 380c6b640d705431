package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// call makes the API server call each admission webhook of the bundle for which
// there is an example, and counts those that were called.
func (e *episode) call() string {
	e.Helper()
	var samples []unstructured.Unstructured
	if text := e.bundle.CSV.Metadata.Annotations["alm-examples"]; text != "" {
		var raw []map[string]any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			e.Log(err)
		}
		for _, o := range raw {
			samples = append(samples, unstructured.Unstructured{Object: o})
		}
	}
	called, tried := 0, 0
	for _, hook := range e.bundle.CSV.Spec.Webhooks {
		var asked, early bool // early: the server does not have a kind yet
		var refused []string
		ask := func() (answered bool) {
			before, _ := e.pods.count(hook.WebhookPath)
			asked, early, refused = false, false, nil
			for i := range samples {
				o := e.calling(&hook, &samples[i])
				if o == nil {
					continue
				}
				o.SetNamespace(e.namespace)
				err := e.admin.Create(e.Context(), o, client.DryRunAll)
				early = early || meta.IsNoMatchError(err)
				asked = asked || !apierrors.IsInvalid(err) && !meta.IsNoMatchError(err) // some examples violate their own schema
				if err != nil {
					refused = append(refused, err.Error())
				}
			}
			after, _ := e.pods.count(hook.WebhookPath)
			return after > before
		}
		ok := ask()
		for tries := 0; (asked && !ok || early) && tries < 30; tries++ { // the server notices CRDs and webhooks a moment later
			time.Sleep(time.Second)
			ok = ask()
		}
		if !asked {
			continue
		}
		tried++
		if ok {
			called++
		} else {
			e.Errorf("webhook %s was not called: %v", hook.GenerateName, refused)
		}
	}
	if n := len(e.bundle.CSV.Spec.Webhooks); n > 0 {
		return fmt.Sprintf("%d of %d called, %d tried", called, n, tried)
	}
	return "none"
}

// calling returns an object based on an example that makes the server call a
// webhook: one that its rules match, or that is converted for storage; nil if the
// example does not allow that.
func (e *episode) calling(hook *bundle.Webhook, example *unstructured.Unstructured) *unstructured.Unstructured {
	gvk := example.GroupVersionKind()
	for _, c := range e.bundle.CRDs {
		if c.Spec.Group != gvk.Group || c.Spec.Names.Kind != gvk.Kind {
			continue
		}
		o := example.DeepCopy()
		if hook.Type == "ConversionWebhook" {
			for _, v := range c.Spec.Versions {
				if slices.Contains(hook.ConversionCRDs, c.Metadata.Name) && v.Served && !v.Storage {
					o.SetAPIVersion(c.Spec.Group + "/" + v.Name)
					return o
				}
			}
			return nil
		}
		for _, r := range hook.Rules {
			has := func(list []string, word string) bool {
				return slices.Contains(list, word) || slices.Contains(list, "*")
			}
			if has(r.APIGroups, gvk.Group) && has(r.APIVersions, gvk.Version) && has(r.Operations, "CREATE") && has(r.Resources, c.Spec.Names.Plural) {
				return o
			}
		}
	}
	return nil
}

// allow is the code of an operator that allows everything, and whose versions of
// an object do not differ.
func allow(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == shelf.ConvertPath {
		shelfAnswer(w, r)
		return
	}
	var review admissionv1.AdmissionReview
	if json.NewDecoder(r.Body).Decode(&review) != nil {
		http.Error(w, "not a review", http.StatusBadRequest)
		return
	}
	review.Response, review.Request = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}, nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}
