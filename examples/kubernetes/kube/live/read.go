package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/internal/shell"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind that is read.
type Kind struct {
	schema.GroupVersionKind
	Resource string // the name in requests
	heads    bool   // only metadata is read: the rest is large and unused
	optional bool   // a cluster may lack the kind, and then has no objects of it
}

// statusKinds returns the kinds that are read for a status.
func statusKinds() []Kind {
	config := schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	machine := schema.GroupVersion{Group: "machineconfiguration.openshift.io", Version: "v1"}
	return []Kind{
		{config.WithKind("ClusterVersion"), "clusterversions", false, false},
		{config.WithKind("ClusterOperator"), "clusteroperators", false, false},
		{machine.WithKind("MachineConfigPool"), "machineconfigpools", false, false},
		{machine.WithKind("MachineConfig"), "machineconfigs", true, false},
		{corev1.SchemeGroupVersion.WithKind("Node"), "nodes", false, false},
	}
}

// Kinds returns the kinds that are read for a plan, in the order in which they
// are read.
func Kinds() []Kind {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	olm := schema.GroupVersion{Group: "operators.coreos.com", Version: "v1alpha1"}
	return append(statusKinds(), []Kind{
		{corev1.SchemeGroupVersion.WithKind("Pod"), "pods", false, false},
		{schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, "poddisruptionbudgets", false, false},
		{apps.WithKind("ReplicaSet"), "replicasets", false, false},
		{apps.WithKind("StatefulSet"), "statefulsets", false, false},
		{schema.GroupVersionKind{Group: "machine.openshift.io", Version: "v1beta1", Kind: "Machine"}, "machines", false, true},
		{schema.GroupVersionKind{Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineHealthCheck"}, "machinehealthchecks", false, true},
		{schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "Infrastructure"}, "infrastructures", false, false},
		{olm.WithKind("Subscription"), "subscriptions", false, true},
		{olm.WithKind("ClusterServiceVersion"), "clusterserviceversions", false, true},
		{schema.GroupVersionKind{Group: "apiserver.openshift.io", Version: "v1", Kind: "APIRequestCount"}, "apirequestcounts", false, false},
	}...)
}

// configMaps returns the names of the ConfigMaps with gates and their
// acknowledgements.
func configMaps() []client.ObjectKey {
	return []client.ObjectKey{{Namespace: "openshift-config-managed", Name: "admin-gates"}, {Namespace: "openshift-config", Name: "admin-acks"}}
}

// reader reads a cluster.
type reader struct {
	client client.Reader
	into   snapshot.Reader
	gaps   []cvo.Gap // what could not be read
}

// pageSize is the number of objects per request.
const pageSize = 500

// read reads kinds. Refusals by the server are gaps; an error is one that all
// further requests would also get.
func (r *reader) read(ctx context.Context, kinds []Kind) error {
	for _, k := range kinds {
		err := r.pages(ctx, k, pageSize)
		if apierrors.IsResourceExpired(err) { // the list expired between two pages
			err = r.pages(ctx, k, 0)
		}
		if k.optional && unknown(err) {
			err = nil
		}
		if err == nil {
			r.into.Listed(k.Kind)
		} else {
			r.into.Missed(k.Kind, snapshot.Gap{Why: err.Error(), Permission: "list " + k.Resource})
		}
		if err := r.miss(ctx, k.Resource, shell.Command("oc get %s -A -o yaml", schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()), err); err != nil {
			return err
		}
	}
	return nil
}

// unknown reports whether the server does not have a kind.
func unknown(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// pages reads all objects of a kind.
func (r *reader) pages(ctx context.Context, k Kind, size int64) error {
	for token := ""; ; {
		next, err := r.page(ctx, k, client.Limit(size), client.Continue(token))
		if err != nil {
			return err
		}
		if token = next; token == "" {
			return nil
		}
	}
}

// page reads one page of a list. It returns where the next one begins.
func (r *reader) page(ctx context.Context, k Kind, opts ...client.ListOption) (next string, err error) {
	var list client.ObjectList = kube.ListOf(k.GroupVersionKind)
	if k.heads {
		heads := &metav1.PartialObjectMetadataList{}
		heads.SetGroupVersionKind(list.GetObjectKind().GroupVersionKind())
		list = heads
	}
	if err := r.client.List(ctx, list, opts...); err != nil {
		return "", err
	}
	return list.GetContinue(), meta.EachListItem(list, func(o runtime.Object) error {
		o.(metav1.Object).SetManagedFields(nil)
		return r.take(k.Kind, o)
	})
}

// take adds an object.
func (r *reader) take(kind string, object runtime.Object) error {
	text, err := json.Marshal(object)
	if err == nil {
		err = r.into.Object(text, kind, "the API server")
	}
	if err != nil {
		return &contentError{err}
	}
	return nil
}

// contentError is the error of an object that cannot be decoded as its kind.
type contentError struct{ error }

func (e *contentError) Unwrap() error { return e.error }

// snapshot returns what was read. An object of which a part has an unexpected shape is a gap.
func (r *reader) snapshot() (*snapshot.Snapshot, error) {
	s, err := r.into.Snapshot()
	if err != nil {
		return nil, err
	}
	last := ""
	for i := range s.Warnings {
		w := &s.Warnings[i]
		if !w.Unread || w.Object == last && last != "" {
			continue
		}
		last = w.Object
		kind, _, _ := strings.Cut(w.Object, " ")
		resource := strings.ToLower(kind)
		for _, k := range Kinds() {
			if k.Kind == kind {
				resource = k.Resource
			}
		}
		r.gaps = append(r.gaps, cvo.Gap{What: resource + ": " + w.String(), How: "see what is wrong with the object: " + shell.Command("oc get %s -A -o yaml", resource)})
	}
	return s, nil
}

// gates reads gates and acknowledgements. A ConfigMap that does not exist
// contains none.
func (r *reader) gates(ctx context.Context) error {
	for _, key := range configMaps() {
		m := kube.Stub(corev1.SchemeGroupVersion.WithKind("ConfigMap"), key.Namespace, key.Name)
		err := client.IgnoreNotFound(r.client.Get(ctx, key, m))
		if err == nil {
			err = r.take("ConfigMap", m)
		}
		if err := r.miss(ctx, "configmap "+key.String(), shell.Command("oc -n %s get configmap %s -o yaml", key.Namespace, key.Name), err); err != nil {
			return err
		}
	}
	return nil
}

// miss records a gap, if there is an error. It returns an error that all further
// requests would also get: that of the context, or of a server that does not
// answer.
func (r *reader) miss(ctx context.Context, what, command string, err error) error {
	var content *contentError
	g := cvo.Gap{What: fmt.Sprintf("%s: %v", what, err)}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsForbidden(err):
		g.How = "ask someone with permission to run " + command + ", or grant the permission to get and list it (OpenShift's ClusterRole cluster-reader has it)"
	case unknown(err):
		g.How = "the server does not have this kind; use an OpenShift cluster, or see what serves it: oc get apiservices"
	case errors.As(err, &content):
		g.How = "see what is wrong with the object: " + command
	case unreachable(err):
		return fmt.Errorf("%s: %w", what, err)
	default:
		g.How = "try again, or run " + command
	}
	r.gaps = append(r.gaps, g)
	return nil
}

// unreachable reports whether there was no answer.
func unreachable(err error) bool {
	var answer apierrors.APIStatus
	var network net.Error
	return !errors.As(err, &answer) && errors.As(err, &network)
}
