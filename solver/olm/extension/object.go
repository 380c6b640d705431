package extension

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// Ref names an object of the cluster.
type Ref struct {
	Group     string `json:"group,omitempty"`     // its API group, "" is the core group
	Kind      string `json:"kind"`                // its kind
	Namespace string `json:"namespace,omitempty"` // empty if it is cluster-scoped
	Name      string `json:"name"`                // its name
}

// String returns "Kind namespace/name".
func (r Ref) String() string {
	return r.Kind + " " + fairlead.ObjectMeta{Name: r.Name, Namespace: r.Namespace}.String()
}

func (r Ref) compare(o Ref) int {
	return cmp.Or(strings.Compare(r.Group, o.Group), strings.Compare(r.Kind, o.Kind), strings.Compare(r.Namespace, o.Namespace), strings.Compare(r.Name, o.Name))
}

// Object is an object rendered from a bundle.
type Object struct {
	Ref
	Manifest json.RawMessage `json:"manifest"` // the object
}

// Digest identifies the desired content: it is that of the object's [ApplyObject].
func (o *Object) Digest() string { return digest(o.Manifest) }

// refOf reads the Ref of an object.
func refOf(text json.RawMessage) (Ref, error) {
	var o struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Metadata   fairlead.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return Ref{}, err
	}
	group, _ := manifest.GroupVersion(o.APIVersion)
	return Ref{Group: group, Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}, nil
}

// digest is equal for equal JSON, however it is written.
func digest(values ...json.RawMessage) string {
	h := sha256.New()
	for _, v := range values {
		var any any
		d := json.NewDecoder(bytes.NewReader(v))
		d.UseNumber()
		if err := d.Decode(&any); err == nil {
			v, _ = json.Marshal(any) // what was decoded from JSON: cannot fail
		}
		h.Write(v)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Names of the phases of a revision, in order. What a phase needs is in earlier
// ones: pods find their accounts, roles and CRDs.
const (
	phaseNamespaces    = "namespaces"
	phasePolicies      = "policies"
	phaseIdentity      = "identity"
	phaseConfiguration = "configuration"
	phaseStorage       = "storage"
	phaseCRDs          = "crds"
	phaseRoles         = "roles"
	phaseBindings      = "bindings"
	phaseServices      = "infrastructure"
	phaseDeploy        = "deploy"
	phaseScaling       = "scaling"
	phasePublish       = "publish"
	phaseAdmission     = "admission"
)

func phaseNames() []string {
	return []string{
		phaseNamespaces, phasePolicies, phaseIdentity, phaseConfiguration, phaseStorage, phaseCRDs, phaseRoles,
		phaseBindings, phaseServices, phaseDeploy, phaseScaling, phasePublish, phaseAdmission,
	}
}

// phaseOf returns the name of the phase of an object; unknown kinds are deployed
// with the operator.
func phaseOf(r Ref) string {
	switch r.Group + "/" + r.Kind {
	case "/Namespace":
		return phaseNamespaces
	case "networking.k8s.io/NetworkPolicy", "policy/PodDisruptionBudget", "scheduling.k8s.io/PriorityClass":
		return phasePolicies
	case "/ServiceAccount":
		return phaseIdentity
	case "/Secret", "/ConfigMap":
		return phaseConfiguration
	case "/PersistentVolume", "/PersistentVolumeClaim", "storage.k8s.io/StorageClass":
		return phaseStorage
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return phaseCRDs
	case rbac + "/ClusterRole", rbac + "/Role":
		return phaseRoles
	case rbac + "/ClusterRoleBinding", rbac + "/RoleBinding":
		return phaseBindings
	case "/Service", "cert-manager.io/Issuer", "cert-manager.io/Certificate":
		return phaseServices
	case "autoscaling.k8s.io/VerticalPodAutoscaler":
		return phaseScaling
	case "networking.k8s.io/Ingress", "route.openshift.io/Route":
		return phasePublish
	case "admissionregistration.k8s.io/ValidatingWebhookConfiguration", "admissionregistration.k8s.io/MutatingWebhookConfiguration":
		return phaseAdmission
	}
	if r.Group == "monitoring.coreos.com" || r.Group == "console.openshift.io" {
		return phasePublish
	}
	return phaseDeploy
}

// Phases sorts objects into the phases of a revision: phases in order, without empty
// ones, and objects by group, kind, namespace and name.
func Phases(objects []Object) []Phase {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b Object) int { return a.compare(b.Ref) })
	var phases []Phase
	for _, name := range phaseNames() {
		p := Phase{Name: name}
		for _, o := range sorted {
			if phaseOf(o.Ref) == name {
				p.Objects = append(p.Objects, PhaseObject{Object: o.Manifest})
			}
		}
		if p.Objects != nil {
			phases = append(phases, p)
		}
	}
	return phases
}

// Probe reports whether an object of the cluster, with its status, is ready, and if
// not, why: a CRD is established, a deployment or stateful set is available with all
// replicas updated, a claim is bound, a namespace active, a certificate or issuer
// ready; anything else is ready if it exists. A status that is older than the spec,
// by status.observedGeneration, does not count.
func Probe(object json.RawMessage) (ready bool, detail string) {
	var o struct {
		Metadata fairlead.ObjectMeta `json:"metadata"`
		Status   struct {
			Seen            *int64               `json:"observedGeneration"`
			Phase           string               `json:"phase"`
			Replicas        int                  `json:"replicas"`
			UpdatedReplicas int                  `json:"updatedReplicas"`
			Conditions      []fairlead.Condition `json:"conditions"`
		} `json:"status"`
	}
	r, err := refOf(object)
	if err == nil {
		err = json.Unmarshal(object, &o)
	}
	if err != nil {
		return false, err.Error()
	}
	if seen := o.Status.Seen; seen != nil && *seen < o.Metadata.Generation {
		return false, fmt.Sprintf("its status is of generation %d, but its spec is of generation %d", *seen, o.Metadata.Generation)
	}
	wantCondition := func(kind string) (bool, string) {
		c := fairlead.FindCondition(o.Status.Conditions, kind)
		switch {
		case c == nil:
			return false, "condition " + kind + " is not reported"
		case c.Status != fairlead.ConditionTrue:
			return false, strings.TrimSuffix("condition "+kind+" is "+string(c.Status)+": "+c.Message, ": ")
		}
		return true, ""
	}
	wantPhase := func(phase string) (bool, string) {
		if o.Status.Phase != phase {
			return false, fmt.Sprintf("its phase is %q, not %s", o.Status.Phase, phase)
		}
		return true, ""
	}
	switch r.Group + "/" + r.Kind {
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return wantCondition("Established")
	case "cert-manager.io/Certificate", "cert-manager.io/Issuer":
		return wantCondition("Ready")
	case "/Namespace":
		return wantPhase("Active")
	case "/PersistentVolumeClaim":
		return wantPhase("Bound")
	case "apps/Deployment", "apps/StatefulSet":
		if o.Status.UpdatedReplicas != o.Status.Replicas {
			return false, fmt.Sprintf("%d of %d replicas are updated", o.Status.UpdatedReplicas, o.Status.Replicas)
		}
		return wantCondition("Available")
	}
	return true, ""
}

// equal compares two values by their JSON.
func equal(a, b any) bool {
	x, _ := json.Marshal(a) // values of the API: cannot fail
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
