package object

import (
	"errors"
	"slices"
	"strconv"
	"strings"
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
	// NoExecute; nil means for good.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// Tolerates reports whether the toleration matches the taint, as the scheduler
// judges it: by what is written, whether the API would accept it or not. Effect
// and key come first, and an empty one of the toleration matches any. Then
// Exists matches, and Equal or no operator if the values are the same. Any other
// operator matches nothing; Lt and Gt need [Toleration.ToleratesNumber].
func (t Toleration) Tolerates(taint Taint) bool {
	return Matches(&t, &taint, false)
}

// ToleratesNumber is Tolerates with the operators Lt and Gt: the taint's value
// must be below, or above, that of the toleration, and both must be whole
// numbers of 64 bits in their shortest decimal form.
func (t Toleration) ToleratesNumber(taint Taint) bool {
	return Matches(&t, &taint, true)
}

// Matches reports whether t tolerates taint, with Lt and Gt if numbers is set.
// It changes neither.
func Matches(t *Toleration, taint *Taint, numbers bool) bool {
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
		return numbers && compare(t, taint)
	}
	return false
}

func compare(t *Toleration, taint *Taint) bool {
	bound, err := ParseNumber(t.Value)
	if err != nil {
		return false
	}
	value, err := ParseNumber(taint.Value)
	if err != nil {
		return false
	}
	if t.Operator == TolerationLt {
		return value < bound
	}
	return value > bound
}

// ParseNumber reads a whole number as Lt and Gt compare it: decimal, of 64 bits,
// with neither "+" nor leading zeros. The error says what is wrong and does not
// repeat the text.
func ParseNumber(s string) (int64, error) {
	digits := strings.TrimPrefix(s, "-")
	switch {
	case digits == "":
		return 0, errors.New("it has no digits")
	case digits[0] == '0' && s != "0":
		return 0, errors.New("it is not in its shortest form: it begins with 0")
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, errors.New("it is no whole number: only digits may stand there, after a minus at most")
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, errors.New("it is outside the 64 bits of a whole number")
	}
	return n, nil
}

// String returns the toleration as a line of YAML that can stand in a list of
// tolerations, without the fields that are empty.
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

// plain returns a text as YAML reads it back as a text: bare if it is made of
// the characters of keys and could be nothing but a text, otherwise in quotes.
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

// FirstMatch returns the index of the first toleration that matches the taint,
// or -1; with Lt and Gt if numbers is set.
func FirstMatch(tolerations []Toleration, taint *Taint, numbers bool) int {
	for i := range tolerations {
		if Matches(&tolerations[i], taint, numbers) {
			return i
		}
	}
	return -1
}
