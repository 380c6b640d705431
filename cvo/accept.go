package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
)

// accept takes the requested release from retrieval to acceptance.
func (s *step) accept() {
	if len(s.History) == 0 && s.Work == nil {
		s.History = append([]History(nil), s.w.Cluster.Status.History...) // from before this engine ran
	}
	want, force := s.want()
	switch {
	case want.Image == "":
		s.Next = nil
		s.Block(fairlead.Block{
			Subject: "clusterversion", Reason: "NoDesiredImage", Owner: "administrator",
			Message: "no release is known to apply", Unblock: "set spec.desiredUpdate.image",
		})
		return
	case s.Work != nil && s.Work.Release.Image == want.Image && (want.Version == "" || want.Version == s.Work.Release.Version):
		if s.Next != nil {
			s.Next = nil
			s.accepted(True, AcceptDone, fmt.Sprintf("Payload loaded version=%q image=%q", s.Work.Release.Version, s.Work.Release.Image))
		}
		return
	case s.Work != nil && s.Work.Mode == Initializing:
		s.Block(fairlead.Block{
			Subject: "release " + name(want), Reason: "InstallationUnderWay", Owner: "administrator", Since: s.Work.Begun,
			Message: fmt.Sprintf("the cluster is being installed with %s, and no other release is accepted until that is done", s.Work.Release.Version),
			Unblock: "wait for the installation to end, or request " + s.Work.Release.Version + " again",
		})
		return
	}
	if s.Next == nil || s.Next.Release.Image != want.Image || s.Next.Release.Version != want.Version || s.Next.Force != force {
		s.Next = &Candidate{Release: want, Force: force, Since: s.now}
		if r := s.w.retrieved(want.Image); r != nil {
			s.Next.From = r.Try + 1
		}
	}
	s.retrieve()
}

// want is the release to apply, and whether it is forced. An engine that applies
// nothing yet first adopts what the cluster runs or is being updated to, so that
// this is reconciled even if the requested release is never accepted; unless its
// payload cannot be retrieved any more.
func (s *step) want() (want Release, force bool) {
	want, force = Desire(s.seen(), s.current())
	if s.Work != nil || s.underWay(want) {
		return want, force
	}
	base := s.base()
	if base.Image == "" || SameImage(base.Image, want.Image) {
		return want, force
	}
	if r := s.w.retrieved(base.Image); r != nil && r.Payload == nil {
		return want, force
	}
	return base, false
}

// underWay reports whether the cluster is at a release or being updated to it.
func (s *step) underWay(r Release) bool {
	return len(s.History) > 0 && SameImage(s.History[0].Image, r.Image)
}

// seen is the ClusterVersion, corrected where the engine knows better.
func (s *step) seen() *ClusterVersion {
	cv := *s.w.Cluster
	cv.Status.History = s.History
	cv.Status.Desired = s.desired()
	progressing := Condition{Type: "Progressing", Status: False, LastTransitionTime: stamp(s.now)}
	if s.Work != nil && s.Work.Mode != Reconciling {
		progressing.Status = True
	}
	cv.Status.Conditions = s.setUpgradeable(fairlead.SetCondition(cv.Status.Conditions, progressing))
	return &cv
}

// desired is status.desired: the release that is applied, or that will be.
func (s *step) desired() Release {
	if s.Work != nil {
		return s.Work.Release
	}
	if d := s.w.Cluster.Status.Desired; d.Image != "" {
		return d
	}
	return s.current()
}

// retrieve requests the payload of the candidate, and continues once it is
// available.
func (s *step) retrieve() {
	n := s.Next
	r := s.w.retrieved(n.Release.Image)
	stale := r != nil && r.Try < n.From+n.Tries-1 // from an abandoned attempt
	switch {
	case n.Tries == 0 && (r == nil || r.Payload == nil):
		s.fetch()
	case r == nil || stale:
		attempt := s.retrieval()
		outcome := s.Outcome(attempt.Key())
		if outcome != nil && outcome.Failed {
			s.again(AcceptRetrieve, causeRetrieval, "Unable to download and prepare the update: "+outcome.Message)
			return
		}
		if deadline := n.Try.Add(s.policy.RetrieveTimeout); s.now.Before(deadline) {
			s.accepted(Unknown, AcceptRetrieve, fmt.Sprintf("Retrieving and verifying payload version=%q image=%q", n.Release.Version, n.Release.Image))
			if outcome == nil {
				s.actions = append(s.actions, attempt) // the process that began it may have died
			}
			s.At(deadline)
			s.waitFor(AcceptRetrieve, n.Try, "it is being retrieved", "wait until the release arrives, usually within "+s.policy.RetrieveTimeout.String())
			return
		}
		s.refuse(AcceptRetrieve, causeRetrieval, fmt.Sprintf("it could not be retrieved within %s", s.policy.RetrieveTimeout))
		s.fetch()
	case r.Payload != nil:
		s.judge(r)
	default:
		e, step := r.fault(), AcceptRetrieve
		if e.Reason == causeIntegrity {
			step = AcceptLoad
		}
		s.again(step, e.Reason, e.Message)
	}
}

