package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// PropertiesAnnotation is the annotation of a CSV that carries the properties
// of the bundle it was installed from.
const PropertiesAnnotation = "operatorframework.io/properties"

// Phase is the phase of a CSV in its lifecycle.
type Phase string

// The phases of a CSV that resolution distinguishes; there are others.
const (
	PhaseSucceeded Phase = "Succeeded"
	PhaseFailed    Phase = "Failed"
	PhaseReplacing Phase = "Replacing"
)

// ReasonCopied is the status reason of a CSV that is a copy of one installed in
// another namespace. Resolution ignores copies.
const ReasonCopied = "Copied"

// ClusterServiceVersion is an installed operator.
type ClusterServiceVersion struct {
	ObjectMeta `json:"metadata"`
	Spec       CSVSpec   `json:"spec"`   // its definition
	Status     CSVStatus `json:"status"` // its state
}

// CSVSpec is the part of a CSV's spec that resolution reads.
type CSVSpec struct {
	// Version is the operator's version, parsed tolerantly; empty if it states
	// none.
	Version string `json:"version,omitempty"`
	// Replaces names the CSV that it replaced or is replacing.
	Replaces string `json:"replaces,omitempty"`
	// CustomResourceDefinitions and APIServiceDefinitions are the APIs that it
	// provides and requires. Resolution reads them only if PropertiesAnnotation
	// is absent.
	CustomResourceDefinitions CRDDescriptions        `json:"customresourcedefinitions"`
	APIServiceDefinitions     APIServiceDescriptions `json:"apiservicedefinitions"` // see CustomResourceDefinitions
	// InstallModes are the install modes that it supports; resolution does not
	// read them.
	InstallModes group.InstallModes `json:"installModes,omitempty"`
	// Install is how it is deployed; resolution does not read it.
	Install InstallStrategy `json:"install,omitzero"`
	// WebhookDefinitions are the webhooks that it provides; resolution does not
	// read them.
	WebhookDefinitions []WebhookDescription `json:"webhookdefinitions,omitempty"`
	// MinKubeVersion is the lowest Kubernetes version that it runs on; empty
	// means any. Resolution does not read it.
	MinKubeVersion string `json:"minKubeVersion,omitempty"`
}

// CSVStatus is the part of a CSV's status that resolution reads.
type CSVStatus struct {
	Phase  Phase  `json:"phase,omitempty"`  // read only for fail-forward
	Reason string `json:"reason,omitempty"` // read only for ReasonCopied
}

// CRDDescriptions lists the CRDs that a CSV owns and requires.
type CRDDescriptions struct {
	Owned    []CRDDescription `json:"owned,omitempty"`    // provided, in any order
	Required []CRDDescription `json:"required,omitempty"` // required of other operators, in any order
}

// CRDDescription names a CRD as "plural.group" and one version of it.
type CRDDescription struct {
	Name    string `json:"name"`    // PLURAL.GROUP
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // as objects state it
}

// APIServiceDescriptions lists the aggregated APIs that a CSV owns and
// requires.
type APIServiceDescriptions struct {
	Owned    []APIServiceDescription `json:"owned,omitempty"`    // provided, in any order
	Required []APIServiceDescription `json:"required,omitempty"` // required of other operators, in any order
}

// APIServiceDescription names an aggregated API; Name is its plural.
type APIServiceDescription struct {
	Name    string `json:"name"`    // the plural; not read
	Group   string `json:"group"`   // the API group
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // as objects state it
	// DeploymentName is the deployment whose pods serve an owned API, and
	// ContainerPort their port, 443 if it is 0. Resolution does not read them.
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"` // see DeploymentName
}

// The types of webhooks.
const (
	WebhookValidating = "ValidatingAdmissionWebhook" // validates objects before they are written
	WebhookMutating   = "MutatingAdmissionWebhook"   // changes objects before they are written
	WebhookConversion = "ConversionWebhook"          // converts objects between versions of a CRD
)

// WebhookDescription is a webhook that an operator provides. Fields that are
// not interpreted here are passed on unchanged.
type WebhookDescription struct {
	GenerateName   string   `json:"generateName"`             // its name, and the prefix of the name of its configuration
	Type           string   `json:"type"`                     // one of the constants
	DeploymentName string   `json:"deploymentName"`           // the deployment whose pods answer
	ContainerPort  int32    `json:"containerPort,omitempty"`  // the port of the service; 0 means 443
	Path           string   `json:"webhookPath,omitempty"`    // the path of its URL
	ConversionCRDs []string `json:"conversionCRDs,omitempty"` // the CRDs that it converts

	TargetPort              json.RawMessage `json:"targetPort,omitempty"`              // the port of the pods; nil means ContainerPort
	Rules                   json.RawMessage `json:"rules,omitempty"`                   // which requests are sent to it
	ObjectSelector          json.RawMessage `json:"objectSelector,omitempty"`          // for which objects
	FailurePolicy           string          `json:"failurePolicy,omitempty"`           // Fail or Ignore
	MatchPolicy             string          `json:"matchPolicy,omitempty"`             // Exact or Equivalent
	SideEffects             string          `json:"sideEffects,omitempty"`             // None or NoneOnDryRun
	ReinvocationPolicy      string          `json:"reinvocationPolicy,omitempty"`      // Never or IfNeeded, for a mutating webhook
	TimeoutSeconds          *int32          `json:"timeoutSeconds,omitempty"`          // how long it may take
	AdmissionReviewVersions []string        `json:"admissionReviewVersions,omitempty"` // the review versions that it accepts
}

