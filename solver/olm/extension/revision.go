package extension

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
)

// Names of labels, annotations and finalizers: those of OLM v1, except for the last
// two.
const (
	OwnerKindLabel      = "olm.operatorframework.io/owner-kind"       // on revisions and objects: ClusterExtension
	OwnerNameLabel      = "olm.operatorframework.io/owner-name"       // on revisions and objects: the extension's name
	PackageAnnotation   = "olm.operatorframework.io/package-name"     // on revisions: the package
	BundleAnnotation    = "olm.operatorframework.io/bundle-name"      // on revisions: the bundle
	VersionAnnotation   = "olm.operatorframework.io/bundle-version"   // on revisions: its version
	ReleaseAnnotation   = "olm.operatorframework.io/bundle-release"   // on revisions: its release, if it has one
	ReferenceAnnotation = "olm.operatorframework.io/bundle-reference" // on revisions: its image
	Finalizer           = "olm.operatorframework.io/teardown"         // on extensions: objects are deleted first

	// GenerationAnnotation is, on a revision, the generation of the extension that
	// it was made for.
	GenerationAnnotation = "fairlead.io/generation"
	// RollbackAnnotation on an extension requests the objects of an earlier
	// revision, by its number. While it is present, the extension stays at these.
	RollbackAnnotation = "fairlead.io/rollback"
)

// Lifecycle says whether the objects of a revision are reconciled.
type Lifecycle string

// The two lifecycles of a revision. Empty counts as Active.
const (
	Active   Lifecycle = "Active"   // they are
	Archived Lifecycle = "Archived" // a later revision has replaced it; objects that were not taken over are deleted
)

// Revision is one set of objects of an extension: a ClusterObjectSet, with its JSON
// form and inline objects. Its name is the extension's name and its number. The
// objects of a revision never change.
type Revision struct {
	fairlead.ObjectMeta `json:"metadata"`
	Spec                RevisionSpec   `json:"spec"`   // what it holds
	Status              RevisionStatus `json:"status"` // its status
}

// RevisionSpec is what a revision holds.
type RevisionSpec struct {
	Lifecycle     Lifecycle `json:"lifecycleState,omitempty"`          // see Lifecycle
	Revision      int64     `json:"revision"`                          // its number, from 1; never reused
	Phases        []Phase   `json:"phases,omitempty"`                  // its objects, see Phases
	ProgressLimit int32     `json:"progressDeadlineMinutes,omitempty"` // that of the extension when it was created
}

// Phase is a set of objects of a revision that may be applied together.
type Phase struct {
	Name    string        `json:"name"`    // unique in the revision
	Objects []PhaseObject `json:"objects"` // in the order in which they are applied
}

// PhaseObject is an object of a phase.
type PhaseObject struct {
	Object json.RawMessage `json:"object"` // its manifest
}

// RevisionStatus is the status of a revision. Its conditions are Available,
// Progressing, and Succeeded once all of its objects were ready.
type RevisionStatus struct {
	Conditions []fairlead.Condition `json:"conditions,omitempty"` // one of each type
}

// Types of conditions.
const (
	TypeInstalled         = "Installed"         // of an extension: a bundle is installed
	TypeProgressing       = "Progressing"       // of extensions and revisions: whether they make progress
	TypeAvailable         = "Available"         // of a revision, and of an extension as of its revision: the objects are ready
	TypeSucceeded         = "Succeeded"         // of a revision: the objects were ready once
	TypeDeprecated        = "Deprecated"        // of an extension: one of the next three is true
	TypePackageDeprecated = "PackageDeprecated" // its package is deprecated
	TypeChannelDeprecated = "ChannelDeprecated" // a channel that it asks for is deprecated
	TypeBundleDeprecated  = "BundleDeprecated"  // the installed bundle is deprecated
)

// bundle returns what is known about the bundle of a revision.
func (r *Revision) bundle() BundleName {
	b := BundleName{Name: r.Annotations[BundleAnnotation], Version: r.Annotations[VersionAnnotation]}
	if release, ok := r.Annotations[ReleaseAnnotation]; ok {
		b.Release = &release
	}
	return b
}

func (r *Revision) is(kind string) bool {
	c := fairlead.FindCondition(r.Status.Conditions, kind)
	return c != nil && c.Status == fairlead.ConditionTrue
}

// objects returns the objects of a revision, in order.
func (r *Revision) objects() ([]Object, error) {
	var all []Object
	for _, p := range r.Spec.Phases {
		for i, o := range p.Objects {
			ref, err := refOf(o.Object)
			if err != nil {
				return nil, fmt.Errorf("revision %s: phase %s: object %d: %w", r.Name, p.Name, i+1, err)
			}
			all = append(all, Object{ref, o.Object})
		}
	}
	return all, nil
}

// digest is equal for revisions with the same objects in the same phases.
func (r *Revision) digest() string {
	var all []json.RawMessage
	for _, p := range r.Spec.Phases {
		name, _ := json.Marshal(p.Name) // a string: cannot fail
		all = append(all, name)
		for _, o := range p.Objects {
			all = append(all, o.Object)
		}
	}
	return digest(all...)
}

// byNumber sorts revisions, the oldest first.
func byNumber(list []Revision) []*Revision {
	all := make([]*Revision, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	slices.SortStableFunc(all, func(a, b *Revision) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return all
}

// InstalledOf returns what an extension with these revisions has installed, in the
// form of its status; nil for nothing.
func InstalledOf(revisions []Revision) *Installed {
	if r, _ := Current(revisions); r != nil {
		return &Installed{Bundle: r.bundle()}
	}
	return nil
}

// Current returns the newest active revision that has succeeded, nil for none, and
// later ones that are rolling out, the oldest first.
func Current(revisions []Revision) (installed *Revision, rolling []*Revision) {
	for _, r := range byNumber(revisions) {
		switch {
		case r.Spec.Lifecycle == Archived:
		case r.is(TypeSucceeded):
			installed, rolling = r, nil
		default:
			rolling = append(rolling, r)
		}
	}
	return installed, rolling
}
