package extension

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
)

// target is what an extension should have.
type target struct {
	bundle    BundleName
	pkg       string
	reference string
	phases    []Phase
	back      bool // it is that of an earlier revision
}

// hold says why the requested target is not started.
func (s *stepper) hold(reason, message, owner, unblock string, t trouble) *target {
	if s.trouble != nil && s.trouble.message == message {
		return nil // said of another object
	}
	s.wait(s.subject(), reason, message, owner, unblock)
	if t.message == "" {
		t.message = message
	}
	s.trouble = &t
	return nil
}

// target returns what the extension should have, or nil if that is unknown or
// impossible.
func (s *stepper) target() *target {
	if text, ok := s.x.Annotations[RollbackAnnotation]; ok {
		return s.earlier(text)
	}
	settings, err := ReadSettings(s.x.Spec.Config)
	if err == nil {
		_, err = QuestionOf(s.x)
	}
	if err != nil {
		return s.hold(ReasonInvalid, err.Error(), whoeverOwnsTheSpec, "correct its spec", trouble{final: true, reason: ReasonInvalid})
	}
	c := s.chosen()
	if c == nil {
		return nil
	}
	has := s.latest != nil && s.latest.bundle().Name == c.Name && s.latest.Annotations[ReferenceAnnotation] == c.Reference
	if has && s.latest.Annotations[GenerationAnnotation] == strconv.FormatInt(s.x.Generation, 10) {
		return nil // it was made from that, for this very spec
	}
	content := s.content(c)
	if content == nil || content.Manifests == nil {
		ask := Unpack{*c}
		if s.Due(ask.Key()) {
			s.unpacks = append(s.unpacks, ask)
		}
		message := s.Because("the content of bundle "+c.Name+" is not unpacked yet", ask.Key())
		if content != nil && content.Error != "" {
			message = "bundle " + c.Name + " could not be unpacked: " + content.Error
		}
		s.wait(s.subject(), ReasonUnpacking, message, theBackend, "wait until the content is unpacked")
		if !has || content != nil && content.Error != "" {
			s.trouble = &trouble{message: s.about(c.BundleName, message)}
		}
		return nil
	}
	b, err := ReadBundle(content.Manifests)
	if settings.Certificates = s.policy.Certificates; err == nil {
		err = b.unserved(settings.Certificates)
	}
	if err != nil {
		return s.unusable(c, ReasonUnsupported, "Blocked", fmt.Errorf("bundle %s cannot be installed: %w", c.Name, err), "the authors of the bundle", "another version is asked for")
	}
	objects, err := b.Render(s.x.Spec.Namespace, settings)
	if err != nil {
		return s.unusable(c, ReasonInvalid, ReasonInvalid, fmt.Errorf("bundle %s: %w", c.Name, err), whoeverOwnsTheSpec, "correct spec.config, or ask for another version")
	}
	return &target{bundle: c.BundleName, pkg: c.Package, reference: c.Reference, phases: Phases(objects)}
}

func (s *stepper) unusable(c *Choice, reason, condition string, err error, owner, unblock string) *target {
	return s.hold(reason, err.Error(), owner, unblock, trouble{message: s.about(c.BundleName, err.Error()), final: true, reason: condition})
}

// about prefixes a message with the bundle it is about.
func (s *stepper) about(b BundleName, message string) string {
	return fmt.Sprintf("error for resolved bundle %q with version %q: %s", b.Name, b.Version, message)
}

// chosen is the resolver's choice, or nil after reporting the reason.
func (s *stepper) chosen() *Choice {
	switch a := s.Answer; {
	case a == nil:
		s.hold(ReasonUnsolved, "the resolver was not asked", "the runner", "the resolver answers", trouble{})
	case a.Choice != nil:
		return a.Choice
	case a.Catalogs == 0 && s.satisfied():
		s.wait(s.subject(), ReasonNoCatalog, "no catalog matches its selector: what is installed stays, and updates are unknown", "whoever owns the catalogs", "add a catalog that matches spec.source.catalog.selector, or correct the selector")
	default:
		if a.Again {
			s.At(s.Now().Add(fairlead.Backoff{Min: s.policy.MinBackoff, Max: s.policy.MaxBackoff}.After(1 << 10)))
		}
		s.hold(ReasonUnsolved, a.Refusal, whoeverOwnsTheSpec+" or the catalogs", "ask for another version or channel, or add the requested one to a catalog", trouble{})
	}
	return nil
}

// satisfied reports whether something is installed, and no other version is
// requested.
func (s *stepper) satisfied() bool {
	if s.installed == nil {
		return false
	}
	f := s.x.Spec.Source.Catalog
	return f == nil || f.Version == "" || f.Version == s.installed.bundle().Version
}

