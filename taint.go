package fairlead

import "time"

// TaintEffect is what a taint does to pods that do not tolerate it.
type TaintEffect string

// The effects of the API. They are case-sensitive.
const (
	NoSchedule       TaintEffect = "NoSchedule"       // no new pods; running ones stay
	PreferNoSchedule TaintEffect = "PreferNoSchedule" // new pods only if no other node fits
	NoExecute        TaintEffect = "NoExecute"        // no new pods, and running ones are evicted
)

// Taint keeps pods off a node unless they tolerate it. A node has at most one
// taint with the same key and effect.
type Taint struct {
	Key    string      `json:"key"`             // its name, with or without a DNS prefix
	Value  string      `json:"value,omitempty"` // compared with that of a toleration
	Effect TaintEffect `json:"effect"`          // what it does
	// TimeAdded is when it was put on the node; nil if not recorded.
	TimeAdded *time.Time `json:"timeAdded,omitempty"`
}

// Same reports whether two taints cannot be on one node: they have the same key
// and effect, whatever their values.
func (t Taint) Same(other Taint) bool {
	return t.Key == other.Key && t.Effect == other.Effect
}

// String returns the taint as commands write it: "key=value:Effect",
// "key:Effect" without a value, and "key=value:" or "key" without an effect.
func (t Taint) String() string {
	s := t.Key
	if t.Value != "" {
		s += "=" + t.Value
	}
	if t.Effect != "" || t.Value != "" {
		s += ":" + string(t.Effect)
	}
	return s
}
