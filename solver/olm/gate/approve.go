package gate

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// ReasonRequiresApproval is the phase of a plan that waits for approval.
const ReasonRequiresApproval = "RequiresApproval"

// Approval returns the approval of a plan for all subscriptions of a namespace:
// automatic, unless one of them is manual. manual contains the names of those
// that are, in the order given.
func Approval(subs []resource.Subscription) (approval resource.Approval, manual []string) {
	for _, s := range subs {
		if s.Spec.InstallPlanApproval == resource.ApprovalManual {
			manual = append(manual, s.Name)
		}
	}
	if manual != nil {
		return resource.ApprovalManual, manual
	}
	return resource.ApprovalAutomatic, nil
}

// Approve decides whether a plan for the subscriptions of a namespace may run:
// its approval must be automatic, or the plan approved.
func Approve(subs []resource.Subscription, approved bool) Verdict {
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
