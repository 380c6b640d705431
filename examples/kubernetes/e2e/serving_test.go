package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podServers contains the processes of pods that answer the API server's calls
// to an operator over TLS, each with the certificate in its Secret at the first
// connection, as if the Secret had been mounted then and never read again.
type podServers struct {
	admin  client.Client
	answer http.HandlerFunc

	mu   sync.Mutex
	byID map[types.UID]*httptest.Server
	// asked counts the requests, by path; served the pods that answered any.
	asked  map[string]int
	served map[types.UID]bool
}

func (p *podServers) dial(ctx context.Context, pod *corev1.Pod, _ int) (net.Conn, error) {
	server, err := p.server(ctx, pod)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
}

func (p *podServers) server(ctx context.Context, pod *corev1.Pod) (*httptest.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.byID[pod.UID]; s != nil {
		return s, nil
	}
	for _, v := range pod.Spec.Volumes {
		if v.Name != "webhook-cert" || v.Secret == nil {
			continue
		}
		var secret corev1.Secret
		if err := p.admin.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: v.Secret.SecretName}, &secret); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
		if err != nil {
			return nil, err
		}
		id := pod.UID
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.mu.Lock()
			p.asked[r.URL.Path]++
			p.served[id] = true
			p.mu.Unlock()
			p.answer(w, r)
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.StartTLS()
		p.byID[pod.UID] = s
		return s, nil
	}
	return nil, fmt.Errorf("pod %s has no certificate", pod.Name)
}

// servePods simulates the pods' processes, which answer with the handler.
func (w *world) servePods(answer http.HandlerFunc) *podServers {
	w.Helper()
	p := &podServers{admin: w.admin, answer: answer, byID: map[types.UID]*httptest.Server{}, asked: map[string]int{}, served: map[types.UID]bool{}}
	w.Cleanup(p.close)
	if err := w.kubelets.ServePods(w.Context(), w.Cluster, p.dial); err != nil {
		w.Fatal(err)
	}
	return p
}

func (p *podServers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.byID {
		s.CloseClientConnections()
		s.Close()
	}
}

// count returns how often a path was requested, and how many pods answered.
func (p *podServers) count(path string) (asked, pods int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path], len(p.served)
}

// shelfAnswer is the operator's code: pipes without a length are refused, all are
// labelled, and objects are converted between versions by adding an annotation.
func shelfAnswer(w http.ResponseWriter, r *http.Request) {
	write := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case shelf.ValidatePath, shelf.MutatePath:
		var review admissionv1.AdmissionReview
		var o unstructured.Unstructured
		if json.NewDecoder(r.Body).Decode(&review) != nil || o.UnmarshalJSON(review.Request.Object.Raw) != nil {
			http.Error(w, "not a review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if length, _, _ := unstructured.NestedString(o.Object, "spec", "length"); r.URL.Path == shelf.ValidatePath && length == "0" {
			review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: "a pipe without length leads nowhere"}
		}
		if r.URL.Path == shelf.MutatePath {
			kind := admissionv1.PatchTypeJSONPatch
			review.Response.PatchType, review.Response.Patch = &kind, []byte(`[{"op":"add","path":"/metadata/labels","value":{"mutated":"yes"}}]`)
		}
		review.Request = nil
		write(review)
	case shelf.ConvertPath:
		var review apiextensionsv1.ConversionReview
		if json.NewDecoder(r.Body).Decode(&review) != nil {
			http.Error(w, "not a review", http.StatusBadRequest)
			return
		}
		response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			var o unstructured.Unstructured
			if err := o.UnmarshalJSON(raw.Raw); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			notes := o.GetAnnotations()
			if notes == nil {
				notes = map[string]string{}
			}
			notes["converted-from"] = strings.TrimPrefix(o.GetAPIVersion(), shelf.Group+"/")
			o.SetAnnotations(notes)
			o.SetAPIVersion(review.Request.DesiredAPIVersion)
			response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Object: &o})
		}
		review.Request, review.Response = nil, response
		write(review)
	default:
		api := meters().APIGroup() + "/v1"
		switch r.URL.Path {
		case "/apis/" + api:
			write(metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: api,
				APIResources: []metav1.APIResource{{Name: "readings", SingularName: "reading", Namespaced: true, Kind: "Reading", Verbs: []string{"list"}}}})
		case "/apis/" + api + "/namespaces/" + plumbing + "/readings":
			write(map[string]any{"apiVersion": api, "kind": "ReadingList", "metadata": map[string]any{}, "items": []any{
				map[string]any{"apiVersion": api, "kind": "Reading", "metadata": map[string]any{"name": r.Header.Get("X-Remote-User")}},
			}})
		default:
			http.NotFound(w, r)
		}
	}
}

// meters returns an operator that the API server calls for everything possible.
func meters() *shelf.Version {
	return &shelf.Version{
		Package: "pipes", Number: "1.0.0", Kind: "Pipe", Served: []string{"v1alpha1", "v1"}, Fields: []string{"length"},
		Calls: []string{"validating", "mutating", "conversion", "api"},
	}
}

