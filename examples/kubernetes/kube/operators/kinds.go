package operators

import (
	"strings"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FieldManager is the name under which fields are written.
const FieldManager = "fairlead-operators"

const (
	// NamespaceLabel is on each object that was created by a plan or generated
	// for an operator group: the namespace for which it exists.
	NamespaceLabel = "fairlead.io/namespace"
	// OwnerAnnotation is on the same objects: "csv/NAME" or "namespace/NAME".
	OwnerAnnotation = kube.OwnerAnnotation
	// DigestAnnotation identifies what was written: install.Mark.Digest.
	DigestAnnotation = kube.DigestAnnotation
	// DeployedAnnotation is on CSVs whose install strategy was carried out: the
	// digest of the deployments.
	DeployedAnnotation = "fairlead.io/deployed"
	// ConversionAnnotation is on CRDs whose objects an operator converts: the digest
	// of [install.SetConversion].
	ConversionAnnotation = "fairlead.io/conversion"
	// ServedAnnotation is on catalog sources whose image is in use: which image,
	// and how its pod would run.
	ServedAnnotation = "fairlead.io/served"
)

const (
	groupOLM  = "operators.coreos.com"
	groupCRD  = "apiextensions.k8s.io"
	groupRBAC = "rbac.authorization.k8s.io"
	groupHook = "admissionregistration.k8s.io"
)

var (
	subscriptions = schema.GroupVersionKind{Group: groupOLM, Version: "v1alpha1", Kind: "Subscription"}
	plans         = schema.GroupVersionKind{Group: groupOLM, Version: "v1alpha1", Kind: "InstallPlan"}
	csvs          = schema.GroupVersionKind{Group: groupOLM, Version: "v1alpha1", Kind: "ClusterServiceVersion"}
	catalogs      = schema.GroupVersionKind{Group: groupOLM, Version: "v1alpha1", Kind: "CatalogSource"}
	groups        = schema.GroupVersionKind{Group: groupOLM, Version: "v1", Kind: "OperatorGroup"}
	conditions    = schema.GroupVersionKind{Group: groupOLM, Version: "v2", Kind: "OperatorCondition"}

	crds                = schema.GroupVersionKind{Group: groupCRD, Version: "v1", Kind: "CustomResourceDefinition"}
	apiServices         = schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}
	deployments         = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	namespaces          = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	configMaps          = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services            = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	secrets             = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	accounts            = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	roles               = schema.GroupVersionKind{Group: groupRBAC, Version: "v1", Kind: "Role"}
	roleBindings        = schema.GroupVersionKind{Group: groupRBAC, Version: "v1", Kind: "RoleBinding"}
	clusterRoles        = schema.GroupVersionKind{Group: groupRBAC, Version: "v1", Kind: "ClusterRole"}
	clusterRoleBindings = schema.GroupVersionKind{Group: groupRBAC, Version: "v1", Kind: "ClusterRoleBinding"}
	validating          = schema.GroupVersionKind{Group: groupHook, Version: "v1", Kind: "ValidatingWebhookConfiguration"}
	mutating            = schema.GroupVersionKind{Group: groupHook, Version: "v1", Kind: "MutatingWebhookConfiguration"}
)

// generatedKinds returns the kinds of objects generated for operator groups
// and their members, except copies of CSVs.
func generatedKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{roles, roleBindings, clusterRoles, clusterRoleBindings, services, validating, mutating, apiServices}
}

func refOf(gvk schema.GroupVersionKind, namespace, name string) install.Ref {
	return install.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}
}

// ownedByCSV returns the CSV in an OwnerAnnotation, or "".
func ownedByCSV(note string) string {
	name, ok := strings.CutPrefix(note, "csv/")
	if !ok {
		return ""
	}
	return name
}