// Copied reports whether the CSV is a copy of one in another namespace.
func (c *ClusterServiceVersion) Copied() bool {
	return c.Status.Reason == ReasonCopied
}

// InstalledFrom returns the CSV that results from installing a bundle in a
// namespace: it has the bundle's version and, in PropertiesAnnotation, its
// properties.
func InstalledFrom(b *catalog.Bundle, namespace string) (ClusterServiceVersion, error) {
	props, err := b.Facts()
	if err != nil {
		return ClusterServiceVersion{}, fmt.Errorf("bundle %s: %w", b.Name(), err)
	}
	note, err := FormatProperties(props)
	if err != nil {
		return ClusterServiceVersion{}, fmt.Errorf("bundle %s: %w", b.Name(), err)
	}
	return ClusterServiceVersion{
		ObjectMeta: ObjectMeta{
			Name:        b.Name(),
			Namespace:   namespace,
			Annotations: map[string]string{PropertiesAnnotation: note},
		},
		Spec:   CSVSpec{Version: b.Version()},
		Status: CSVStatus{Phase: PhaseSucceeded},
	}, nil
}

// ParseProperties reads the value of PropertiesAnnotation: a JSON object whose
// properties is a list of {type, value}. An empty object or list gives none.
func ParseProperties(annotation string) ([]catalog.Property, error) {
	var held struct {
		Properties []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(annotation), &held); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", PropertiesAnnotation, err)
	}
	var props []catalog.Property
	for _, p := range held.Properties {
		props = append(props, catalog.Property{Type: p.Type, Value: p.Value})
	}
	return props, nil
}

// FormatProperties is the inverse of ParseProperties. No properties give "{}".
// A value that is not JSON is an error. Properties of type olm.csv.metadata and
// olm.bundle.object, which repeat whole manifests, are left out.
func FormatProperties(props []catalog.Property) (string, error) {
	type property struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	var held struct {
		Properties []property `json:"properties,omitempty"`
	}
	for _, p := range props {
		if p.Type == "olm.csv.metadata" || p.Type == "olm.bundle.object" {
			continue
		}
		held.Properties = append(held.Properties, property{p.Type, p.Value})
	}
	text, err := json.Marshal(held)
	if err != nil {
		return "", fmt.Errorf("annotation %s: %w", PropertiesAnnotation, err)
	}
	return string(text), nil
}

// projected returns the properties of an installed operator:
//
//  1. If the annotation is present, only it counts.
//  2. Otherwise the APIs that the CSV owns are provided and those it requires
//     are required, each list in the order of its JSON form.
//  3. The package follows, if the subscriptions that have this CSV installed
//     name exactly one.
func projected(c *ClusterServiceVersion, subs []*Subscription) ([]catalog.Property, error) {
	if note, ok := c.Annotations[PropertiesAnnotation]; ok {
		return ParseProperties(note)
	}
	crds, apis := &c.Spec.CustomResourceDefinitions, &c.Spec.APIServiceDefinitions
	provided, err := apiProperties(propertyGVK, crds.Owned, apis.Owned)
	if err != nil {
		return nil, err
	}
	required, err := apiProperties(propertyGVKRequired, crds.Required, apis.Required)
	if err != nil {
		return nil, err
	}
	props := append(provided, required...)
	if p, ok := inferPackage(c, subs); ok {
		props = append(props, p)
	}
	return props, nil
}

func apiProperties(kind string, crds []CRDDescription, apis []APIServiceDescription) ([]catalog.Property, error) {
	var values []string
	add := func(group, version, k string) {
		text, _ := json.Marshal(gvkValue{group, version, k}) // strings only: cannot fail
		values = append(values, string(text))
	}
	for _, d := range crds {
		_, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			return nil, fmt.Errorf("CRD name %q: a CRD is named PLURAL.GROUP", d.Name)
		}
		add(group, d.Version, d.Kind)
	}
	for _, d := range apis {
		add(d.Group, d.Version, d.Kind)
	}
	slices.Sort(values)
	var props []catalog.Property
	for _, v := range slices.Compact(values) {
		props = append(props, catalog.Property{Type: kind, Value: json.RawMessage(v)})
	}
	return props, nil
}

// inferPackage returns the package property of a CSV whose subscriptions agree
// on one package.
func inferPackage(c *ClusterServiceVersion, subs []*Subscription) (catalog.Property, bool) {
	pkg := ""
	for _, s := range subs {
		named := s.Spec.Package
		if s.Status.InstalledCSV != c.Name || named == "" {
			continue
		}
		if pkg != "" && pkg != named {
			return catalog.Property{}, false
		}
		pkg = named
	}
	version := c.Spec.Version
	if version == "0.0.0" { // how an absent version prints
		version = ""
	}
	text, _ := json.Marshal(packageValue{pkg, version}) // strings only: cannot fail
	return catalog.Property{Type: propertyPackage, Value: text}, pkg != ""
}
