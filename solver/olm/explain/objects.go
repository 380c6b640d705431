package explain

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Job is a job that unpacks a bundle.
type Job struct {
	ObjectMeta `json:"metadata"`
	// Status is its observed state.
	Status struct {
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // Complete and Failed
	} `json:"status"`
}

// Config is what OLMConfig says, of which a cluster has one, named cluster.
type Config struct {
	DisableCopiedCSVs bool // CSVs that watch all namespaces are not copied into them
}

// UnmarshalJSON implements json.Unmarshaler: it takes an OLMConfig.
func (c *Config) UnmarshalJSON(text []byte) error {
	var o struct {
		Spec struct {
			Features struct {
				DisableCopiedCSVs bool `json:"disableCopiedCSVs"`
			} `json:"features"`
		} `json:"spec"`
	}
	err := json.Unmarshal(text, &o)
	c.DisableCopiedCSVs = o.Spec.Features.DisableCopiedCSVs
	return err
}

// Extension is a ClusterExtension of OLM v1, with what resolution says of it.
// Without catalogs that is empty.
type Extension struct {
	resource.ClusterExtension
	Next    string   `json:"-"` // the bundle that is chosen
	Refused string   `json:"-"` // why none is
	Path    []string `json:"-"` // then the versions on the way to what is requested
	// PathChannel is a channel that has the first of Path, if none of those that the extension
	// names has it.
	PathChannel string `json:"-"`
	NoWay       bool   `json:"-"` // nothing leads on from what is installed, though what is requested exists
	// Similar are packages whose names are similar to the one that is requested, which no catalog
	// has, the nearest first.
	Similar []string `json:"-"`
	// Highest is the highest version that could be installed, if none is in the range that is
	// requested.
	Highest string `json:"-"`
}
