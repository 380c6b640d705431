package promql

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// judge returns whether the answer to a rule is a match. Only a single sample
// of 1 or 0 decides.
func judge(value model.Value) (bool, error) {
	if value == nil {
		return false, fmt.Errorf("invalid PromQL result: the answer has no result")
	}
	vector, ok := value.(model.Vector)
	switch {
	case !ok:
		return false, fmt.Errorf("invalid PromQL result type: a %s, but only a vector decides", value.Type())
	case len(vector) == 0:
		return false, fmt.Errorf("invalid PromQL result length: no samples, but exactly one is needed; the metrics that the query uses are missing")
	case len(vector) > 1:
		return false, fmt.Errorf("invalid PromQL result length: %d samples, but exactly one is needed", len(vector))
	case vector[0].Histogram != nil:
		return false, fmt.Errorf("invalid PromQL result type: a histogram, but only a number decides")
	}
	switch v := vector[0].Value; v {
	case 0:
		return false, nil
	case 1:
		return true, nil
	default:
		return false, fmt.Errorf("invalid PromQL result value: %s, but only 0 and 1 decide", v)
	}
}
