package bundle

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
)

// CSV is what a bundle's ClusterServiceVersion says, with the JSON names of
// the original. Fields that no rule looks at are not decoded;
// [Manifest.JSON] has everything.
type CSV struct {
	Metadata Metadata `json:"metadata"` // name, labels and annotations
	Spec     CSVSpec  `json:"spec"`     // what the operator is

	manifest *Manifest
	faults   catalog.Diagnostics // values of a wrong type
}

// Position returns where the document of the ClusterServiceVersion starts.
func (c *CSV) Position() catalog.Position { return c.manifest.Position }

// Manifest returns the manifest that the CSV is decoded from.
func (c *CSV) Manifest() *Manifest { return c.manifest }

// Metadata is the metadata of an object, as far as bundles use it.
type Metadata struct {
	Name        string            `json:"name"`        // name of the object
	Namespace   string            `json:"namespace"`   // "" in most bundles
	Labels      map[string]string `json:"labels"`      // nil where there are none
	Annotations map[string]string `json:"annotations"` // nil where there are none
}

// CSVSpec is the spec of a ClusterServiceVersion.
type CSVSpec struct {
	Version        string                 `json:"version"`                   // semantic version of the operator, as written
	Release        json.RawMessage        `json:"release"`                   // a string or a number; see Bundle.Release
	Replaces       string                 `json:"replaces"`                  // name of the CSV that this one updates
	Skips          []string               `json:"skips"`                     // names of the CSVs that this one makes obsolete
	DisplayName    string                 `json:"displayName"`               // what users see
	Description    string                 `json:"description"`               // Markdown
	Maturity       string                 `json:"maturity"`                  // free text such as alpha or stable
	MinKubeVersion string                 `json:"minKubeVersion"`            // oldest version of Kubernetes that is supported
	Keywords       []string               `json:"keywords"`                  // for searching
	Maintainers    []Maintainer           `json:"maintainers"`               // who maintains the operator
	Provider       Link                   `json:"provider"`                  // who publishes it
	Links          []Link                 `json:"links"`                     // further reading
	Icon           []catalog.Icon         `json:"icon"`                      // consoles show the first
	InstallModes   []InstallMode          `json:"installModes"`              // in the order they are written
	Install        Install                `json:"install"`                   // how it is run
	CRDs           Definitions            `json:"customresourcedefinitions"` // custom resources it owns and requires
	APIServices    APIServices            `json:"apiservicedefinitions"`     // aggregated APIs it owns and requires
	Webhooks       []Webhook              `json:"webhookdefinitions"`        // in the order they are written
	NativeAPIs     []catalog.GVK          `json:"nativeAPIs"`                // APIs of the cluster itself that it needs
	RelatedImages  []catalog.RelatedImage `json:"relatedImages"`             // images it needs besides those of its deployments

	// Labels and Annotations are for grouping objects; those of the CSV
	// itself are in its metadata.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"` // see Labels
}

// Maintainer is a person or team behind an operator.
type Maintainer struct {
	Name  string `json:"name,omitempty"`  // person or team
	Email string `json:"email,omitempty"` // e-mail address
}

// Link is a name with an address.
type Link struct {
	Name string `json:"name,omitempty"` // what is shown
	URL  string `json:"url,omitempty"`  // address
}

// InstallMode says whether an operator supports an install mode: OwnNamespace,
// SingleNamespace, MultiNamespace or AllNamespaces.
type InstallMode struct {
	Type      string `json:"type"`      // OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces
	Supported bool   `json:"supported"` // whether the operator supports it
}

// Install says how the operator is run.
type Install struct {
	Strategy string      `json:"strategy"` // "deployment", the only strategy
	Spec     InstallSpec `json:"spec"`     // what to create
}

// InstallSpec holds an operator's deployments and permissions.
type InstallSpec struct {
	Deployments        []Deployment  `json:"deployments"`        // what runs
	Permissions        []Permissions `json:"permissions"`        // within the operator's namespaces
	ClusterPermissions []Permissions `json:"clusterPermissions"` // in all namespaces
}

