package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/csv"
)

// FeaturePrefix is the prefix of the annotations of infrastructure features.
const FeaturePrefix = "features.operators.openshift.io/"

// The infrastructure features that operators claim: the name of the annotation after
// [FeaturePrefix].
const (
	FeatureDisconnected   = "disconnected"     // runs without access to the internet
	FeatureFIPS           = "fips-compliant"   // runs on clusters in FIPS mode
	FeatureProxy          = "proxy-aware"      // goes through the cluster's proxy
	FeatureTLSProfiles    = "tls-profiles"     // obeys the cluster's TLS profile
	FeatureTokenAuthAWS   = "token-auth-aws"   // authenticates by AWS STS
	FeatureTokenAuthAzure = "token-auth-azure" // authenticates by Microsoft Entra Workload ID
	FeatureTokenAuthGCP   = "token-auth-gcp"   // authenticates by GCP Workload Identity
	FeatureCNF            = "cnf"              // is a cloud-native network function
	FeatureCNI            = "cni"              // is a container network interface
	FeatureCSI            = "csi"              // is a container storage interface
)

// KnownFeatures returns the features that the platform knows.
func KnownFeatures() []string {
	return []string{
		FeatureDisconnected, FeatureFIPS, FeatureProxy, FeatureTLSProfiles, FeatureTokenAuthAWS, FeatureTokenAuthAzure,
		FeatureTokenAuthGCP, FeatureCNF, FeatureCNI, FeatureCSI,
	}
}

// Feature is an infrastructure feature that an operator says it supports or
// not, by an annotation of its CSV that begins with [FeaturePrefix].
type Feature struct {
	Name      string `json:"name"`      // such as disconnected or token-auth-aws
	Value     string `json:"value"`     // as annotated; only "true" and "false" have a meaning
	Supported bool   `json:"supported"` // the value is "true"
	Known     bool   `json:"known"`     // the platform knows a feature of that name
}

// Annotations returns the annotations of the bundle's CSV, from its
// olm.csv.metadata or olm.bundle.object properties. It reads the bundle's file.
func (b *Bundle) Annotations() (map[string]string, error) {
	facts, err := b.facts()
	return facts.Annotations, err
}

// DisplayName returns the operator's name for people, from the bundle's CSV, or "" if it
// has none. It reads the bundle's file.
func (b *Bundle) DisplayName() (string, error) {
	facts, err := b.facts()
	return facts.DisplayName, err
}

// facts returns what the bundle's payload says about its CSV.
func (b *Bundle) facts() (csv.Facts, error) {
	properties, err := b.Properties()
	if err != nil {
		return csv.Facts{}, err
	}
	for _, p := range properties {
		var facts *csv.Facts
		switch p.Type {
		case PropertyCSVMetadata:
			facts = csv.Metadata(p.Value)
		case PropertyBundleObject:
			if manifest, err := csv.ManifestJSON(p.Value); err == nil {
				facts = csv.Manifest(manifest)
			}
		}
		if facts != nil {
			return *facts, nil
		}
	}
	return csv.Facts{}, nil
}

// FeaturesOf returns the infrastructure features that the annotations of a CSV
// declare, by name.
func FeaturesOf(annotations map[string]string) []Feature {
	var list []Feature
	for key, value := range annotations {
		if name, ok := strings.CutPrefix(key, FeaturePrefix); ok {
			list = append(list, Feature{name, value, value == "true", slices.Contains(KnownFeatures(), name)})
		}
	}
	slices.SortFunc(list, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
