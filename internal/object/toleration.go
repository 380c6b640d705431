package object

// Toleration lets a pod onto nodes with a taint that it matches, or lets it
// stay there.
type Toleration struct {
	Key      string `json:"key,omitempty"`      // of the taint; empty with Exists matches every taint
	Operator string `json:"operator,omitempty"` // Exists or Equal; empty means Equal
	Value    string `json:"value,omitempty"`    // of the taint, for Equal
	Effect   string `json:"effect,omitempty"`   // of the taint; empty matches every effect
	// TolerationSeconds is how long a pod stays on a node with a taint of effect
	// NoExecute; nil means for good.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}
