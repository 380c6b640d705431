package fairlead

import (
	"fmt"
	"slices"
)

// LabelSelector picks objects by their labels: by every pair of MatchLabels
// and every requirement of MatchExpressions.
type LabelSelector struct {
	MatchLabels      map[string]string     `json:"matchLabels,omitempty"`      // labels that must be present with these values
	MatchExpressions []SelectorRequirement `json:"matchExpressions,omitempty"` // all of which must hold
}

// SelectorOperator says how a requirement compares.
type SelectorOperator string

// The operators of the API.
const (
	SelectorIn           SelectorOperator = "In"           // the label is present and has one of the values
	SelectorNotIn        SelectorOperator = "NotIn"        // the label is absent or has none of the values
	SelectorExists       SelectorOperator = "Exists"       // the label is present
	SelectorDoesNotExist SelectorOperator = "DoesNotExist" // the label is absent
)

// SelectorRequirement is a requirement on one label.
type SelectorRequirement struct {
	Key      string           `json:"key"`              // the label
	Operator SelectorOperator `json:"operator"`         // how it is compared
	Values   []string         `json:"values,omitempty"` // at least one for In and NotIn, none for the others
}

// SelectorError says what is wrong with a selector.
type SelectorError struct {
	Requirement SelectorRequirement // the invalid one
	Problem     string              // what is wrong with it, and what to write instead
}

// Error implements error.
func (e *SelectorError) Error() string {
	return fmt.Sprintf("label selector: requirement on %q: %s", e.Requirement.Key, e.Problem)
}

// Empty reports whether the selector has no requirement; a nil one has none.
func (s *LabelSelector) Empty() bool {
	return s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// Check returns a *SelectorError for the first invalid requirement, or nil.
func (s *LabelSelector) Check() error {
	if s == nil {
		return nil
	}
	for _, r := range s.MatchExpressions {
		if problem := r.problem(); problem != "" {
			return &SelectorError{Requirement: r, Problem: problem}
		}
	}
	return nil
}

// Matches reports whether labels meet every requirement. An empty selector
// matches everything; a requirement that Check rejects matches nothing.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	if s == nil {
		return true
	}
	for key, want := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != want {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		if !r.matches(labels) {
			return false
		}
	}
	return true
}

func (r SelectorRequirement) problem() string {
	switch r.Operator {
	case SelectorIn, SelectorNotIn:
		if len(r.Values) == 0 {
			return fmt.Sprintf("operator %s needs values; give at least one", r.Operator)
		}
	case SelectorExists, SelectorDoesNotExist:
		if len(r.Values) > 0 {
			return fmt.Sprintf("operator %s takes no values; leave them out, or write In or NotIn", r.Operator)
		}
	default:
		return fmt.Sprintf("there is no operator %q; write In, NotIn, Exists or DoesNotExist", r.Operator)
	}
	if r.Key == "" {
		return "it names no label; give the key"
	}
	return ""
}

func (r SelectorRequirement) matches(labels map[string]string) bool {
	if r.problem() != "" {
		return false
	}
	value, there := labels[r.Key]
	switch r.Operator {
	case SelectorIn:
		return there && slices.Contains(r.Values, value)
	case SelectorNotIn:
		return !there || !slices.Contains(r.Values, value)
	case SelectorExists:
		return there
	default:
		return !there
	}
}
