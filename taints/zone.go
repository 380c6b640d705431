package taints

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Fleet is what [ZoneStep] looks at: all nodes.
type Fleet struct {
	// Nodes are all nodes of the cluster, in any order.
	Nodes []Node `json:"nodes"`
	// Failures are what the last attempts failed with. A Runner fills them in.
	Failures []Failure `json:"failures,omitempty"`
}

// ZoneMode is how a zone fares.
type ZoneMode string

// The modes of the reference.
const (
	ZoneInitial           ZoneMode = ""                  // nobody has looked at it
	ZoneNormal            ZoneMode = "Normal"            // enough nodes are ready
	ZonePartialDisruption ZoneMode = "PartialDisruption" // too many nodes are not ready
	ZoneFullDisruption    ZoneMode = "FullDisruption"    // no node is ready
)

// Labels that say something of a node's place.
const (
	LabelZone              = "topology.kubernetes.io/zone"
	LabelRegion            = "topology.kubernetes.io/region"
	labelZoneBeta          = "failure-domain.beta.kubernetes.io/zone"
	labelRegionBeta        = "failure-domain.beta.kubernetes.io/region"
	LabelExcludeDisruption = "node.kubernetes.io/exclude-disruption" // whatever its value, the node does not count for its zone's mode
)

// ZoneOf returns the zone of a node: "region/zone" by its labels, of which the
// old beta names come first, as in the reference. It is empty for a node with
// neither label: all such nodes form one zone.
func ZoneOf(n *Node) string {
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
	Outlook
	Zones   []Zone  `json:"zones,omitempty"`   // by name
	Granted []Grant `json:"granted,omitempty"` // nodes that a token was spent on, and that are not seen tainted, by node
	// Release tells of the taints that were taken off in a disruption, and are seen
	// yet; nil for none.
	Release *Retry `json:"release,omitempty"`
}

// Zone is what is remembered of one zone.
type Zone struct {
	Name  string    `json:"name"`           // see ZoneOf
	Mode  ZoneMode  `json:"mode,omitempty"` // how it fares
	Since time.Time `json:"since"`          // when that changed last
	Rate  float64   `json:"rate,omitempty"` // nodes per second that may be tainted; 0 for none
	Next  time.Time `json:"next,omitzero"`  // when there is a token; zero for now
}

// Grant is a node whose turn it is to be tainted.
type Grant struct {
	Node     string    `json:"node"`          // its name
	UID      string    `json:"uid,omitempty"` // its UID
	Zone     string    `json:"zone"`          // its zone
	Since    time.Time `json:"since"`         // when the token was spent
	Attempts int       `json:"attempts"`      // to taint it
	Next     time.Time `json:"next"`          // not again before that
}

// ZoneDecision is what [ZoneStep] returns.
type ZoneDecision struct {
	State   ZoneState        // to be saved before anything is applied
	Actions []Action         // to be applied then, in this order
	Blocked []fairlead.Block // why nothing more happens: all zones, then zone by zone by name
	Wake    time.Time        // when to look again, zero for an event only
}