// fault says why there is no payload.
func (r *Retrieved) fault() *TaskError {
	e := &TaskError{Effect: EffectFail, Retry: true, Reason: causeRetrieval}
	switch {
	case r.Error != "":
		e.Message = "Unable to download and prepare the update: " + r.Error
	case r.LoadError != "":
		e.Reason, e.Message = causeIntegrity, r.LoadError
	case r.VerifyError != "":
		e.Reason, e.Message = causeVerification, "The update cannot be verified: "+r.VerifyError
	default:
		e.Message = "Unable to download and prepare the update: it contains no payload"
	}
	return e
}

// The reasons for which a release is not accepted, see SummaryForReason.
const (
	causeRetrieval    = "UpdatePayloadRetrievalFailed"
	causeIntegrity    = "UpdatePayloadIntegrity"
	causeVerification = "ImageVerificationFailed"
	causeConditions   = "UpgradePreconditionCheckFailed"
)

// fetch begins an attempt to retrieve the candidate.
func (s *step) fetch() {
	n := s.Next
	if n.Tries == 0 {
		s.accepted(Unknown, AcceptRetrieve, fmt.Sprintf("Retrieving and verifying payload version=%q image=%q", n.Release.Version, n.Release.Image))
	}
	n.Tries++
	n.Try = s.now
	s.actions = append(s.actions, s.retrieval())
	s.At(s.now.Add(s.policy.RetrieveTimeout))
	s.waitFor(AcceptRetrieve, n.Since, "it is being retrieved", "wait until the release arrives, usually within "+s.policy.RetrieveTimeout.String())
}

// retrieval is the current attempt to retrieve the candidate.
func (s *step) retrieval() Retrieve {
	n := s.Next
	return retrieval(n.Release, n.From+n.Tries-1, n.Try, n.Force || s.trusted(n.Release))
}

// retrieval is an attempt to retrieve a release, with its start.
func retrieval(r Release, try int, began time.Time, force bool) Retrieve {
	return Retrieve{Attempt: fmt.Sprintf("retrieve/%s/%d/%d", r.Image, try, began.UnixNano()), Release: r, Try: try, Force: force}
}

// again refuses the candidate, and retries after a while.
func (s *step) again(step, cause, why string) {
	s.refuse(step, cause, why)
	next := s.DueAt(fairlead.Retry{Key: s.retrieval().Key(), Attempts: s.Next.Tries, Last: s.Next.Try}, s.policy.backoff())
	if !next.After(s.now) {
		s.fetch()
		return
	}
	s.At(next)
}

// refused are the messages for a failed step.
var refused = map[string]string{
	AcceptRetrieve:   "Retrieving payload failed version=%q image=%q failure=%s",
	AcceptLoad:       "Loading payload failed version=%q image=%q failure=%s",
	AcceptVersion:    "Verifying payload failed version=%q image=%q failure=%s",
	AcceptConditions: "Preconditions failed for payload loaded version=%q image=%q: %s",
}

// refuse notes why the candidate is not accepted.
func (s *step) refuse(step, cause, why string) {
	n := s.Next
	version := n.Release.Version
	if r := s.w.retrieved(n.Release.Image); version == "" && r != nil && r.Payload != nil {
		version = r.Payload.Release.Version
	}
	s.accepted(False, step, fmt.Sprintf(refused[step], version, n.Release.Image, why))
	s.Accepted.Cause = cause
	unblock := "fix the cause, request another release, or remove spec.desiredUpdate"
	if !s.w.Cluster.Spec.DesiredUpdate.asks() {
		unblock = "no action is needed: " + name(s.desired()) + " is being applied; to return to " + version + ", request its image"
	}
	switch {
	case n.Force:
	case step == AcceptRetrieve:
		unblock += "; an image that cannot be verified is accepted only with spec.desiredUpdate.force"
	case step == AcceptConditions:
		unblock += "; spec.desiredUpdate.force overrides it"
	}
	s.waitFor(step, s.Accepted.Since, oneLine(why), unblock)
}

func (s *step) waitFor(reason string, since time.Time, message, unblock string) {
	s.Block(fairlead.Block{Subject: "release " + name(s.Next.Release), Reason: reason, Message: message, Owner: "administrator", Since: since, Unblock: unblock})
}

func (s *step) accepted(status ConditionStatus, reason, message string) {
	since := s.now
	if s.Accepted.Status == status && s.Accepted.Reason == reason {
		since = s.Accepted.Since
	}
	s.Accepted = Acceptance{Status: status, Reason: reason, Message: message, Since: since}
}

