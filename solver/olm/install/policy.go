package install

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// Policy is how the engine decides. The zero value is useful, and nil counts
// as that.
type Policy struct {
	// MinBackoff is the time from an action that had no effect to the first
	// repetition; it doubles with each. Zero means a second.
	MinBackoff time.Duration
	// MaxBackoff is the longest such time. Zero means a minute.
	MaxBackoff time.Duration
	// InstallTimeout is how long deployments may take to become ready. After
	// that the CSV has failed, and is tried again. Zero means five minutes.
	InstallTimeout time.Duration
	// MissingPlanTimeout is how long a plan that is being carried out may be
	// missing, until it is given up. Zero means a minute.
	MissingPlanTimeout time.Duration
	// PlanTimeout is how long a plan may take from its first step on; after that
	// it has failed. Zero means ten minutes, a negative one no limit.
	PlanTimeout time.Duration
	// StepAttempts is how often a step may be tried until its plan has failed.
	// Zero means no limit but PlanTimeout.
	StepAttempts int
	// Validator judges existing objects by the schemas of a new CRD. Nil means
	// crd.Structural. It must give the same answer each time.
	Validator crd.Validator
	// KeepPlans is how many plans are kept, the newest. Zero means five. Besides
	// them those are kept that brought an operator which is there, and those that
	// have failed and nobody made good.
	KeepPlans int
}

func (p *Policy) complete() Policy {
	var q Policy
	if p != nil {
		q = *p
	}
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	or(&q.MinBackoff, time.Second)
	or(&q.MaxBackoff, time.Minute)
	or(&q.InstallTimeout, 5*time.Minute)
	or(&q.MissingPlanTimeout, time.Minute)
	if q.PlanTimeout == 0 {
		q.PlanTimeout = 10 * time.Minute
	}
	if q.Validator == nil {
		q.Validator = crd.Structural{}
	}
	if q.KeepPlans <= 0 {
		q.KeepPlans = 5
	}
	return q
}

// Decision is what [Step] returns.
type Decision struct {
	State   State    // to be saved before anything is applied
	Actions []Action // to be applied then, in this order
	// Blocked says why nothing more happens: the removal, operator groups, CSVs by
	// name, operator conditions, the plan, subscriptions, generated objects,
	// catalogs, the cluster.
	Blocked []fairlead.Block
	Wake    time.Time // when to look again, zero for an event only
}

// Reasons of Blocks. Those of a CSV that waits are the reasons of its status.
const (
	ReasonUnsatisfiable   = "ConstraintsNotSatisfiable" // nothing satisfies the subscriptions
	ReasonResolutionError = "ErrorPreventedResolution"  // the resolver could not answer
	ReasonHeld            = "UpdateHeld"                // there is a newer version, which cannot be had
	ReasonUnpacking       = "BundleUnpacking"           // the content of a bundle is not there yet
	ReasonUnpackFailed    = "BundleUnpackFailed"        // and the last attempt failed
	ReasonContentInvalid  = "BundleInvalid"             // the content of a bundle makes no plan
	ReasonPlanPending     = "InstallPlanPending"        // the plan is not seen in the cluster yet
	ReasonPlanHeld        = "InstallPlanHeld"           // it is not known whether the plan is still wanted
	ReasonPlanMissing     = "InstallPlanMissing"        // the plan has gone while it was carried out
	ReasonPlanChanged     = "InstallPlanChanged"        // its steps are not those that were planned
	ReasonApproval        = "RequiresApproval"          // nobody has approved the plan
	ReasonStatusPending   = "SubscriptionUpdatePending" // a subscription's status is not seen yet
	ReasonStepPending     = "StepPending"               // an object is not seen as the plan wants it
	ReasonActionPending   = "ActionPending"             // an action has not shown its effect yet
	ReasonPlanFailed      = "InstallPlanFailed"         // the plan took too long, or a step too many attempts
	ReasonNotPermitted    = "NotPermitted"              // the group's service account may not make a step of the plan
	ReasonUnsafeCRD       = "UnsafeCRD"                 // a step would break a CRD that is in use
	ReasonGroupInvalid    = "OperatorGroupInvalid"      // what an operator group selects cannot be read
	ReasonGenerated       = "GeneratedObjectPending"    // a role or a copy is not as it follows from the group
	ReasonNamespaces      = "NamespaceConflict"         // operators of several namespaces do not go together
	ReasonRemoving        = "Removing"                  // an operator is being taken away
	ReasonRemovalWaits    = "RemovalWaits"              // an operator is to be taken away when the plan is done
	ReasonRemovalUnknown  = "RemovalUnknown"            // the annotation that asks for a removal cannot be read
	ReasonCatalog         = "CatalogUnhealthy"          // a catalog cannot be used
	ReasonCatalogPending  = "CatalogPending"            // a catalog's pod or status is not seen as it should be
)

// theBackend owns what waits for an action to show its effect.
const theBackend = "the backend"
