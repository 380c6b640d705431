package gate

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// ReasonRequiresApproval is the phase of a plan that waits for approval.
const ReasonRequiresApproval = "RequiresApproval"

// Approval returns the approval of a plan for all subscriptions of a namespace:
// automatic, unless one of them is manual. manual contains the names of those
// that are, in the order given.
func Approval(subs []olm.Subscription) (approval olm.Approval, manual []string) {
	for _, s := range subs {
		if s.Spec.InstallPlanApproval == olm.ApprovalManual {
			manual = append(manual, s.Name)
		}
	}
	if manual != nil {
		return olm.ApprovalManual, manual
	}
	return olm.ApprovalAutomatic, nil
}

// Approve decides whether a plan for the subscriptions of a namespace may run:
// its approval must be automatic, or the plan approved.
func Approve(subs []olm.Subscription, approved bool) Verdict {
	_, manual := Approval(subs)
	if manual == nil || approved {
		return Verdict{Open: true}
	}
	return Verdict{
		Reason: ReasonRequiresApproval,
		Message: fmt.Sprintf("the plan waits for approval, since %s ask for it: set spec.approved of the plan, or installPlanApproval of all subscriptions of the namespace to Automatic",
			strings.Join(manual, ", ")),
	}
}
