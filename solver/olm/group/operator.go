package group

import (
	"fmt"
	"slices"
)

// Operator is a CSV as its group sees it.
type Operator struct {
	ObjectMeta `json:"metadata"`
	// InstallModes are those its spec states.
	InstallModes InstallModes `json:"installModes,omitempty"`
	// Owned are the APIs that it provides, in any order.
	Owned []Owned `json:"owned,omitempty"`
	// Phase and Reason are those of its status. A CSV that has not been processed
	// yet has the phase "".
	Phase  string `json:"phase,omitempty"`
	Reason Reason `json:"reason,omitempty"` // see Phase
}

// Owned is an API that an operator provides.
type Owned struct {
	API
	Plural  string `json:"plural"`            // the name of the resource, such as prometheuses
	Service bool   `json:"service,omitempty"` // provided by an aggregated API server, not by a CRD
}

// Provided returns the APIs that the operator provides.
func (o *Operator) Provided() APIs {
	apis := make([]API, len(o.Owned))
	for i, owned := range o.Owned {
		apis[i] = owned.API
	}
	return NewAPIs(apis...)
}

// Copied reports whether the CSV is a copy of one in another namespace.
func (o *Operator) Copied() bool { return o.Reason == ReasonCopied }

// Reason is the reason of a CSV's status.
type Reason string

// The reasons related to groups. Those that fail a CSV are not final: it returns
// to pending once the cause is gone.
const (
	// ReasonCopied marks the copy of a CSV that lives in another namespace.
	ReasonCopied Reason = "Copied"
	// ReasonNoOperatorGroup: the namespace has no group. Create one.
	ReasonNoOperatorGroup Reason = "NoOperatorGroup"
	// ReasonTooManyOperatorGroups: the namespace has several. Delete all but one.
	ReasonTooManyOperatorGroups Reason = "TooManyOperatorGroups"
	// ReasonNoTargetNamespaces: the group's selector picks no namespace.
	ReasonNoTargetNamespaces Reason = "NoTargetNamespaces"
	// ReasonInvalidInstallModes: the CSV states a mode twice.
	ReasonInvalidInstallModes Reason = "InvalidInstallModes"
	// ReasonUnsupportedOperatorGroup: the operator cannot watch what the group
	// selects.
	ReasonUnsupportedOperatorGroup Reason = "UnsupportedOperatorGroup"
	// ReasonInterOperatorGroupOwnerConflict: an overlapping group provides the same
	// API.
	ReasonInterOperatorGroupOwnerConflict Reason = "InterOperatorGroupOwnerConflict"
	// ReasonCannotModifyStatic: the static group's annotation would have to
	// change.
	ReasonCannotModifyStatic Reason = "CannotModifyStaticOperatorGroupProvidedAPIs"
)

var failures = []Reason{
	ReasonNoOperatorGroup, ReasonTooManyOperatorGroups, ReasonNoTargetNamespaces, ReasonInvalidInstallModes,
	ReasonUnsupportedOperatorGroup, ReasonInterOperatorGroupOwnerConflict, ReasonCannotModifyStatic,
}

// Failure reports whether a CSV that fails for this reason fails because of its
// group.
func (r Reason) Failure() bool { return slices.Contains(failures, r) }

// SoleError says that a namespace does not have exactly one group.
type SoleError struct {
	Namespace string   // the namespace
	Found     []string // the names of its groups, in the order given
}

// Error implements error.
func (e *SoleError) Error() string {
	if len(e.Found) == 0 {
		return fmt.Sprintf("namespace %s: no operator group manages it; create one", e.Namespace)
	}
	return fmt.Sprintf("namespace %s: more than one operator group manages it, count=%d: %s; delete all but one",
		e.Namespace, len(e.Found), list(e.Found))
}

// Reason returns the reason that CSVs in the namespace fail for.
func (e *SoleError) Reason() Reason {
	if len(e.Found) == 0 {
		return ReasonNoOperatorGroup
	}
	return ReasonTooManyOperatorGroups
}

// Sole returns the group of a namespace as a pointer into groups. A namespace in
// which operators are installed must have exactly one; otherwise the error is a
// *SoleError.
func Sole(groups []OperatorGroup, namespace string) (*OperatorGroup, error) {
	var found []string
	var sole *OperatorGroup
	for i := range groups {
		if groups[i].Namespace == namespace {
			sole = &groups[i]
			found = append(found, groups[i].Name)
		}
	}
	if len(found) != 1 {
		return nil, &SoleError{Namespace: namespace, Found: found}
	}
	return sole, nil
}
