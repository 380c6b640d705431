package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// ZoneWorld is what [ZoneStep] reads: all nodes.
type ZoneWorld struct {
	// Nodes are all nodes of the cluster, in any order.
	Nodes []fairlead.Node `json:"nodes"`
	// Outcomes are the results of the last attempts at actions. A Runner fills
	// them in.
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// ZoneMode is the state of a zone.
type ZoneMode string

// The modes of Kubernetes.
const (
	ZoneInitial           ZoneMode = ""                  // not evaluated yet
	ZoneNormal            ZoneMode = "Normal"            // enough nodes are ready
	ZonePartialDisruption ZoneMode = "PartialDisruption" // too many nodes are not ready
	ZoneFullDisruption    ZoneMode = "FullDisruption"    // no node is ready
)

// Labels about a node's location.
const (
	LabelZone              = "topology.kubernetes.io/zone"
	LabelRegion            = "topology.kubernetes.io/region"
	labelZoneBeta          = "failure-domain.beta.kubernetes.io/zone"
	labelRegionBeta        = "failure-domain.beta.kubernetes.io/region"
	LabelExcludeDisruption = "node.kubernetes.io/exclude-disruption" // with any value, the node does not count for its zone's mode
)

// ZoneOf returns the zone of a node: "region/zone" by its labels, of which the old
// beta names take precedence, as in Kubernetes. It is empty for a node with neither
// label: all such nodes form one zone.
func ZoneOf(n *fairlead.Node) string {
	region, zone := n.Labels[labelRegionBeta], n.Labels[labelZoneBeta]
	if region == "" {
		region = n.Labels[LabelRegion]
	}
	if zone == "" {
		zone = n.Labels[LabelZone]
	}
	if region == "" && zone == "" {
		return ""
	}
	return region + "/" + zone
}

// ZoneState is what is remembered of all zones. The zero ZoneState knows
// nothing. It survives encoding/json.
type ZoneState struct {
	Disruption
	Zones   []Zone  `json:"zones,omitempty"`   // by name
	Granted []Grant `json:"granted,omitempty"` // nodes that a token was spent on and that are not yet seen tainted, by node
	fairlead.Pending
}

// Kinds returns one action of each kind, for reading a [ZoneDecision] from JSON.
func (ZoneState) Kinds() []Action { return kinds() }

// Zone is what is remembered of one zone.
type Zone struct {
	Name  string    `json:"name"`           // see ZoneOf
	Mode  ZoneMode  `json:"mode,omitempty"` // its state
	Since time.Time `json:"since"`          // when that last changed
	Rate  float64   `json:"rate,omitempty"` // nodes per second that may be tainted; 0 for none
	// Empty is since when the zone has had no token, until 1/Rate seconds have passed;
	// zero if it has one.
	Empty time.Time `json:"empty,omitzero"`
}

// Grant is a node that has a token to be tainted.
type Grant struct {
	Node  string    `json:"node"`          // its name
	UID   string    `json:"uid,omitempty"` // its UID
	Zone  string    `json:"zone"`          // its zone
	Since time.Time `json:"since"`         // when the token was spent
}

// ZoneDecision is what [ZoneStep] returns. Blocked has the blocks of all zones
// together first, then those of each zone, by name.
type ZoneDecision = fairlead.Decision[ZoneState, Action]
