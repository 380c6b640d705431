package install

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
)

// Policy is how the engine decides. The zero value is usable, and nil means the
// same. In JSON durations are written as in "5m0s".
type Policy struct {
	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means a minute.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// InstallTimeout is how long deployments may take to become ready. After that
	// the CSV has failed, and is retried. Zero means five minutes.
	InstallTimeout time.Duration `json:"installTimeout,omitempty"`
	// MissingPlanTimeout is how long a plan that is being carried out may be
	// missing before it is abandoned. Zero means a minute.
	MissingPlanTimeout time.Duration `json:"missingPlanTimeout,omitempty"`
	// PlanTimeout is how long a plan may take from its first step; after that it
	// has failed. Zero means ten minutes, a negative one no limit.
	PlanTimeout time.Duration `json:"planTimeout,omitempty"`
	// StepAttempts is how often a step may be tried before its plan fails. Zero
	// means that only PlanTimeout limits it.
	StepAttempts int `json:"stepAttempts,omitempty"`
	// CertificateLifetime is the lifetime of certificates; they are replaced after
	// two thirds of it. Zero means 730 days.
	CertificateLifetime time.Duration `json:"certificateLifetime,omitempty"`
	// ResolveTimeout is how long the resolver may take for a namespace; after that
	// nothing is chosen, and resolution is retried. Zero means a minute.
	ResolveTimeout time.Duration `json:"resolveTimeout,omitempty"`
	// KeepUnneeded is how long the operator of a subscription that was made for a
	// dependency (recognized by its name, PACKAGE-CHANNEL-SOURCE) is kept when no
	// operator of the namespace requires it any longer; then it is uninstalled.
	// Zero means no limit. An operator whose CRDs have objects stays.
	KeepUnneeded time.Duration `json:"keepUnneeded,omitempty"`
	// KeepPlans is how many of the newest plans are kept. Zero means five. Plans
	// that installed an existing operator, and failed plans that nothing has
	// superseded, are also kept.
	KeepPlans int `json:"keepPlans,omitempty"`
	// RequireAccount means that nothing is installed in a namespace whose operator
	// group names no service account, except in those of Unlimited. Otherwise
	// whoever may write operator groups can gain the rights of the backend.
	RequireAccount bool     `json:"requireAccount,omitempty"`
	Unlimited      []string `json:"unlimited,omitempty"` // see RequireAccount
}

// MarshalJSON writes durations as text, such as 5m0s.
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON has written.
func (p *Policy) UnmarshalJSON(data []byte) error {
	return durations.Unmarshal(data, p)
}

// Check says what is wrong with a policy: the error is [fairlead.FieldErrors].
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var errs fairlead.FieldErrors
	for _, d := range []struct {
		path string
		is   time.Duration
	}{
		{"minBackoff", p.MinBackoff}, {"maxBackoff", p.MaxBackoff}, {"installTimeout", p.InstallTimeout},
		{"missingPlanTimeout", p.MissingPlanTimeout}, {"certificateLifetime", p.CertificateLifetime}, {"resolveTimeout", p.ResolveTimeout},
		{"keepUnneeded", p.KeepUnneeded},
	} {
		if d.is < 0 {
			errs.Add(d.path, "%v is negative: write a duration of zero or more; zero means the default", d.is)
		}
	}
	if p.MaxBackoff > 0 && p.MinBackoff > p.MaxBackoff {
		errs.Add("maxBackoff", "%v is less than minBackoff, %v", p.MaxBackoff, p.MinBackoff)
	}
	for _, n := range []struct {
		path string
		is   int
	}{{"stepAttempts", p.StepAttempts}, {"keepPlans", p.KeepPlans}} {
		if n.is < 0 {
			errs.Add(n.path, "%d is negative: zero means the default", n.is)
		}
	}
	return errs.Err()
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
	or(&q.InstallTimeout, 5*time.Minute)
	or(&q.MissingPlanTimeout, time.Minute)
	or(&q.ResolveTimeout, time.Minute)
	or(&q.CertificateLifetime, 730*24*time.Hour)
	if q.PlanTimeout == 0 {
		q.PlanTimeout = 10 * time.Minute
	}
	if q.KeepPlans <= 0 {
		q.KeepPlans = 5
	}
	return q
}

// backoff is the delay before an action that had no effect is retried.
func (p *Policy) backoff() fairlead.Backoff {
	return fairlead.Backoff{Min: p.MinBackoff, Max: p.MaxBackoff}
}

// Decision is what [Step] returns. Blocked says why nothing more happens: the
// removal, operator groups, CSVs by name, operator conditions, the plan,
// subscriptions, generated objects, catalogs, the cluster.
type Decision = fairlead.Decision[State, Action]

// Reasons of Blocks. Those of a CSV that waits are the reasons of its status.
const (
	ReasonUnsatisfiable   = "ConstraintsNotSatisfiable" // nothing satisfies the subscriptions
	ReasonResolutionError = "ErrorPreventedResolution"  // the resolver failed
	ReasonHeld            = "UpdateHeld"                // there is a newer version that cannot be installed
	ReasonUnpacking       = "BundleUnpacking"           // the content of a bundle is not unpacked yet
	ReasonUnpackFailed    = "BundleUnpackFailed"        // and the last attempt failed
	ReasonContentInvalid  = "BundleInvalid"             // no plan can be made from the content of a bundle
	ReasonPlanPending     = "InstallPlanPending"        // the plan is not observed in the cluster yet
	ReasonPlanHeld        = "InstallPlanHeld"           // it is not known whether the plan is still wanted
	ReasonPlanMissing     = "InstallPlanMissing"        // the plan was deleted while it was carried out
	ReasonPlanChanged     = "InstallPlanChanged"        // its steps were changed after it was made, so it is not applied
	ReasonApproval        = "RequiresApproval"          // nobody has approved the plan
	ReasonStatusPending   = "SubscriptionUpdatePending" // a subscription's status is not observed yet
	ReasonStepPending     = "StepPending"               // an object is not observed as planned
	ReasonActionPending   = "ActionPending"             // the effect of an action is not observed yet
	ReasonPlanFailed      = "InstallPlanFailed"         // the plan took too long, or a step too many attempts
	ReasonNotPermitted    = "NotPermitted"              // the group's service account may not perform a step of the plan
	ReasonAccountRequired = "ServiceAccountRequired"    // the operator group names no service account, and must
	ReasonUnsafeCRD       = "UnsafeCRD"                 // a step would break a CRD that is in use
	ReasonGroupInvalid    = "OperatorGroupInvalid"      // what an operator group selects cannot be read
	ReasonGenerated       = "GeneratedObjectPending"    // a role or a copy is not up to date
	ReasonNameTaken       = "GeneratedObjectTaken"      // an object of that name belongs to another namespace, or to nobody known
	ReasonNamespaces      = "NamespaceConflict"         // operators of several namespaces conflict
	ReasonRemoving        = "Removing"                  // an operator is being removed
	ReasonRemovalWaits    = "RemovalWaits"              // an operator will be removed when the plan is done
	ReasonUnneeded        = "Unneeded"                  // a dependency that nothing requires any longer will be removed
	ReasonRemovalUnknown  = "RemovalUnknown"            // the annotation that requests a removal is not valid
	ReasonCatalog         = "CatalogUnhealthy"          // a catalog cannot be used
	ReasonCatalogPending  = "CatalogPending"            // a catalog's pod or status is not up to date
)

// theBackend owns Blocks that wait for the effect of an action.
const theBackend = "the backend"