// earlier is the content of an earlier revision.
func (s *stepper) earlier(text string) *target {
	n, err := strconv.ParseInt(text, 10, 64)
	var known []string
	for _, r := range byNumber(s.Revisions) {
		if err == nil && r.Spec.Revision == n {
			if r == s.latest || s.latest != nil && r.digest() == s.latest.digest() {
				s.wait(s.subject(), ReasonRolledBack, fmt.Sprintf("it is kept at the content of revision %d (%s); updates are not resolved", n, r.bundle().Name), whoeverOwnsTheSpec, "annotation "+RollbackAnnotation+" is removed")
			}
			return &target{bundle: r.bundle(), pkg: r.Annotations[PackageAnnotation], reference: r.Annotations[ReferenceAnnotation], phases: r.Spec.Phases, back: true}
		}
		known = append(known, fmt.Sprintf("%d (%s)", r.Spec.Revision, r.bundle().Name))
	}
	return s.hold(ReasonNoRevision, fmt.Sprintf("annotation %s asks for revision %q, which does not exist; available are %v", RollbackAnnotation, text, known), whoeverOwnsTheSpec, "correct the annotation, or remove it", trouble{final: true, reason: "Blocked"})
}

// revision makes the revision for a target.
func (s *stepper) revision(t *target, number int64) Revision {
	yes := true
	r := Revision{}
	r.Name = fmt.Sprintf("%s-%d", s.x.Name, number)
	r.Labels = map[string]string{OwnerKindLabel: "ClusterExtension", OwnerNameLabel: s.x.Name}
	r.Annotations = map[string]string{
		PackageAnnotation: t.pkg, BundleAnnotation: t.bundle.Name, VersionAnnotation: t.bundle.Version, ReferenceAnnotation: t.reference,
		GenerationAnnotation: strconv.FormatInt(s.x.Generation, 10),
	}
	if t.bundle.Release != nil {
		r.Annotations[ReleaseAnnotation] = *t.bundle.Release
	}
	r.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterExtension", Name: s.x.Name, UID: s.x.UID, Controller: &yes}}
	r.Spec = RevisionSpec{Lifecycle: Active, Revision: number, Phases: t.phases, ProgressLimit: s.x.Spec.ProgressLimit}
	return r
}

// begin creates a revision for a target, unless the newest one already is it, or
// something prevents it.
func (s *stepper) begin(t *target) {
	next := s.revision(t, s.state.Revision+1)
	sum := next.digest()
	if s.state.Digest == sum {
		next = s.revision(t, s.state.Revision) // it was decided on, but is not observed yet
	}
	if r := s.latest; r != nil {
		if r.digest() == sum && r.bundle().Name == t.bundle.Name {
			return
		}
		if len(s.rolling) > 0 && !t.back && r.Annotations[GenerationAnnotation] == next.Annotations[GenerationAnnotation] && !s.late(r) {
			s.wait(s.subject(), ReasonHeld, fmt.Sprintf("%s follows when revision %s has rolled out", t.bundle.Name, r.Name), "", "wait until that rolls out or misses its progress deadline, or change the spec of the extension")
			return
		}
	}
	objects, err := next.objects()
	if err != nil {
		s.hold(ReasonUnsupported, err.Error(), "the authors of the bundle", "another version is asked for", trouble{final: true, reason: "Blocked"})
		return
	}
	taken := false
	for _, o := range objects {
		taken = s.collides(o.Ref, s.object(o.Ref)) || taken
	}
	around := s.Cluster
	around.Existing = nil
	for i := range s.Objects {
		around.Existing = append(around.Existing, Object{Ref: s.Objects[i].Ref})
	}
	problems, err := Preflight(s.x, objects, &around)
	if s.nameless() {
		problems = append(problems, noAccount)
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		s.hold(ReasonPreflight, p, whoeverOwnsTheSpec, "fix this first; nothing of "+t.bundle.Name+" is applied until then", trouble{message: s.about(t.bundle, p)})
	}
	if taken || len(problems) > 0 {
		return
	}
	s.state.Revision, s.state.Digest = next.Spec.Revision, sum
	message := s.doing(CreateRevision{next}, "revision "+next.Name+" of bundle "+t.bundle.Name+" is not observed yet")
	s.wait(s.subject(), ReasonPending, message, theBackend, "wait until the revision is observed")
}

// collides reports whether an object is in the way, and says so.
func (s *stepper) collides(r Ref, o *Observed) bool {
	adopts := s.policy.Adopt && (r.Kind != kindCRD || s.x.Spec.ServiceAccount.Name == "") // CRDs are not written in the account's name
	if o == nil || o.Owner == s.x.Name || adopts && o.Owner == "" && o.Controller == "" {
		return false
	}
	whose := o.Controller
	if o.Owner != "" {
		whose = "clusterextension " + o.Owner
	}
	message := fmt.Sprintf("%s already exists and belongs to %s", r, cmp.Or(whose, "nobody in particular"))
	s.hold(ReasonCollision, message, whose, "delete it, or ask for another version", trouble{})
	return true
}

// late reports whether a revision has missed its progress deadline.
func (s *stepper) late(r *Revision) bool {
	c := fairlead.FindCondition(r.Status.Conditions, TypeProgressing)
	return c != nil && c.Reason == ReasonDeadline
}

// Rollback returns the obstacles to a rollback to a revision of the extension, by
// its number: the findings of preflights. The error says that there is no such
// revision.
func (w *World) Rollback(number int64) (problems []string, err error) {
	i := slices.IndexFunc(w.Revisions, func(r Revision) bool { return r.Spec.Revision == number })
	if i < 0 || w.Extension == nil {
		return nil, fmt.Errorf("there is no revision %d", number)
	}
	objects, err := w.Revisions[i].objects()
	if err != nil {
		return nil, err
	}
	return Preflight(w.Extension, objects, &w.Cluster)
}
