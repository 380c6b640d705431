package graph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// ConditionStatus is True, False or Unknown.
type ConditionStatus = fairlead.ConditionStatus

// Reasons of the condition Recommended, besides names of risks.
const (
	ReasonNotExposed     = "NotExposedToRisks"       // none of the risks applies to the cluster
	ReasonAccepted       = "AllExposedRisksAccepted" // some apply, and the administrator accepts them
	ReasonExposed        = "ExposedToRisks"          // one applies, and its name cannot be a reason
	ReasonEvaluation     = "EvaluationFailed"        // it is unknown whether one of the risks applies
	ReasonMultiple       = "MultipleReasons"         // several of these
	messageNotExposed    = "The update is recommended, because none of the conditional update risks apply to this cluster."
	messageAccepted      = "The update is recommended, because either risk does not apply to this cluster or it is accepted by cluster admins."
	messageUnconditional = "The update is recommended for every cluster."
)

// Exposure says whether a cluster is exposed to one risk of an update.
type Exposure struct {
	Risk     string          `json:"risk"`              // its name
	Applies  ConditionStatus `json:"applies"`           // True if the cluster is exposed
	Accepted bool            `json:"accepted"`          // the administrator accepts the risk
	Message  string          `json:"message,omitempty"` // what may go wrong, or why that is unknown
}

// Recommendation is the condition Recommended of an update.
type Recommendation struct {
	Status    ConditionStatus `json:"status"`              // whether the update is recommended
	Reason    string          `json:"reason"`              // one word for programs
	Message   string          `json:"message"`             // for people
	Exposures []Exposure      `json:"exposures,omitempty"` // one for each risk, in their order
}

// Recommend decides whether an update is recommended for a cluster, given the
// results of rules in e. accepted are the names of risks that the
// administrator accepts.
//
//  1. A risk that applies makes it False; one that may apply makes it Unknown.
//     False prevails.
//  2. An accepted risk does neither.
//  3. The reason is the name of the risk, if that can be one; if there are
//     several different reasons, it is MultipleReasons.
func (e Evaluations) Recommend(u Update, accepted []string) Recommendation {
	if len(u.Risks) == 0 {
		return Recommendation{Status: fairlead.ConditionTrue, Reason: ReasonNotExposed, Message: messageUnconditional}
	}
	out := Recommendation{Status: fairlead.ConditionTrue, Reason: ReasonNotExposed}
	var messages []string
	for _, r := range u.Risks {
		x, reason := e.exposure(r, slices.Contains(accepted, r.Name))
		out.Exposures = append(out.Exposures, x)
		out.Reason = stronger(out.Reason, reason)
		if x.Accepted || x.Applies == fairlead.ConditionFalse {
			continue
		}
		messages = append(messages, x.Message)
		if x.Applies == fairlead.ConditionTrue {
			out.Status = fairlead.ConditionFalse
		} else if out.Status == fairlead.ConditionTrue {
			out.Status = fairlead.ConditionUnknown
		}
	}
	switch {
	case len(messages) > 0:
		out.Message = strings.Join(messages, "\n\n")
	case out.Reason == ReasonAccepted:
		out.Message = messageAccepted
	default:
		out.Message = messageNotExposed
	}
	return out
}

// exposure evaluates one risk, and returns its reason.
func (e Evaluations) exposure(r Risk, accepted bool) (Exposure, string) {
	result, why := e.exposed(r)
	x := Exposure{Risk: r.Name}
	reason := ""
	switch result {
	case NotMatch:
		x.Applies = fairlead.ConditionFalse
		return x, ReasonNotExposed
	case Match:
		x.Applies, x.Message = fairlead.ConditionTrue, strings.TrimSpace(r.Message+" "+r.URL)
		reason = r.Name
		if !validReason.MatchString(reason) {
			reason = ReasonExposed
		}
	default:
		x.Applies, reason = fairlead.ConditionUnknown, ReasonEvaluation
		x.Message = "Could not evaluate exposure to update risk " + r.Name + " (" + why + ")\n  " +
			r.Name + " description: " + r.Message + "\n  " + r.Name + " URL: " + r.URL
	}
	if x.Accepted = accepted; accepted {
		reason = ReasonAccepted
	}
	return x, reason
}

// validReason matches valid reasons of conditions.
var validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// stronger joins the reasons of two risks.
func stronger(a, b string) string {
	for _, weak := range []string{ReasonNotExposed, ReasonAccepted} {
		if a == weak {
			return b
		}
		if b == weak {
			return a
		}
	}
	switch {
	case a == b:
		return a
	case a == ReasonEvaluation && b == ReasonExposed, a == ReasonExposed && b == ReasonEvaluation:
		return ReasonExposed
	}
	return ReasonMultiple
}