func pipe(version, name, length string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"length": length}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: shelf.Group, Version: version, Kind: "Pipe"})
	o.SetNamespace(plumbing)
	o.SetName(name)
	return o
}

// TestServing installs an operator with webhooks, a conversion and an API service.
// The API server calls it for each, even while the certificates change and after a
// crash of the manager, and no longer when it is removed.
func TestServing(t *testing.T) {
	w := newWorld(t, nil)
	pods := w.servePods(shelfAnswer)
	w.installOperators("Automatic", *meters())
	w.merge("v1", "OperatorGroup", plumbing, `{"spec":{"targetNamespaces":null}}`)
	flags := []string{"-controllers=operators", "-leader-elect=false", "-operators-certificate-lifetime=45s"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()
	w.installed("pipes.v1.0.0")

	calls := 0
	call := func() string {
		calls++
		name := fmt.Sprintf("drain-%d", calls)
		bad := w.admin.Create(t.Context(), pipe("v1", name+"-bad", "0"))
		if bad == nil || !strings.Contains(bad.Error(), "leads nowhere") {
			return fmt.Sprintf("a pipe without length: %v", bad)
		}
		if err := w.admin.Create(t.Context(), pipe("v1alpha1", name, "3 m")); err != nil {
			return err.Error()
		}
		got := pipe("v1alpha1", name, "")
		if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
			return err.Error()
		}
		if got.GetLabels()["mutated"] != "yes" || got.GetAnnotations()["converted-from"] == "" {
			return fmt.Sprintf("the pipe has labels %v and annotations %v", got.GetLabels(), got.GetAnnotations())
		}
		text, err := w.client().CoreV1().RESTClient().Get().AbsPath("/apis/" + meters().APIGroup() + "/v1/namespaces/" + plumbing + "/readings").DoRaw(t.Context())
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(string(text), "e2e-admin") {
			return "the aggregated API does not know who asks: " + string(text)
		}
		return ""
	}
	w.eventually("the operator is called", call)

	// From here on every call must succeed, whatever changes.
	first := w.serial()
	lost := 0
	killed := false
	for begin := time.Now(); ; {
		if wrong := call(); wrong != "" {
			t.Errorf("after %v: %s", time.Since(begin).Round(time.Second), wrong)
			if lost++; lost > 3 {
				break
			}
		}
		_, answering := pods.count("")
		if w.serial() != first && answering > 1 && killed {
			break
		}
		if w.serial() != first && !killed {
			killed = true
			manager.Kill() // in the middle of the change
			manager = operator.Start(t, w.Cluster, flags...)
		}
		if time.Since(begin) > 2*time.Minute {
			t.Errorf("the certificate was not changed, or no new pod has answered: %d pods", answering)
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, path := range []string{shelf.ValidatePath, shelf.MutatePath, shelf.ConvertPath} {
		asked, answering := pods.count(path)
		t.Logf("%s: asked for %d times, of %d pods", path, asked, answering)
	}
	w.installed("pipes.v1.0.0")

	w.merge("v1alpha1", "Subscription", "pipes", `{"metadata":{"annotations":{"fairlead.io/removal":"uninstall"}}}`)
	w.installed()
	w.eventually("nothing is left", func() string { return strings.Join(w.leftovers(), ", ") })
	if err := w.admin.Create(t.Context(), pipe("v1", "free", "0")); err != nil {
		t.Errorf("pipes are no longer validated: %v", err)
	}
	w.rightsServing()
}

// serial returns the serial number of the certificate in the Secret.
func (w *world) serial() string {
	w.Helper()
	var s corev1.Secret
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: plumbing, Name: "pipes-service-cert"}, &s); err != nil {
		return ""
	}
	return string(s.Data["tls.crt"])
}

// leftovers returns the objects that an operator has left in the cluster.
func (w *world) leftovers() []string {
	w.Helper()
	var left []string
	for _, k := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
		{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
		if err := w.admin.List(w.Context(), &list, client.HasLabels{"fairlead.io/namespace"}); err != nil {
			return []string{err.Error()}
		}
		for i := range list.Items {
			left = append(left, k.Kind+" "+list.Items[i].GetName())
		}
	}
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: meters().CRD()}, crd); err != nil {
		return append(left, err.Error())
	}
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy != "None" {
		left = append(left, "the conversion of "+meters().CRD())
	}
	return left
}

// rightsServing checks that no permission was missing for serving.
func (w *world) rightsServing() {
	w.Helper()
	used, refused := w.rights()
	for right, uri := range refused {
		if !used[right] {
			w.Errorf("the operator has no right to %s: %s", right, uri)
		}
	}
	for _, kind := range []string{"/secrets", "apiregistration.k8s.io/apiservices", "admissionregistration.k8s.io/validatingwebhookconfigurations", "admissionregistration.k8s.io/mutatingwebhookconfigurations"} {
		for _, verb := range []string{"get", "create", "patch", "delete", "watch"} {
			if right := verb + " " + kind; !used[right] && right != "create /secrets" {
				w.Logf("the right to %s was not used", right)
			}
		}
	}
}
