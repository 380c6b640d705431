package fairlead

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/decimal"
)

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
	// NoExecute; nil means forever.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// Tolerates reports whether the toleration matches the taint, as the scheduler
// does: literally, whether or not the API would accept it. Effect and key come
// first, and an empty one in the toleration matches any. Then Exists matches,
// and Equal or no operator matches if the values are the same. Any other
// operator matches nothing; Lt and Gt need [Toleration.ToleratesNumber].
func (t Toleration) Tolerates(taint Taint) bool {
	return t.Matches(&taint, false)
}

// ToleratesNumber is Tolerates with the operators Lt and Gt: the taint's value
// must be below, or above, that of the toleration, and both must be 64-bit
// integers in their shortest decimal form.
func (t Toleration) ToleratesNumber(taint Taint) bool {
	return t.Matches(&taint, true)
}

// Matches is Tolerates, or ToleratesNumber if numbers is set, without copying
// either. It changes neither.
func (t *Toleration) Matches(taint *Taint, numbers bool) bool {
	return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) && t.accepts(taint, numbers)
}

// accepts reports whether the operator accepts the taint's value.
func (t *Toleration) accepts(taint *Taint, numbers bool) bool {
	switch t.Operator {
	case TolerationExists:
		return true
	case TolerationEqual, "":
		return t.Value == taint.Value
	case TolerationLt, TolerationGt:
		return numbers && t.compare(taint)
	}
	return false
}

// compare compares the values as whole numbers.
func (t *Toleration) compare(taint *Taint) bool {
	bound, err := decimal.Parse(t.Value)
	if err != nil {
		return false
	}
	value, err := decimal.Parse(taint.Value)
	if err != nil {
		return false
	}
	if t.Operator == TolerationLt {
		return value < bound
	}
	return value > bound
}

// String returns the toleration as a line of YAML that can be an item in a list
// of tolerations, without the fields that are empty.
func (t Toleration) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+": "+plain(value))
		}
	}
	add("key", t.Key)
	add("operator", string(t.Operator))
	add("value", t.Value)
	add("effect", string(t.Effect))
	if t.TolerationSeconds != nil {
		parts = append(parts, "tolerationSeconds: "+strconv.FormatInt(*t.TolerationSeconds, 10))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plain returns a text so that YAML reads it back as a text: bare if it consists
// of the characters of keys and could only be a text, otherwise in quotes.
func plain(s string) string {
	letters := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = true
		case c >= '0' && c <= '9' || i > 0 && strings.IndexByte("-._/", c) >= 0:
		default:
			return strconv.Quote(s)
		}
	}
	words := []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
	if !letters || s[0] >= '0' && s[0] <= '9' || slices.Contains(words, strings.ToLower(s)) {
		return strconv.Quote(s)
	}
	return s
}
