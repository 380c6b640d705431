package fairlead

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// IntOrString is a count, or a share in percent, as the API writes them: 3 or
// "30%". The zero value is the count 0.
type IntOrString struct {
	Text string // the percentage, "30%"; empty for a count
	Int  int    // the count, if Text is empty
}

// String returns the count or the percentage.
func (v IntOrString) String() string {
	if v.Text != "" {
		return v.Text
	}
	return strconv.Itoa(v.Int)
}

// Percentage reports whether it is a percentage, not a count.
func (v IntOrString) Percentage() bool { return strings.HasSuffix(v.Text, "%") }

// MarshalJSON writes a number for a count and a string for a percentage.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Text != "" {
		return json.Marshal(v.Text)
	}
	return json.Marshal(v.Int)
}

// UnmarshalJSON reads a number or a string. A string without "%" is kept
// unchanged; Scale rejects it, unless it is a whole number.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*v = IntOrString{Text: text}
		return nil
	}
	var n int32
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("%s is neither a whole number nor a percentage such as \"30%%\"", data)
	}
	*v = IntOrString{Int: int(n)}
	return nil
}

// Scale returns the count, or the share of total that the percentage means,
// rounded up or down. Negative counts and shares, and texts that are neither,
// are errors.
func (v IntOrString) Scale(total int, up bool) (int, error) {
	if v.Text == "" {
		if v.Int < 0 {
			return 0, fmt.Errorf("%d is negative", v.Int)
		}
		return v.Int, nil
	}
	digits, percent := strings.CutSuffix(v.Text, "%")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a whole number nor a percentage such as \"30%%\"", v.Text)
	}
	if !percent {
		return int(n), nil
	}
	product := int64(n) * int64(total)
	if up {
		product += 99
	}
	return int(min(product/100, 1<<31-1)), nil
}