// Permissions are the rules that one service account gets.
type Permissions struct {
	ServiceAccount string       `json:"serviceAccountName"` // who gets them
	Rules          []PolicyRule `json:"rules"`              // all of them are granted
}

// PolicyRule allows verbs on resources, as roles of Kubernetes do.
type PolicyRule struct {
	APIGroups       []string `json:"apiGroups,omitempty"`       // "*" is all
	Resources       []string `json:"resources,omitempty"`       // plurals; "*" is all
	ResourceNames   []string `json:"resourceNames,omitempty"`   // empty is all
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"` // paths of the API server
	Verbs           []string `json:"verbs"`                     // "*" is all
}

// Deployment is one deployment of an operator, as far as rules look at it.
type Deployment struct {
	Name string         `json:"name"` // name of the deployment
	Spec DeploymentSpec `json:"spec"` // what it runs
}

// DeploymentSpec holds the template of a deployment's pods.
type DeploymentSpec struct {
	Template PodTemplate `json:"template"` // what each pod is
}

// PodTemplate holds the spec of a deployment's pods.
type PodTemplate struct {
	Spec PodSpec `json:"spec"` // what runs in a pod
}

// PodSpec is the containers and volumes of a pod.
type PodSpec struct {
	ServiceAccount string      `json:"serviceAccountName"` // under which the pods run
	Containers     []Container `json:"containers"`         // run together
	InitContainers []Container `json:"initContainers"`     // run one after the other, before the others
	Volumes        []Volume    `json:"volumes"`            // what containers may mount
	Affinity       Affinity    `json:"affinity"`           // where it may run
}

// Affinity is where a pod may run, as far as rules look at it.
type Affinity struct {
	NodeAffinity *fairlead.NodeAffinity `json:"nodeAffinity"` // by node labels; nil means no restriction
}

// Container is one container of a pod.
type Container struct {
	Name         string        `json:"name"`         // unique in the pod
	Image        string        `json:"image"`        // reference
	Env          []EnvVar      `json:"env"`          // in the order they are written
	Resources    Resources     `json:"resources"`    // requests and limits
	VolumeMounts []VolumeMount `json:"volumeMounts"` // volumes it sees
}

// EnvVar is an environment variable. A value that comes from elsewhere
// (valueFrom) is not decoded.
type EnvVar struct {
	Name  string `json:"name"`  // name of the variable
	Value string `json:"value"` // "" if it comes from elsewhere
}

// Resources are a container's requests and limits. Quantities are strings or
// numbers.
type Resources struct {
	Requests map[string]json.RawMessage `json:"requests"` // by resource, such as cpu
	Limits   map[string]json.RawMessage `json:"limits"`   // by resource, such as memory
}

// VolumeMount is where a container sees a volume.
type VolumeMount struct {
	Name      string `json:"name"`      // of the volume
	MountPath string `json:"mountPath"` // path in the container
}

// Volume is a volume of a pod. Of its sources only projected ones are decoded.
type Volume struct {
	Name      string    `json:"name"`      // name that mounts refer to
	Projected Projected `json:"projected"` // empty for volumes of other kinds
}

// Projected is a volume made of several sources.
type Projected struct {
	Sources []ProjectedSource `json:"sources"` // put together into one directory
}

// ProjectedSource is one source of a projected volume; nil where it is not a
// service account token.
type ProjectedSource struct {
	ServiceAccountToken *TokenSource `json:"serviceAccountToken"` // nil for sources of other kinds
}

// TokenSource is a service account token for an audience.
type TokenSource struct {
	Audience string `json:"audience"` // audience of the token
	Path     string `json:"path"`     // name of the file
}