// judge decides on a candidate whose payload is available.
func (s *step) judge(r *Retrieved) {
	n := s.Next
	local := s.trusted(n.Release)
	risks := ""
	if !r.Verified && (!local || r.VerifyError != "" && !s.underWay(n.Release)) {
		risks = "The update cannot be verified: " + cmp.Or(r.VerifyError, "its signature was not verified")
		if !local && !n.Force {
			s.again(AcceptRetrieve, causeVerification, risks)
			return
		}
	}
	release := merged(n.Release, r.Payload.Release)
	if n.Release.Version != "" && n.Release.Version != r.Payload.Release.Version {
		s.refuse(AcceptVersion, causeIntegrity, fmt.Sprintf("release image version %s does not match the expected upstream version %s", r.Payload.Release.Version, n.Release.Version))
		return
	}
	if !local && s.installed() {
		text, blocked := Evaluate(Preconditions(s.seen(), release), n.Force)
		if blocked {
			s.refuse(AcceptConditions, causeConditions, text)
			return
		}
		risks = lines(risks, text, acceptedRisks(s.w.Cluster, release))
	}
	if why := s.nothing(r.Payload, false); why != "" {
		s.refuse(AcceptLoad, causeIntegrity, why)
		return
	}
	s.begin(release, r, risks)
}

// nothing says why no manifest of a payload belongs to the cluster, or "" if one
// does. Manifests with overrides belong to it. Which capabilities are enabled
// matters only once the release is accepted.
func (s *step) nothing(p *payload.Payload, accepted bool) string {
	f := s.policy.filter(s.w, s.Enabled)
	f.Overrides = nil
	if !accepted {
		f.Capabilities = nil
	}
	if f.Any(p) {
		return ""
	}
	why := fmt.Sprintf("none of its %d manifests belongs to this cluster", len(p.Manifests))
	if f.Profile != nil && !slices.Contains(p.Profiles(), *f.Profile) {
		why += fmt.Sprintf(": it has none for the cluster profile %s, only for %s", *f.Profile, cmp.Or(strings.Join(p.Profiles(), ", "), "no profile at all"))
	}
	return why
}

// trusted reports whether a release needs no check, because the cluster does not
// change its release by it: it is the one that the cluster was at or being
// updated to when the engine began, or the very first one.
func (s *step) trusted(r Release) bool {
	if s.Work != nil {
		return false
	}
	return s.underWay(r) || len(s.History) == 0 && SameImage(s.base().Image, r.Image)
}

// lines joins texts by newlines, without the empty ones.
func lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
}

// installed reports whether a release was ever applied whole.
func (s *step) installed() bool { return newestCompleted(s.History) >= 0 }

// merged adds the payload's data to the requested release.
func merged(want Release, have payload.Release) Release {
	out := want
	out.Version = have.Version
	out.URL = cmp.Or(want.URL, have.URL)
	if len(out.Channels) == 0 {
		out.Channels = have.Channels
	}
	out.Architecture = cmp.Or(want.Architecture, have.Architecture)
	return out
}

// begin makes the candidate the work.
func (s *step) begin(release Release, r *Retrieved, risks string) {
	if s.Work != nil && s.policy.Capabilities != nil {
		s.imply(r.Payload)
	}
	mode := Updating
	switch {
	case !s.installed():
		mode = Initializing
	case s.History[0].State == Completed && s.History[0].Image == release.Image:
		mode = Reconciling
	}
	s.Work = &Work{Release: release, Verified: r.Verified, Risks: risks, Mode: mode, Begun: s.now}
	s.Next, s.Flaps = nil, nil
	s.accepted(True, AcceptDone, fmt.Sprintf("Payload loaded version=%q image=%q", release.Version, release.Image))
}

// imply finds the capabilities that the update enables implicitly.
func (s *step) imply(update *payload.Payload) {
	current := s.w.retrieved(s.Work.Release.Image)
	if current == nil || current.Payload == nil {
		return
	}
	s.enable(payload.ImplicitlyEnabled(update, current.Payload, s.policy.filter(s.w, s.Enabled), nil))
}

// keep makes sure that no enabled capability is disabled: those that the spec
// requests are added to the enabled ones. An engine that begins uses the status.
func (s *step) keep() {
	if s.policy.Capabilities == nil {
		return
	}
	if s.Enabled == nil {
		s.enable(s.w.Cluster.Status.Capabilities.EnabledCapabilities)
	}
	s.enable(s.policy.asked(s.w.Cluster))
}

// enable adds capabilities to those that are enabled. Capabilities whose feature
// gates are off are not enabled, even if they were before.
func (s *step) enable(names []string) {
	s.Enabled = s.policy.available(s.w, append(slices.Clone(s.Enabled), names...))
}

// implicit returns the capabilities that are enabled without being requested,
// sorted.
func (s *step) implicit() []string {
	asked := s.policy.asked(s.w.Cluster)
	return slices.DeleteFunc(slices.Clone(s.Enabled), func(c string) bool { return slices.Contains(asked, c) })
}

// oneLine joins the lines of a list.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, ":\n* ", ": "), "\n* ", "; ")
}

// name returns the version of a release, or its image.
func name(r Release) string { return cmp.Or(r.Version, r.Image) }
