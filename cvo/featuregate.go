package cvo

import "slices"

// FeatureGate is the object that says which feature gates a cluster has.
type FeatureGate struct {
	ObjectMeta `json:"metadata"`
	Spec       FeatureGateSpec   `json:"spec"`   // the desired state
	Status     FeatureGateStatus `json:"status"` // the result
}

// FeatureGateSpec is what the administrator requests.
type FeatureGateSpec struct {
	FeatureSet string `json:"featureSet,omitempty"` // such as TechPreviewNoUpgrade; empty means the default one
}

// FeatureGateStatus lists the gates of a feature set, by release.
type FeatureGateStatus struct {
	FeatureGates []FeatureGateDetails `json:"featureGates,omitempty"` // by version
}

// FeatureGateDetails are the gates of one release.
type FeatureGateDetails struct {
	Version  string            `json:"version"`            // of the release
	Enabled  []FeatureGateName `json:"enabled,omitempty"`  // that are on
	Disabled []FeatureGateName `json:"disabled,omitempty"` // that are off
}

// FeatureGateName is one gate.
type FeatureGateName struct {
	Name string `json:"name"` // of the gate
}

// Enabled returns the gates that are on in a release, sorted, as in World.Gates.
// If the release is not listed, the result is empty; it is never nil.
func (g *FeatureGate) Enabled(version string) []string {
	names := []string{}
	for _, d := range g.Status.FeatureGates {
		if d.Version != version {
			continue
		}
		for _, e := range d.Enabled {
			names = append(names, e.Name)
		}
		break
	}
	slices.Sort(names)
	return names
}