// Webhook is a webhook that the operator serves.
type Webhook struct {
	GenerateName   string        `json:"generateName"`   // name of the webhook
	Type           string        `json:"type"`           // ValidatingAdmissionWebhook, MutatingAdmissionWebhook, ConversionWebhook
	DeploymentName string        `json:"deploymentName"` // deployment that serves it
	ContainerPort  int32         `json:"containerPort"`  // port of its service
	WebhookPath    string        `json:"webhookPath"`    // path of its URL
	Rules          []WebhookRule `json:"rules"`          // of admission webhooks
	ConversionCRDs []string      `json:"conversionCRDs"` // names of the CRDs that it converts
	FailurePolicy  string        `json:"failurePolicy"`  // Fail or Ignore
	MatchPolicy    string        `json:"matchPolicy"`    // Exact or Equivalent
	SideEffects    string        `json:"sideEffects"`    // None or NoneOnDryRun
	TimeoutSeconds int32         `json:"timeoutSeconds"` // 0 stands for the cluster's default
	// AdmissionReviewVersions and ReinvocationPolicy are those of admission
	// webhooks.
	AdmissionReviewVersions []string `json:"admissionReviewVersions"`
	ReinvocationPolicy      string   `json:"reinvocationPolicy"` // Never or IfNeeded
}

// WebhookRule says which requests an admission webhook gets.
type WebhookRule struct {
	APIGroups   []string `json:"apiGroups"`   // "*" is all
	APIVersions []string `json:"apiVersions"` // "*" is all
	Resources   []string `json:"resources"`   // plurals; "*" is all
	Operations  []string `json:"operations"`  // such as CREATE
}

// Definitions are the custom resources that an operator owns and requires.
type Definitions struct {
	Owned    []CRDDescription `json:"owned,omitempty"`    // the operator serves them
	Required []CRDDescription `json:"required,omitempty"` // others have to serve them
}

// CRDDescription tells users about a custom resource.
type CRDDescription struct {
	Name    string `json:"name"`    // plural.group
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // kind of the objects
	Details
}

// Details describe an API to users, besides its name.
type Details struct {
	DisplayName       string       `json:"displayName,omitempty"`       // what users see
	Description       string       `json:"description,omitempty"`       // what it is for
	Resources         []Resource   `json:"resources,omitempty"`         // objects it uses
	StatusDescriptors []Descriptor `json:"statusDescriptors,omitempty"` // fields of the status
	SpecDescriptors   []Descriptor `json:"specDescriptors,omitempty"`   // fields of the spec
	ActionDescriptors []Descriptor `json:"actionDescriptors,omitempty"` // actions on objects
}

// APIServices are the aggregated APIs that an operator owns and requires.
type APIServices struct {
	Owned    []APIServiceDescription `json:"owned,omitempty"`    // the operator serves them
	Required []APIServiceDescription `json:"required,omitempty"` // others have to serve them
}

// APIServiceDescription tells users about an aggregated API.
type APIServiceDescription struct {
	Name           string `json:"name"`                     // plural of the resource
	Group          string `json:"group"`                    // API group
	Version        string `json:"version"`                  // one version of it
	Kind           string `json:"kind"`                     // kind of the objects
	DeploymentName string `json:"deploymentName,omitempty"` // deployment that serves it
	ContainerPort  int32  `json:"containerPort,omitempty"`  // port of its service
	Details
}

// Resource is a kind of object that an API uses.
type Resource struct {
	Name    string `json:"name"`    // name of a custom resource, "" for others
	Kind    string `json:"kind"`    // kind of the objects
	Version string `json:"version"` // version of the API
}

// Descriptor tells a console about one field of a custom resource.
type Descriptor struct {
	Path         string          `json:"path"`                    // of the field, below spec or status
	DisplayName  string          `json:"displayName,omitempty"`   // what users see
	Description  string          `json:"description,omitempty"`   // what it says
	XDescriptors []string        `json:"x-descriptors,omitempty"` // hints for the console
	Value        json.RawMessage `json:"value,omitempty"`         // anything
}
