package serve

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
)

// parseSelector parses a label selector: requirements separated by commas, each
// one of KEY, !KEY, KEY=VALUE, KEY==VALUE, KEY!=VALUE, KEY in (VALUE,...) and
// KEY notin (VALUE,...).
func parseSelector(text string) (*fairlead.LabelSelector, error) {
	s := &fairlead.LabelSelector{}
	for rest := strings.TrimSpace(text); rest != ""; {
		part := rest
		comma := strings.IndexByte(rest, ',')
		if open := strings.IndexByte(rest, '('); open >= 0 && (comma < 0 || open < comma) {
			end := strings.IndexByte(rest, ')')
			if end < open {
				return nil, fmt.Errorf("label selector %q: the list is not closed; add )", text)
			}
			comma = len(rest)
			if after := strings.IndexByte(rest[end:], ','); after >= 0 {
				comma = end + after
			}
		}
		if comma >= 0 && comma < len(rest) {
			part, rest = rest[:comma], strings.TrimSpace(rest[comma+1:])
		} else {
			rest = ""
		}
		s.MatchExpressions = append(s.MatchExpressions, requirement(strings.TrimSpace(part)))
	}
	return s, s.Check()
}

func requirement(text string) fairlead.SelectorRequirement {
	if key, list, ok := strings.Cut(text, "("); ok {
		r := fairlead.SelectorRequirement{Operator: "?"}
		fields := strings.Fields(key)
		if len(fields) == 2 {
			r.Key, r.Operator = fields[0], fairlead.SelectorOperator(fields[1])
			switch fields[1] {
			case "in":
				r.Operator = fairlead.SelectorIn
			case "notin":
				r.Operator = fairlead.SelectorNotIn
			}
		}
		for value := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), ")"), ",") {
			r.Values = append(r.Values, strings.TrimSpace(value))
		}
		return r
	}
	if key, value, ok := strings.Cut(text, "!="); ok {
		return fairlead.SelectorRequirement{Key: strings.TrimSpace(key), Operator: fairlead.SelectorNotIn, Values: []string{strings.TrimSpace(value)}}
	}
	if key, value, ok := strings.Cut(text, "="); ok {
		return fairlead.SelectorRequirement{Key: strings.TrimSpace(key), Operator: fairlead.SelectorIn, Values: []string{strings.TrimSpace(strings.TrimPrefix(value, "="))}}
	}
	if key, ok := strings.CutPrefix(text, "!"); ok {
		return fairlead.SelectorRequirement{Key: strings.TrimSpace(key), Operator: fairlead.SelectorDoesNotExist}
	}
	return fairlead.SelectorRequirement{Key: text, Operator: fairlead.SelectorExists}
}
