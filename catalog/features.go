package catalog

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

const featurePrefix = "features.operators.openshift.io/"

// Feature is an infrastructure feature that an operator says it supports or
// not, by an annotation features.operators.openshift.io/NAME of its CSV.
type Feature struct {
	Name  string `json:"name"`  // such as disconnected or token-auth-aws
	Value string `json:"value"` // "true" or "false"; anything else means nothing
	Known bool   `json:"known"` // whether the platform knows a feature of that name
}

// knownFeatures are the names of the features that the platform knows.
const knownFeatures = " disconnected fips-compliant proxy-aware tls-profiles cnf cni csi token-auth-aws token-auth-azure token-auth-gcp "

// Features returns the infrastructure features that the bundle's CSV declares,
// by name. It reads the bundle's file. Of a bundle whose payload has no CSV it
// is empty.
func (b *Bundle) Features() ([]Feature, error) {
	annotations, err := b.Annotations()
	return featuresOf(annotations), err
}

// Annotations returns the annotations of the bundle's CSV, from its
// olm.csv.metadata or olm.bundle.object properties. It reads the bundle's file.
func (b *Bundle) Annotations() (map[string]string, error) {
	facts, err := b.csv()
	return facts.annotations, err
}

// DisplayName returns the name that the bundle's CSV gives the operator for
// people, "" if it has none. It reads the bundle's file.
func (b *Bundle) DisplayName() (string, error) {
	facts, err := b.csv()
	return facts.displayName, err
}

// csv returns what the bundle's payload says of its CSV.
func (b *Bundle) csv() (csvFacts, error) {
	properties, err := b.Properties()
	if err != nil {
		return csvFacts{}, err
	}
	for _, p := range properties {
		var facts *csvFacts
		switch p.Type {
		case PropertyCSVMetadata:
			facts = metadataFacts(p.Value)
		case PropertyBundleObject:
			if manifest, err := manifestJSON(p.Value); err == nil {
				facts = manifestFacts(manifest)
			}
		}
		if facts != nil {
			return *facts, nil
		}
	}
	return csvFacts{}, nil
}

func featuresOf(annotations map[string]string) []Feature {
	var list []Feature
	for key, value := range annotations {
		if name, ok := strings.CutPrefix(key, featurePrefix); ok {
			list = append(list, Feature{name, value, strings.Contains(knownFeatures, " "+name+" ")})
		}
	}
	slices.SortFunc(list, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// manifestJSON returns the manifest that an olm.bundle.object property
// carries, as JSON.
func manifestJSON(value json.RawMessage) ([]byte, error) {
	var object struct {
		Data string `json:"data"`
	}
	if _, err := unmarshal(value, &object); err != nil {
		return nil, err
	}
	manifest, err := base64.StdEncoding.DecodeString(object.Data)
	if err != nil {
		return nil, err
	}
	d, fault := parseManifest(manifest)
	if fault != nil {
		return nil, errors.New(fault.Message)
	}
	return d.JSON, nil
}

// parseManifest parses the first document of a manifest, within the usual
// limits.
func parseManifest(manifest []byte) (*doc.Document, *doc.Error) {
	r := doc.NewReader(bytes.NewReader(manifest), "", doc.Limits{})
	r.YAML11()
	d, err := r.Next()
	if fault := (*doc.Error)(nil); errors.As(err, &fault) {
		return nil, fault
	}
	if err != nil {
		return nil, &doc.Error{Kind: doc.NotObject, Message: "it is empty"}
	}
	return d, nil
}
