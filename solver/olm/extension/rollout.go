package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// progress is the progress of a revision.
type progress struct {
	reached map[Ref]bool // objects of the phases up to the current one
	unready []string     // why objects are not ready
	missing bool         // an object is missing or differs
}

func (p *progress) complete() bool { return !p.missing && len(p.unready) == 0 }

// rollout applies the newest revision, phase after phase, and reconciles the
// installed one until the newest has replaced it.
func (s *stepper) rollout(r *Revision) {
	done := r.is(TypeSucceeded)
	p := s.apply(r)
	if old := s.installed; old != nil && old != r {
		s.maintain(old, p)
	}
	late := false
	if done || p.complete() {
		s.state.Rollout = Rollout{}
	} else {
		late = s.deadline(r)
	}
	s.reportRevision(r, s.conditions(r, p, late))
	for _, o := range byNumber(s.Revisions) {
		switch {
		case o == r:
		case o.Spec.Lifecycle != Archived && done:
			message := s.doing(ArchiveRevision{o.Name, o.ResourceVersion}, "revision "+r.Name+" has replaced "+o.Name)
			s.wait("revision "+o.Name, ReasonPending, message, theBackend, "wait until it is seen as archived")
		case o.Spec.Lifecycle == Archived:
			s.reportRevision(o, s.archived(o))
		}
	}
}

// deadline tracks the time of a rollout, and reports whether it takes too long.
func (s *stepper) deadline(r *Revision) bool {
	if s.state.Rollout.Revision != r.Name {
		s.state.Rollout = Rollout{Revision: r.Name, Since: s.Now()}
		if !r.CreationTimestamp.IsZero() {
			s.state.Rollout.Since = r.CreationTimestamp
		}
	}
	s.state.Rollout.Since = fairlead.Past(s.state.Rollout.Since, s.Now())
	limit := time.Duration(r.Spec.ProgressLimit) * time.Minute
	end := s.state.Rollout.Since.Add(limit)
	if limit <= 0 {
		return false
	}
	if s.Now().Before(end) {
		s.At(end)
		return false
	}
	s.wait("revision "+r.Name, ReasonDeadline, fmt.Sprintf("it has not rolled out within %d minutes", r.Spec.ProgressLimit), whoeverOwnsTheSpec,
		"fix what blocks it, ask for another version, or name an earlier revision in annotation "+RollbackAnnotation)
	return true
}

// apply reconciles the objects of a revision. Until it has succeeded, a phase
// starts when those before it are ready.
func (s *stepper) apply(r *Revision) *progress {
	p := &progress{reached: map[Ref]bool{}}
	objects, err := r.objects()
	if err != nil {
		s.wait("revision "+r.Name, ReasonUnsupported, err.Error(), "whoever has changed it", "another version is asked for")
		p.missing = true
		return p
	}
	for _, phase := range r.Spec.Phases {
		for range phase.Objects {
			p.reached[objects[0].Ref] = true
			s.ensure(r, objects[0], p)
			objects = objects[1:]
		}
		if !p.complete() && !r.is(TypeSucceeded) {
			break
		}
	}
	return p
}

// ensure reconciles one object.
func (s *stepper) ensure(r *Revision, o Object, p *progress) {
	subject := "revision " + r.Name
	is, sum := s.object(o.Ref), digest(o.Manifest)
	switch {
	case s.collides(o.Ref, is):
		p.missing = true
		p.unready = append(p.unready, o.Ref.String()+" belongs to somebody else")
	case is != nil && is.Deleting:
		p.missing = true
		s.wait(subject, ReasonRollingOut, o.Ref.String()+" is being deleted, and will be recreated", "whoever holds its finalizers", "it is gone")
	case is == nil || is.Digest != sum || is.Controller != r.Name:
		p.missing = true
		if text := s.unsafe(o, is); text != "" {
			p.unready = append(p.unready, text)
			s.hold(ReasonPreflight, text, "whoever owns the objects of the CRD", "fix this first; it is not applied until then", trouble{})
			return
		}
		if err := s.denied(r, o); err != nil {
			p.unready = append(p.unready, err.Error())
			s.hold(ReasonPreflight, err.Error(), whoeverOwnsTheSpec, "fix this first; it is not applied until then", trouble{})
			return
		}
		a := ApplyObject{Ref: o.Ref, Revision: r.Name, Manifest: o.Manifest, Digest: sum, As: s.account(o.Ref)}
		if is != nil {
			a.ResourceVersion = is.ResourceVersion
		}
		s.wait(subject, ReasonPending, s.doing(a, o.Ref.String()+" is not up to date"), theBackend, "wait until it is written")
	case !is.Ready:
		text := strings.TrimSuffix(o.Ref.String()+" is not ready: "+is.Detail, ": ")
		p.unready = append(p.unready, text)
		s.wait(subject, ReasonRollingOut, text, o.Ref.String(), "wait until it is ready")
	}
}

