package bundle

import (
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// csvMetadata is the value of an olm.csv.metadata property: what consoles show
// of an operator before it is installed.
type csvMetadata struct {
	Annotations    map[string]string `json:"annotations,omitempty"`
	APIServices    APIServices       `json:"apiServiceDefinitions"`
	CRDs           Definitions       `json:"crdDescriptions"`
	Description    string            `json:"description,omitempty"`
	DisplayName    string            `json:"displayName,omitempty"`
	InstallModes   []InstallMode     `json:"installModes,omitempty"`
	Keywords       []string          `json:"keywords,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
	Links          []Link            `json:"links,omitempty"`
	Maintainers    []Maintainer      `json:"maintainers,omitempty"`
	Maturity       string            `json:"maturity,omitempty"`
	MinKubeVersion string            `json:"minKubeVersion,omitempty"`
	NativeAPIs     []catalog.GVK     `json:"nativeAPIs,omitempty"`
	Provider       Link              `json:"provider"`
}

// csvMetadata returns the value of the property that describes the bundle's
// CSV. It returns none for a CSV with values of a wrong type.
func (b *Bundle) csvMetadata() (json.RawMessage, error) {
	csv := b.CSV
	if len(csv.faults) > 0 {
		return nil, slices.Clone(csv.faults).Sorted()
	}
	return marshal(csvMetadata{
		Annotations: csv.Metadata.Annotations, Labels: csv.Metadata.Labels,
		APIServices: csv.Spec.APIServices, CRDs: csv.Spec.CRDs,
		Description: csv.Spec.Description, DisplayName: csv.Spec.DisplayName,
		InstallModes: csv.Spec.InstallModes, Keywords: csv.Spec.Keywords,
		Links: csv.Spec.Links, Maintainers: csv.Spec.Maintainers, Maturity: csv.Spec.Maturity,
		MinKubeVersion: csv.Spec.MinKubeVersion, NativeAPIs: csv.Spec.NativeAPIs, Provider: csv.Spec.Provider,
	}), nil
}
