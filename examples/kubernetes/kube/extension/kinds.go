package extension

import (
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FieldManager is the name under which fields are written.
const FieldManager = "fairlead-extensions"

const groupOLM = "olm.operatorframework.io"

var (
	extensions = schema.GroupVersionKind{Group: groupOLM, Version: "v1", Kind: "ClusterExtension"}
	catalogs   = schema.GroupVersionKind{Group: groupOLM, Version: "v1", Kind: "ClusterCatalog"}
	revisions  = schema.GroupVersionKind{Group: groupOLM, Version: "v1", Kind: "ClusterObjectSet"}

	crds     = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	accounts = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
)

// usual returns the common kinds of bundle objects. Their objects are found
// by their label, even if no revision names them any more.
func usual() []schema.GroupVersionKind {
	const rbac, admission = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
	return []schema.GroupVersionKind{
		crds, accounts, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: admission, Version: "v1", Kind: "ValidatingWebhookConfiguration"}, {Group: admission, Version: "v1", Kind: "MutatingWebhookConfiguration"},
		{Group: rbac, Version: "v1", Kind: "Role"}, {Group: rbac, Version: "v1", Kind: "RoleBinding"},
		{Group: rbac, Version: "v1", Kind: "ClusterRole"}, {Group: rbac, Version: "v1", Kind: "ClusterRoleBinding"},
	}
}

// toRef converts a reference to that of package kube.
func toRef(r extension.Ref) kube.Ref { return kube.Ref(r) }

// refOf returns the engine's reference to an object.
func refOf(u *unstructured.Unstructured) extension.Ref {
	return extension.Ref(kube.RefOf(u.GroupVersionKind(), u.GetNamespace(), u.GetName()))
}
