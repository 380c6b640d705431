package extension

import (
	"slices"
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
	// KeepRevisions is how many of the newest archived revisions are kept for
	// rollbacks. Zero means five.
	KeepRevisions int `json:"keepRevisions,omitempty"`
	// Adopt takes over existing objects that belong to no controller and no other
	// extension. Otherwise they block the rollout.
	Adopt bool `json:"adopt,omitempty"`
	// RemoveUsedCRDs deletes CRDs that have objects, and the objects with them, when
	// the extension is deleted. Otherwise the deletion waits until the objects are
	// gone.
	RemoveUsedCRDs bool `json:"removeUsedCRDs,omitempty"`
	// RequireAccount means that nothing is written or deleted for an extension that
	// names no service account, or no longer does. Otherwise whoever may write extensions can gain the rights of the
	// backend.
	RequireAccount bool `json:"requireAccount,omitempty"`
	// Certificates is the provider of webhook certificates. By default there is none,
	// and bundles with webhooks are rejected.
	Certificates CertificateProvider `json:"certificates,omitempty"`
}

// MarshalJSON writes durations as text, such as 5m0s.
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON has written.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Check says what is wrong with a policy: the error is [fairlead.FieldErrors].
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var errs fairlead.FieldErrors
	if p.MinBackoff < 0 {
		errs.Add("minBackoff", "%v is negative: write a duration of zero or more; zero means a second", p.MinBackoff)
	}
	if p.MaxBackoff < 0 {
		errs.Add("maxBackoff", "%v is negative: write a duration of zero or more; zero means a minute", p.MaxBackoff)
	}
	if p.MaxBackoff > 0 && p.MinBackoff > p.MaxBackoff {
		errs.Add("maxBackoff", "%v is less than minBackoff, %v", p.MaxBackoff, p.MinBackoff)
	}
	if p.KeepRevisions < 0 {
		errs.Add("keepRevisions", "%d is negative: zero means five", p.KeepRevisions)
	}
	if !slices.Contains(certificateProviders(), p.Certificates) {
		errs.Add("certificates", "%q is not a known certificate provider: write %s or %s", p.Certificates, CertManager, ServiceCA)
	}
	return errs.Err()
}

func (p *Policy) complete() Policy {
	var q Policy
	if p != nil {
		q = *p
	}
	if q.KeepRevisions <= 0 {
		q.KeepRevisions = 5
	}
	return q
}

// Decision is what [Step] returns. Blocked says why nothing more happens: the
// removal, or what is asked for, the rollout, what stays of earlier revisions.
type Decision = fairlead.Decision[State, Action]

// Reasons of Blocks.
const (
	ReasonPending      = "ActionPending"            // the effect of an action is not observed yet
	ReasonInvalid      = "InvalidConfiguration"     // the spec of the extension is not valid
	ReasonUnsolved     = "ResolutionFailed"         // no bundle can be chosen
	ReasonNoCatalog    = "NoCatalog"                // what is installed stays, and updates are unknown
	ReasonUnpacking    = "Unpacking"                // the content of the bundle is not unpacked yet
	ReasonUnsupported  = "BundleUnsupported"        // the bundle cannot be installed
	ReasonPreflight    = "PreflightFailed"          // a CRD in use would break, or the service account lacks permissions
	ReasonHeld         = "RolloutFirst"             // another bundle follows when the rollout is over
	ReasonRolledBack   = "RolledBack"               // the extension is kept at an earlier revision
	ReasonNoRevision   = "NoSuchRevision"           // the revision to roll back to does not exist
	ReasonCollision    = "Collision"                // an object exists that belongs to somebody else
	ReasonRollingOut   = "RollingOut"               // an object is not ready
	ReasonDeadline     = "ProgressDeadlineExceeded" // an object is not ready for longer than the extension allows
	ReasonTeardown     = "Teardown"                 // objects are deleted that are no longer needed
	ReasonUsedCRD      = "CRDInUse"                 // a CRD that has objects would be deleted
	theBackend         = "the backend"
	whoeverOwnsTheSpec = "whoever owns the extension"
)