// unsafe says what a changed CRD would break: the result of preflights may be
// out of date.
func (s *stepper) unsafe(o Object, is *Observed) string {
	if o.Kind != kindCRD || is == nil || !strict(s.x) {
		return ""
	}
	var next crd.Definition
	if err := json.Unmarshal(o.Manifest, &next); err != nil {
		return err.Error()
	}
	return strings.Join(s.Cluster.breaks(&next), "; ")
}

// denied says why the service account may not write an object of a revision, or returns
// nil: the result of preflights may be out of date. Roles that the revision has count.
func (s *stepper) denied(r *Revision, o Object) error {
	switch {
	case s.nameless():
		return errors.New(noAccount)
	case s.x.Spec.ServiceAccount.Name == "" || o.Kind == kindCRD:
		return nil
	}
	objects, err := r.objects()
	if err != nil {
		return err
	}
	var steps []scope.Step
	for _, other := range objects {
		if other.Ref != o.Ref && other.Group != rbac {
			continue
		}
		step, err := scope.StepOf(other.Manifest, other.Namespace, s.object(other.Ref) != nil)
		if err != nil {
			return err
		}
		steps = append(steps, step)
	}
	err = s.Cluster.judge(s.x, steps...)
	var refused *scope.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	mine := slices.DeleteFunc(refused.Refusals, func(x scope.Refusal) bool {
		return Ref{Group: x.Step.Group, Kind: x.Step.Kind, Namespace: x.Step.Namespace, Name: x.Step.Name} != o.Ref
	})
	if len(mine) == 0 {
		return nil
	}
	return &scope.RefusedError{Account: refused.Account, Refusals: mine}
}

// maintain reconciles the objects of an earlier revision that the newest one
// has not reached yet.
func (s *stepper) maintain(r *Revision, newest *progress) {
	objects, err := r.objects()
	if err != nil {
		return // it is reported for the newest
	}
	for _, o := range objects {
		if !newest.reached[o.Ref] {
			s.ensure(r, o, &progress{})
		}
	}
}

// conditions are those of the newest revision.
func (s *stepper) conditions(r *Revision, p *progress, late bool) []fairlead.Condition {
	list := r.Status.Conditions
	set := func(kind string, status fairlead.ConditionStatus, reason, message string) {
		list = s.set(list, fairlead.Condition{Type: kind, Status: status, Reason: reason, Message: message})
	}
	version := r.bundle().Version
	rolling := "Revision " + version + " is rolling out."
	switch {
	case p.complete():
		set(TypeProgressing, fairlead.ConditionTrue, "Succeeded", "Revision "+version+" has rolled out.")
		set(TypeAvailable, fairlead.ConditionTrue, "ProbesSucceeded", "Objects are available and pass all probes.")
		set(TypeSucceeded, fairlead.ConditionTrue, "Succeeded", "Revision succeeded rolling out.")
		return list
	case late:
		set(TypeProgressing, fairlead.ConditionFalse, ReasonDeadline, fmt.Sprintf("Revision has not rolled out for %d minute(s).", r.Spec.ProgressLimit))
	default:
		set(TypeProgressing, fairlead.ConditionTrue, "RollingOut", rolling)
	}
	if len(p.unready) > 0 {
		set(TypeAvailable, fairlead.ConditionFalse, "ProbeFailure", strings.Join(p.unready, "\n"))
	} else {
		set(TypeAvailable, fairlead.ConditionFalse, "RollingOut", rolling)
	}
	return list
}

// archived are the conditions of an archived revision.
func (s *stepper) archived(r *Revision) []fairlead.Condition {
	list := s.set(r.Status.Conditions, fairlead.Condition{Type: TypeAvailable, Status: fairlead.ConditionUnknown, Reason: "Archived", Message: "revision is archived"})
	return s.set(list, fairlead.Condition{Type: TypeProgressing, Status: fairlead.ConditionFalse, Reason: "Archived", Message: "revision is archived"})
}

// set puts a condition into a list, with a message no longer than the API
// allows.
func (s *stepper) set(list []fairlead.Condition, c fairlead.Condition) []fairlead.Condition {
	c.Message = words.Clip(c.Message, maxMessage)
	c.LastTransitionTime = s.Now().Truncate(time.Second)
	return fairlead.SetCondition(list, c)
}

// maxMessage is the longest message of a condition, without the trailing dots.
const maxMessage = 32768 - 3

func (s *stepper) reportRevision(r *Revision, conditions []fairlead.Condition) {
	if !slices.Equal(conditions, r.Status.Conditions) {
		message := s.doing(ReportRevision{r.Name, r.ResourceVersion, RevisionStatus{conditions}}, "its status is not observed yet")
		s.wait("revision "+r.Name, ReasonPending, message, theBackend, "wait until its status is observed")
	}
}
