package cvo

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
)

// UpdatesUnknown reports whether it is not known which updates the cluster has: its lists
// are null, and RetrievedUpdates is not True. With True, null means that there are none:
// that is how an empty list is written.
func (cv *ClusterVersion) UpdatesUnknown() bool {
	if cv.Status.AvailableUpdates != nil || cv.Status.ConditionalUpdates != nil {
		return false
	}
	c := fairlead.FindCondition(cv.Status.Conditions, "RetrievedUpdates")
	return c == nil || c.Status != True
}

// RiskApplies says whether a risk of a conditional update applies to the cluster, from all
// that is reported:
//
//  1. the condition Applies of the risk, if there is one;
//  2. a rule Always, which always matches;
//  3. Recommended of the update: if it is True, no risk applies. Its message names each risk
//     that could not be evaluated, and quotes those that apply; its reason is the name of a
//     risk that alone applies. What is neither named nor quoted then does not apply.
//
// Otherwise it is Unknown; Recommended then says why.
func (cv *ClusterVersion) RiskApplies(u *ConditionalUpdate, name string) ConditionStatus {
	if k := slices.IndexFunc(cv.Status.ConditionalUpdateRisks, func(o ConditionalUpdateRisk) bool { return o.Name == name }); k >= 0 {
		if c := fairlead.FindCondition(cv.Status.ConditionalUpdateRisks[k].Conditions, "Applies"); c != nil {
			return c.Status
		}
	}
	at := slices.IndexFunc(u.Risks, func(r graph.Risk) bool { return r.Name == name })
	if at < 0 {
		return Unknown
	}
	if slices.ContainsFunc(u.Risks[at].MatchingRules, func(r graph.Rule) bool { return r.Type == graph.RuleAlways }) {
		return True
	}
	c := fairlead.FindCondition(u.Conditions, "Recommended")
	switch {
	case c == nil:
		return Unknown
	case c.Status == True:
		return False
	case strings.Contains(c.Message, "Could not evaluate exposure to update risk "+name+" "):
		return Unknown
	case c.Status == Unknown && c.Reason == graph.ReasonEvaluation:
		if strings.Contains(c.Message, "Could not evaluate exposure to update risk ") {
			return False // others are named
		}
		return Unknown
	case c.Status != False:
		return Unknown
	case len(u.Risks) == 1:
		return True
	case slices.ContainsFunc(u.Risks, func(r graph.Risk) bool { return r.Name == c.Reason }):
		return status(c.Reason == name)
	}
	return status(tells(c.Message, u.Risks[at]))
}

// tells reports whether a message names a risk, or has its message.
func tells(message string, r graph.Risk) bool {
	said := strings.Join(strings.Fields(r.Message), " ")
	return strings.Contains(message, r.Name) || said != "" && strings.Contains(strings.Join(strings.Fields(message), " "), said)
}

func status(is bool) ConditionStatus {
	if is {
		return True
	}
	return False
}
