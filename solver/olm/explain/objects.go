package explain

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// CSV is a ClusterServiceVersion with the requirements that its status lists. It is
// decoded from the JSON form of the API, as are the following types.
type CSV struct {
	olm.ClusterServiceVersion
	Requirements []Requirement // in its order
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *CSV) UnmarshalJSON(text []byte) error {
	var more struct {
		Status struct {
			Requirements []Requirement `json:"requirementStatus"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &c.ClusterServiceVersion); err != nil {
		return err
	}
	err := json.Unmarshal(text, &more)
	c.Requirements = more.Status.Requirements
	return err
}

// Requirement is an entry of a CSV's status.requirementStatus.
type Requirement struct {
	Version    string      `json:"version"`              // of a definition
	Kind       string      `json:"kind"`                 // of the required object
	Name       string      `json:"name"`                 // of the required object
	Status     string      `json:"status"`               // Present, NotPresent, PresentNotSatisfied or PresentNotAvailable
	Message    string      `json:"message"`              // for people
	Dependents []Dependent `json:"dependents,omitempty"` // its parts
}

// Dependent is a part of a requirement: a rule that a service account needs.
type Dependent struct {
	Status  string `json:"status"`  // Satisfied or NotSatisfied
	Message string `json:"message"` // scope and rule
}

// InstallPlan is a plan with what its status says about unpacking.
type InstallPlan struct {
	resource.InstallPlan
	Message   string    // why it does not proceed
	StartTime time.Time // when OLM began to carry it out
	Lookups   []Lookup  // the bundles that it unpacks
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *InstallPlan) UnmarshalJSON(text []byte) error {
	var more struct {
		Status struct {
			Message   string    `json:"message"`
			StartTime time.Time `json:"startTime"`
			Lookups   []Lookup  `json:"bundleLookups"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &p.InstallPlan); err != nil {
		return err
	}
	err := json.Unmarshal(text, &more)
	p.Message, p.StartTime, p.Lookups = more.Status.Message, more.Status.StartTime, more.Status.Lookups
	return err
}

// Lookup is a bundle that a plan unpacks.
type Lookup struct {
	Identifier string               `json:"identifier"`                 // the CSV
	Path       string               `json:"path"`                       // the image
	Source     *olm.SourceKey       `json:"catalogSourceRef,omitempty"` // the catalog
	Conditions []fairlead.Condition `json:"conditions,omitempty"`       // BundleLookupPending and BundleLookupFailed
}

// Job is a job that unpacks a bundle.
type Job struct {
	ObjectMeta `json:"metadata"`
	// Status is its observed state.
	Status struct {
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // Complete and Failed
	} `json:"status"`
}

// Config is OLMConfig, of which a cluster has one, named cluster.
type Config struct {
	// Spec is its desired state.
	Spec struct {
		Features *struct {
			DisableCopiedCSVs bool `json:"disableCopiedCSVs,omitempty"`
		} `json:"features,omitempty"`
	} `json:"spec"`
}

// Extension is a ClusterExtension of OLM v1, with what resolution says of it.
// Without catalogs that is empty.
type Extension struct {
	extension.ClusterExtension
	Next    string   `json:"-"` // the bundle that is chosen
	Refused string   `json:"-"` // why none is
	Path    []string `json:"-"` // then the versions on the way to what is requested
}

// ClusterCatalog is a catalog of OLM v1 with its conditions.
type ClusterCatalog struct {
	resource.ClusterCatalog
	Conditions []fairlead.Condition // Serving and Progressing
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *ClusterCatalog) UnmarshalJSON(text []byte) error {
	var more struct {
		Status struct {
			Conditions []fairlead.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &c.ClusterCatalog); err != nil {
		return err
	}
	err := json.Unmarshal(text, &more)
	c.Conditions = more.Status.Conditions
	return err
}
