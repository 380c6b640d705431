package object

// TolerationOperator is how a toleration compares its value with a taint's.
type TolerationOperator string

// The operators of the API. They are case-sensitive.
const (
	TolerationEqual  TolerationOperator = "Equal"  // the values are the same
	TolerationExists TolerationOperator = "Exists" // any value
	TolerationLt     TolerationOperator = "Lt"     // the taint's is a smaller whole number
	TolerationGt     TolerationOperator = "Gt"     // the taint's is a greater whole number
)

// Toleration lets a pod onto nodes with a taint that it matches, or lets it
// stay there.
type Toleration struct {
	Key      string             `json:"key,omitempty"`      // of the taint; empty with Exists matches every taint
	Operator TolerationOperator `json:"operator,omitempty"` // how Value is compared; empty means Equal
	Value    string             `json:"value,omitempty"`    // compared with the taint's
	Effect   TaintEffect        `json:"effect,omitempty"`   // of the taint; empty matches every effect
	// TolerationSeconds is how long a pod stays on a node with a taint of effect
	// NoExecute; nil means for good.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}
