package cvo

import "slices"

// FeatureGate is the object that says which feature gates a cluster has.
type FeatureGate struct {
	ObjectMeta `json:"metadata"`
	Spec       FeatureGateSpec   `json:"spec"`   // what the administrator asks for
	Status     FeatureGateStatus `json:"status"` // what that comes to
}

// FeatureGateSpec is what the administrator asks for.
type FeatureGateSpec struct {
	FeatureSet string `json:"featureSet,omitempty"` // such as TechPreviewNoUpgrade; empty means the default one
}

// FeatureGateStatus is what a feature set comes to in the releases at hand.
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

// Enabled returns the gates that are on in a release, sorted, as World.Gates has
// them. Of a release that is not listed none is: it is never nil.
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
