// Package csv reads what the payload of a bundle says about its
// ClusterServiceVersion.
package csv

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/fairlead/fairlead/internal/doc"
)

// Facts is what a bundle's CSV says, from either payload.
type Facts struct {
	Name        string            // "" if it is not known
	DisplayName string            // for people
	Annotations map[string]string // of the CSV
	CRDs        CRDs              // custom resources
	APIs        APIs              // aggregated APIs
	Permissions bool              // the CSV's permissions are known
	Requests    bool              // and allow creating CredentialsRequests
}

// CRDs are the descriptions of custom resources in a CSV.
type CRDs struct {
	Owned    []CRD `json:"owned"`    // that the operator provides
	Required []CRD `json:"required"` // that it needs
}

// CRD describes one custom resource.
type CRD struct {
	Name    string `json:"name"`    // PLURAL.GROUP
	Version string `json:"version"` // of the API
	Kind    string `json:"kind"`    // of the objects
}

// APIs are the descriptions of aggregated APIs in a CSV.
type APIs struct {
	Owned    []API `json:"owned"`    // that the operator provides
	Required []API `json:"required"` // that it needs
}

// API names an API.
type API struct {
	Group   string `json:"group"`   // such as apps
	Version string `json:"version"` // such as v1
	Kind    string `json:"kind"`    // such as Deployment
}

// Metadata returns what the value of an olm.csv.metadata property says, or nil
// if it is malformed.
func Metadata(value json.RawMessage) *Facts {
	var m struct {
		Annotations map[string]string `json:"annotations"`
		CRDs        CRDs              `json:"crdDescriptions"`
		APIs        APIs              `json:"apiServiceDefinitions"`
		DisplayName string            `json:"displayName"`
	}
	if !fits(value, &m) {
		return nil
	}
	return &Facts{DisplayName: m.DisplayName, Annotations: m.Annotations, CRDs: m.CRDs, APIs: m.APIs}
}

// Manifest returns what a manifest says if it is a CSV.
func Manifest(manifest []byte) *Facts {
	var m struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			DisplayName string `json:"displayName"`
			CRDs        CRDs   `json:"customresourcedefinitions"`
			APIs        APIs   `json:"apiservicedefinitions"`
			Install     struct {
				Spec struct {
					Cluster []permission `json:"clusterPermissions"`
				} `json:"spec"`
			} `json:"install"`
		} `json:"spec"`
	}
	if !fits(manifest, &m) || m.Kind != "ClusterServiceVersion" {
		return nil
	}
	return &Facts{
		Name: m.Metadata.Name, DisplayName: m.Spec.DisplayName, Annotations: m.Metadata.Annotations, CRDs: m.Spec.CRDs, APIs: m.Spec.APIs,
		Permissions: true, Requests: slices.ContainsFunc(m.Spec.Install.Spec.Cluster, permission.createsRequests),
	}
}

// permission is a service account's entry in a CSV.
type permission struct {
	Rules []struct {
		Groups    []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	} `json:"rules"`
}

// createsRequests reports whether it allows creating CredentialsRequests,
// which an operator needs for authentication by tokens.
func (p permission) createsRequests() bool {
	has := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, "*")
	}
	for _, r := range p.Rules {
		if has(r.Groups, "cloudcredential.openshift.io") && has(r.Resources, "credentialsrequests") && has(r.Verbs, "create") {
			return true
		}
	}
	return false
}

// ManifestJSON returns the manifest that an olm.bundle.object property
// carries, as JSON.
func ManifestJSON(value json.RawMessage) ([]byte, error) {
	var object struct {
		Data string `json:"data"`
	}
	if _, err := doc.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	manifest, err := base64.StdEncoding.DecodeString(object.Data)
	if err != nil {
		return nil, err
	}
	d, fault := ParseManifest(manifest)
	if fault != nil {
		return nil, errors.New(fault.Message)
	}
	return d.JSON, nil
}

// ParseManifest parses the first document of a manifest, within the usual
// limits.
func ParseManifest(manifest []byte) (*doc.Document, *doc.Error) {
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

// MetadataOf extracts from a CSV what an olm.csv.metadata property holds.
func MetadataOf(csv *doc.Value) []byte {
	out := []byte{'{'}
	for _, f := range []struct {
		name, section, field string
		always               bool // the reference writes it even if it is empty
	}{
		{"annotations", "metadata", "annotations", false},
		{"apiServiceDefinitions", "spec", "apiservicedefinitions", true},
		{"crdDescriptions", "spec", "customresourcedefinitions", true},
		{"description", "spec", "description", false},
		{"displayName", "spec", "displayName", false},
		{"installModes", "spec", "installModes", false},
		{"keywords", "spec", "keywords", false},
		{"labels", "metadata", "labels", false},
		{"links", "spec", "links", false},
		{"maintainers", "spec", "maintainers", false},
		{"maturity", "spec", "maturity", false},
		{"minKubeVersion", "spec", "minKubeVersion", false},
		{"nativeAPIs", "spec", "nativeAPIs", false},
		{"provider", "spec", "provider", true},
	} {
		v := csv.Get(f.section, f.field)
		text := []byte("{}")
		if !v.Null() && string(v.Raw) != `""` {
			text = v.Raw
		} else if !f.always {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(doc.AppendText(out, f.name), ':'), text...)
	}
	return append(out, '}')
}

// fits reports whether value decodes into v.
func fits(value []byte, v any) bool {
	_, err := doc.Unmarshal(value, v)
	return err == nil
}
