package promql

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// judge tells whether the answer to a rule is a match. Only one sample of 1 or
// 0 says so.
func judge(value model.Value) (bool, error) {
	if value == nil {
		return false, fmt.Errorf("invalid PromQL result: the answer has none")
	}
	vector, ok := value.(model.Vector)
	switch {
	case !ok:
		return false, fmt.Errorf("invalid PromQL result type: a %s, and only a vector decides", value.Type())
	case len(vector) == 0:
		return false, fmt.Errorf("invalid PromQL result length: no samples, and only one decides; the metrics that the query needs are not there")
	case len(vector) > 1:
		return false, fmt.Errorf("invalid PromQL result length: %d samples, and only one decides", len(vector))
	case vector[0].Histogram != nil:
		return false, fmt.Errorf("invalid PromQL result type: a histogram, and only a number decides")
	}
	switch v := vector[0].Value; v {
	case 0:
		return false, nil
	case 1:
		return true, nil
	default:
		return false, fmt.Errorf("invalid PromQL result value: %s, and only 0 and 1 decide", v)
	}
}
