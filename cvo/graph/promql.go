package graph

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// promAnswer is what the API of Prometheus answers to an instant query.
type promAnswer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// promSample is one sample of a vector: an instant and a value in quotes.
type promSample struct {
	Value [2]json.RawMessage `json:"value"`
}

// ReadPromQL reads what the API of Prometheus answers to the query of a rule:
// a vector of one sample that is 1 where the rule matches, and 0 where it does
// not. Anything else is an error.
func ReadPromQL(answer []byte) (match bool, err error) {
	var a promAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return false, fmt.Errorf("the answer to the PromQL query cannot be read: %w", err)
	}
	if a.Status != "success" {
		return false, fmt.Errorf("the PromQL query failed: %q", a.Error)
	}
	if a.Data.Type != "vector" {
		return false, fmt.Errorf("invalid PromQL result type %q: a rule needs a vector of one sample, 0 or 1", a.Data.Type)
	}
	var vector []promSample
	if err := json.Unmarshal(a.Data.Result, &vector); err != nil {
		return false, fmt.Errorf("the vector of the PromQL result cannot be read: %w", err)
	}
	if len(vector) != 1 {
		return false, fmt.Errorf("invalid PromQL result length %d: a rule needs one sample, 0 or 1", len(vector))
	}
	text := string(vector[0].Value[1])
	if quoted, err := strconv.Unquote(text); err == nil {
		switch v, err := strconv.ParseFloat(quoted, 64); {
		case err != nil:
		case v == 1:
			return true, nil
		case v == 0:
			return false, nil
		}
	}
	return false, fmt.Errorf("invalid PromQL result value %s: a rule needs 0 or 1", text)
}
