package extension

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
)

const kindCRD = "CustomResourceDefinition"

// used returns how many objects a CRD has.
func (s *stepper) used(o *Observed) int {
	n := 0
	for i := range s.Cluster.Resources {
		if o.Kind == kindCRD && s.Cluster.Resources[i].CRD == o.Name {
			n++
		}
	}
	return n
}

// usedCRD says that a CRD stays because it has objects.
func (s *stepper) usedCRD(o *Observed, n int, why string) {
	s.wait(s.subject(), ReasonUsedCRD, fmt.Sprintf("%s %s, but %s", o.Ref, why, words.Count(n, "object of it exists", "objects of it exist")), "whoever owns the objects", "delete these objects first: they would be lost with the CRD")
}

// account returns in whose name an object is written and deleted; "" means with the backend's own
// rights.
func (s *stepper) account(r Ref) string {
	if r.Kind == kindCRD {
		return ""
	}
	return s.x.Spec.ServiceAccount.Name
}

// nameless reports whether nothing may be written or deleted, because the extension names no account:
// not even of what is installed, as it would be with the backend's own rights.
func (s *stepper) nameless() bool {
	return s.policy.RequireAccount && s.x.Spec.ServiceAccount.Name == ""
}

const noAccount = "it names no service account, and the policy requires one; set spec.serviceAccount.name"

// drop removes an object, and reports it.
func (s *stepper) drop(o *Observed) {
	if o.Deleting {
		s.wait(s.subject(), ReasonTeardown, o.Ref.String()+" is being deleted", "whoever holds its finalizers", "it is gone")
		return
	}
	if s.nameless() {
		s.hold(ReasonPreflight, noAccount, whoeverOwnsTheSpec, "fix this first; nothing of it is deleted until then", trouble{})
		return
	}
	a := DeleteObject{Ref: o.Ref, UID: o.UID, ResourceVersion: o.ResourceVersion, As: s.account(o.Ref)}
	message := s.doing(a, o.Ref.String()+" is obsolete")
	if last := s.Outcome(a.Key()); a.As != "" && last != nil && last.Code == 403 {
		s.hold(ReasonTeardown, message, whoeverOwnsTheSpec, fmt.Sprintf("let service account %s/%s delete it, or name one that may", s.x.Spec.Namespace, a.As), trouble{})
		return
	}
	s.wait(s.subject(), ReasonTeardown, message, theBackend, "wait until it is gone")
}

// cleanup removes what earlier revisions have left, once the newest has replaced
// them, and surplus revisions.
func (s *stepper) cleanup() {
	r := s.latest
	objects, err := r.objects()
	if err != nil || !r.is(TypeSucceeded) {
		return
	}
	controls := map[string]bool{}
	for i := range s.Objects {
		o := &s.Objects[i]
		if o.Owner != s.x.Name {
			continue
		}
		controls[o.Controller] = true
		if slices.ContainsFunc(objects, func(w Object) bool { return w.Ref == o.Ref }) {
			continue
		}
		if n := s.used(o); n > 0 {
			s.usedCRD(o, n, "is not in "+r.bundle().Name+" any more")
			continue
		}
		s.drop(o)
	}
	var old []*Revision
	for _, o := range byNumber(s.Revisions) {
		if o.Spec.Lifecycle == Archived {
			old = append(old, o)
		}
	}
	for i, o := range old {
		if i < len(old)-s.policy.KeepRevisions && !controls[o.Name] && s.x.Annotations[RollbackAnnotation] != fmt.Sprint(o.Spec.Revision) {
			s.wait("revision "+o.Name, ReasonPending, s.doing(DeleteRevision{o.Name, o.ResourceVersion}, "it is too old to be kept"), theBackend, "wait until it is gone")
		}
	}
}

// remove deletes everything that the extension has, and then releases it: nothing
// while its CRDs have objects; then the objects of its revisions, the last phase
// first; then the revisions; then its finalizer.
func (s *stepper) remove() {
	var last []*Observed
	at := -1
	inUse := false
	for i := range s.Objects {
		o := &s.Objects[i]
		if o.Owner != s.x.Name {
			continue
		}
		if n := s.used(o); n > 0 && !s.policy.RemoveUsedCRDs {
			s.usedCRD(o, n, "is deleted with the extension")
			inUse = true
		}
		switch n := slices.Index(phaseNames(), phaseOf(o.Ref)); {
		case n > at:
			at, last = n, []*Observed{o}
		case n == at:
			last = append(last, o)
		}
	}
	if inUse {
		s.trouble = &trouble{final: true, reason: "Blocked", message: "it cannot be deleted, because its CRDs have objects"}
		s.report()
		return
	}
	ready := true
	for _, r := range byNumber(s.Revisions) {
		if r.Spec.Lifecycle != Archived {
			ready = false
			s.wait("revision "+r.Name, ReasonPending, s.doing(ArchiveRevision{r.Name, r.ResourceVersion}, "its objects must be removed"), theBackend, "wait until it is observed as archived")
		}
	}
	if !ready {
		return // nothing may recreate objects while they are deleted
	}
	for _, o := range last {
		s.drop(o)
	}
	if s.trouble != nil {
		s.report()
	}
	if last != nil {
		return
	}
	for _, r := range byNumber(s.Revisions) {
		s.wait("revision "+r.Name, ReasonPending, s.doing(DeleteRevision{r.Name, r.ResourceVersion}, "its objects are gone"), theBackend, "wait until it is gone")
	}
	if len(s.Revisions) == 0 {
		s.wait(s.subject(), ReasonPending, s.doing(SetFinalizer{ResourceVersion: s.x.ResourceVersion}, "nothing of it is left"), theBackend, "wait until the extension is gone")
	}
}
