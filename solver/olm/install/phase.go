package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// The phases of a CSV besides those that resolution tells apart.
const (
	PhaseNone         olm.Phase = ""             // nobody has looked at it
	PhasePending      olm.Phase = "Pending"      // its requirements are not met
	PhaseInstallReady olm.Phase = "InstallReady" // they are: it can be deployed
	PhaseInstalling   olm.Phase = "Installing"   // it is deployed, and not ready yet
	PhaseDeleting     olm.Phase = "Deleting"     // it was replaced, and goes
)

// Reasons of a CSV's status, and of the Blocks of CSVs that wait. Those that
// have to do with operator groups are in package group, that of an operator
// which may not be replaced is in package gate.
const (
	ReasonRequirementsUnknown = "RequirementsUnknown"    // not looked at yet
	ReasonRequirementsNotMet  = "RequirementsNotMet"     // an API or object that it needs is not there
	ReasonRequirementsMet     = "AllRequirementsMet"     // it can be deployed
	ReasonOwnerConflict       = "OwnerConflict"          // another operator owns one of its APIs
	ReasonInstallWaiting      = "InstallWaiting"         // its deployments are not ready
	ReasonInstallSucceeded    = "InstallSucceeded"       // they are
	ReasonComponentFailed     = "InstallComponentFailed" // they will not become ready
	ReasonInstallTimeout      = "InstallCheckFailed"     // they took too long
	ReasonUnhealthy           = "ComponentUnhealthy"     // they were ready and are no more
	ReasonNeedsReinstall      = "NeedsReinstall"         // after a failure it begins anew
	ReasonBeingReplaced       = "BeingReplaced"          // a newer one is being installed
	ReasonReplaced            = "Replaced"               // a newer one is installed
	ReasonFailed              = "Failed"                 // it has failed, and is tried again later
	ReasonUnknownPhase        = "UnknownPhase"           // its phase is none of those known
	ReasonUninstalled         = "Uninstalled"            // its subscription asked for its removal
	ReasonStillNeeded         = "StillNeeded"            // another operator needs an API of it
	ReasonKubeVersion         = "UnsupportedKubeVersion" // it needs a newer Kubernetes
	ReasonConfigInvalid       = "ConfigInvalid"          // its deployments cannot take the subscription's config
)

// phase takes one CSV a step further.
func (s *stepper) phase(c *CSV) {
	next := s.next[c.Name]
	switch phase := c.Status.Phase; {
	case phase == PhaseDeleting:
		s.deleting(c, next)
	case s.goes(c):
		s.move(c, PhaseDeleting, ReasonUninstalled, "its subscription asks for its removal")
	case phase == olm.PhaseReplacing && next == nil:
		s.move(c, PhasePending, ReasonNeedsReinstall, "what replaced it is gone")
	case phase == olm.PhaseReplacing:
		s.replacing(c, next)
	case next != nil:
		s.move(c, olm.PhaseReplacing, ReasonBeingReplaced, "being replaced by CSV "+next.Name)
	case phase == PhaseNone:
		s.move(c, PhasePending, ReasonRequirementsUnknown, "requirements not yet checked")
	case phase == PhasePending:
		s.pending(c)
	case phase == PhaseInstallReady:
		s.installReady(c)
	case phase == PhaseInstalling:
		s.installing(c)
	case phase == olm.PhaseSucceeded:
		s.succeeded(c)
	case phase == olm.PhaseFailed:
		s.failed(c)
	default:
		s.block(csvSubject(c), ReasonUnknownPhase, fmt.Sprintf("its phase is %q", phase), "whoever wrote it", "a phase that is known")
	}
}

func csvSubject(c *CSV) string { return "csv " + c.Name }

// doCSV decides on an action on a CSV, and blocks until its effect is seen.
func (s *stepper) doCSV(c *CSV, a Action, message, unblock string) {
	_, failure := s.do(a)
	s.block(csvSubject(c), ReasonActionPending, because(message, failure), theBackend, unblock)
}

func (s *stepper) move(c *CSV, to olm.Phase, reason, message string) {
	s.doCSV(c, SetPhase{CSV: c.Name, Revision: c.Revision, Phase: to, Reason: reason, Message: message},
		fmt.Sprintf("its phase is being set to %s: %s", to, message), "its phase is "+string(to))
}

// replacing keeps a CSV until a newer one has succeeded, and no other operator
// needs an API that it alone provides.
func (s *stepper) replacing(c, next *CSV) {
	if !s.relieved(c.Name) {
		s.block(csvSubject(c), ReasonBeingReplaced, fmt.Sprintf("it stays until %s has succeeded", next.Name), "csv "+next.Name, next.Name+" succeeds, or is deleted")
		return
	}
	if old := s.csvs[c.Spec.Replaces]; old != nil && old.Name != c.Name {
		// without c, what it replaces would stand for an operator again
		s.block(csvSubject(c), ReasonBeingReplaced, fmt.Sprintf("it goes after %s, which it replaced", old.Name), "csv "+old.Name, old.Name+" is gone")
		return
	}
	if api, by := s.neededAPI(c); by != "" {
		s.block(csvSubject(c), ReasonStillNeeded, fmt.Sprintf("%s requires %s, which only this operator provides", by, api), "csv "+by, by+" is updated or removed")
		return
	}
	s.move(c, PhaseDeleting, ReasonReplaced, "has been replaced by a newer ClusterServiceVersion that has successfully installed")
}

// deleting removes the objects of a CSV that its successor has not taken over,
// and then the CSV.
func (s *stepper) deleting(c, next *CSV) {
	if !s.stripped(c, next) {
		s.block(csvSubject(c), ReasonActionPending, "the objects that belong to it are being deleted", theBackend, "they are gone")
		return
	}
	s.doCSV(c, DeleteCSV{CSV: c.Name, Revision: c.Revision}, "it is being deleted", "it is gone")
}

// pending checks the requirements of a CSV.
func (s *stepper) pending(c *CSV) {
	s.retain(failedKey(c))
	v := s.judge(c)
	if v.Reason != "" {
		s.move(c, olm.PhaseFailed, string(v.Reason), v.Message)
		return
	}
	if !s.noted(c, v.Group) {
		return
	}
	w, ok := s.unmet(c, v)
	if ok {
		s.move(c, PhaseInstallReady, ReasonRequirementsMet, "all requirements found, attempting install")
		return
	}
	if c.Status.Reason != w.reason {
		s.do(SetPhase{CSV: c.Name, Revision: c.Revision, Phase: PhasePending, Reason: w.reason, Message: w.message})
	}
	s.block(csvSubject(c), w.reason, w.message, w.owner, w.unblock)
}

// installReady deploys a CSV.
func (s *stepper) installReady(c *CSV) {
	s.retain(failedKey(c))
	deploy, err := s.deployment(c)
	if err != nil { // its config was changed since
		s.move(c, PhasePending, ReasonConfigInvalid, err.Error())
		return
	}
	tried := s.retry(Key(deploy)).Attempts > 0
	if c.Deployed == "" || c.DeployedDigest != deploy.Digest || c.Deployed == Broken && !tried {
		s.doCSV(c, deploy, "it is being deployed", "its deployments exist")
		return
	}
	s.move(c, PhaseInstalling, ReasonInstallWaiting, "waiting for deployments to become ready")
}

// installing waits for the deployments of a CSV.
func (s *stepper) installing(c *CSV) {
	s.retain(failedKey(c))
	if s.reconfigured(c) {
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments are to be configured otherwise")
		return
	}
	switch c.Deployed {
	case Ready:
		s.doCSV(c, SetPhase{CSV: c.Name, Revision: c.Revision, Phase: olm.PhaseSucceeded, Reason: ReasonInstallSucceeded,
			Message: "install strategy completed with no errors", Upgrade: s.csvs[c.Spec.Replaces] != nil}, "its phase is being set to Succeeded", "its phase is Succeeded")
	case Broken:
		s.move(c, olm.PhaseFailed, ReasonComponentFailed, detailed("install strategy failed", c.Detail))
	case Progressing:
		since := s.block(csvSubject(c), ReasonInstallWaiting, detailed("its deployments are not ready", c.Detail), "the deployments of "+c.Name, "they become ready")
		if limit := since.Add(s.policy.InstallTimeout); s.now.Before(limit) {
			s.at(limit)
		} else {
			s.do(SetPhase{CSV: c.Name, Revision: c.Revision, Phase: olm.PhaseFailed, Reason: ReasonInstallTimeout,
				Message: fmt.Sprintf("deployments not ready after %v", s.policy.InstallTimeout)})
		}
	default:
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments are gone")
	}
}

// reconfigured reports whether the deployments of a CSV are not those that the
// subscription's config, the cluster's proxy and the operator group ask for.
// Where these cannot be had the old ones stay.
func (s *stepper) reconfigured(c *CSV) bool {
	d, err := s.deployment(c)
	return err == nil && c.Deployed != "" && d.Digest != c.DeployedDigest
}

// succeeded watches over an installed operator.
func (s *stepper) succeeded(c *CSV) {
	v := s.judge(c)
	if v.Reason != "" {
		s.move(c, olm.PhaseFailed, string(v.Reason), v.Message)
		return
	}
	if missing := s.missingAPIs(c); len(missing) > 0 {
		s.move(c, olm.PhaseFailed, ReasonRequirementsNotMet, "no longer available: "+strings.Join(missing, ", "))
		return
	}
	if c.Deployed != Ready && c.Deployed != Progressing {
		s.move(c, olm.PhaseFailed, ReasonUnhealthy, detailed("its deployments are broken or gone", c.Detail))
		return
	}
	if !s.noted(c, v.Group) {
		return
	}
	if s.reconfigured(c) {
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments are to be configured otherwise")
		return
	}
	if _, err := s.deployment(c); err != nil {
		s.block(csvSubject(c), ReasonConfigInvalid, err.Error(), "whoever owns its subscription", "spec.config of the subscription is corrected; until then it runs as before")
	}
}

// failed tries a CSV again after a time, unless a plan to replace it waits.
func (s *stepper) failed(c *CSV) {
	if v := s.judge(c); v.Reason != "" {
		s.excluded(c, v)
		return
	}
	if r := group.Reason(c.Status.Reason); r.Failure() || r == ReasonInvalidCRDName {
		s.move(c, PhasePending, ReasonNeedsReinstall, "what its operator group was about is mended")
		return
	}
	if c.Status.Reason == ReasonRequirementsNotMet && len(s.missingAPIs(c)) == 0 {
		s.move(c, PhasePending, ReasonNeedsReinstall, "the APIs that it needs are there again")
		return
	}
	message := detailed("it failed with reason "+c.Status.Reason, c.Detail)
	if by := s.updateOf(c.Name); by != "" { // or else the update would lose what it is for
		s.block(csvSubject(c), ReasonFailed, message, "the authors of "+c.Name, by+" takes its place")
		s.retain(failedKey(c))
		return
	}
	r := s.retry(failedKey(c))
	if r.Attempts == 0 { // wait once before the first
		r.Attempts, r.Next = 1, s.now.Add(s.policy.MinBackoff)
	}
	if r.Next.After(s.now) {
		s.keep(r)
		s.at(r.Next)
		s.block(csvSubject(c), ReasonFailed, message, "the authors of "+c.Name, "it succeeds when it is tried again, or a newer version replaces it where the operator group fails forward")
		return
	}
	r.Attempts++
	r.Next = s.now.Add(s.backoff(r.Attempts))
	s.keep(r)
	s.move(c, PhasePending, ReasonNeedsReinstall, "it is tried again after it failed")
}

// excluded keeps a CSV failed that its operator group does not fit. It is no
// longer a member: its deployments go where the group says so, and what it says
// of its group.
func (s *stepper) excluded(c *CSV, v group.Verdict) {
	if v.CleanUp && c.Deployed != "" {
		s.doCSV(c, Undeploy{CSV: c.Name, Revision: c.Revision}, "its deployments are being deleted", "they are gone")
		return
	}
	if !s.noted(c, nil) {
		return
	}
	s.block(csvSubject(c), string(v.Reason), v.Message, "whoever owns the operator groups", "what the message says")
}

// updateOf returns what the resolver has chosen to take the place of a CSV, or
// "".
func (s *stepper) updateOf(name string) string {
	if s.Resolution == nil {
		return ""
	}
	for i := range s.Resolution.Chosen {
		if s.Resolution.Chosen[i].Updates == name {
			return s.Resolution.Chosen[i].Name
		}
	}
	return ""
}

func failedKey(c *CSV) string { return "failed " + c.Name }

// retain keeps what is remembered under a key, if anything.
func (s *stepper) retain(key string) {
	if r := s.retry(key); r.Attempts > 0 {
		s.keep(r)
	}
}

// want is a requirement that is not met.
type want struct{ reason, message, owner, unblock string }

// unmet returns the first requirement of a CSV that is not met; ok is true if
// all are.
func (s *stepper) unmet(c *CSV, v group.Verdict) (w want, ok bool) {
	if text := s.tooOld(c); text != "" {
		return want{ReasonKubeVersion, text, "whoever owns the cluster", "the cluster is updated, or an older version of the operator is installed"}, false
	}
	if !s.listed(c, v) {
		return want{ReasonRequirementsNotMet, "its operator group does not list its APIs yet", groupSubject(v.Group), "the group's annotation lists them"}, false
	}
	if missing := s.missingAPIs(c); len(missing) > 0 {
		return want{ReasonRequirementsNotMet, "not available: " + strings.Join(missing, ", "), "whoever provides these APIs", "these APIs are there and established"}, false
	}
	if step, missing := s.missingStep(c); missing {
		return want{ReasonRequirementsNotMet, step.String() + " of its install plan has not been applied", "its install plan", "it is applied"}, false
	}
	if other, api, taken := s.owner(c); taken {
		return want{ReasonOwnerConflict, fmt.Sprintf("%s owns %s, too", other, api), "csv " + other, "one of the two operators is removed"}, false
	}
	if old := s.csvs[c.Spec.Replaces]; old != nil {
		if v := s.upgradeable(old); !v.Open {
			return want{v.Reason, v.Message, "operator " + old.Name, "its condition Upgradeable is no longer False, or is overridden"}, false
		}
	}
	if _, err := s.deployment(c); err != nil {
		return want{ReasonConfigInvalid, err.Error(), "whoever owns its subscription", "spec.config of the subscription is corrected"}, false
	}
	return want{}, true
}

// tooOld says why a CSV cannot run on the cluster's version of Kubernetes, or
// "". What cannot be read counts for nothing.
func (s *stepper) tooOld(c *CSV) string {
	least, err := semverx.ParseTolerant(c.Spec.MinKubeVersion)
	if err != nil || c.Spec.MinKubeVersion == "" {
		return ""
	}
	is, err := semverx.ParseTolerant(s.KubeVersion)
	if err != nil || s.KubeVersion == "" || is.Compare(least) >= 0 {
		return ""
	}
	return fmt.Sprintf("it needs Kubernetes %s or newer, and the cluster has %s", c.Spec.MinKubeVersion, s.KubeVersion)
}

// missingAPIs lists the APIs that a CSV owns or requires and that cannot be
// used, sorted.
func (s *stepper) missingAPIs(c *CSV) []string {
	var missing []string
	for _, list := range [][]olm.CRDDescription{c.Spec.CustomResourceDefinitions.Owned, c.Spec.CustomResourceDefinitions.Required} {
		for _, d := range list {
			if !s.serves(d) {
				missing = append(missing, fmt.Sprintf("CRD %s version %s", d.Name, d.Version))
			}
		}
	}
	for _, d := range c.Spec.APIServiceDefinitions.Required {
		if !slices.Contains(s.APIServices, d.Version+"."+d.Group) {
			missing = append(missing, fmt.Sprintf("API service %s.%s", d.Version, d.Group))
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func (x *index) serves(d olm.CRDDescription) bool {
	c := x.crds[d.Name]
	return c != nil && c.serves(d.Version)
}

// missingStep returns the first object of the plan for a CSV that has not been
// applied.
func (s *stepper) missingStep(c *CSV) (Ref, bool) {
	if s.state.Plan == nil {
		return Ref{}, false
	}
	for _, step := range s.state.Plan.Steps {
		if step.Resolving == c.Name && !step.Done {
			return step.Ref, true
		}
	}
	return Ref{}, false
}

// owner returns another operator that owns an API of a CSV and neither replaces
// it nor is replaced.
func (s *stepper) owner(c *CSV) (other, api string, taken bool) {
	for _, o := range s.operators {
		if o.Name == c.Name || s.next[o.Name] != nil {
			continue
		}
		for _, d := range c.Spec.CustomResourceDefinitions.Owned {
			if slices.ContainsFunc(o.Spec.CustomResourceDefinitions.Owned, func(e olm.CRDDescription) bool { return d.Name == e.Name && d.Version == e.Version }) {
				return o.Name, d.Name, true
			}
		}
	}
	return "", "", false
}

// neededAPI returns an API that only c provides and the name of an operator
// that stays and requires it; by is empty if there is none.
func (s *stepper) neededAPI(c *CSV) (api, by string) {
	provided := apisOf(c.Spec.CustomResourceDefinitions.Owned, c.Spec.APIServiceDefinitions.Owned)
	others := make(map[string]bool)
	for _, o := range s.operators {
		if o.Name != c.Name && !s.relieved(o.Name) {
			for _, a := range apisOf(o.Spec.CustomResourceDefinitions.Owned, o.Spec.APIServiceDefinitions.Owned) {
				others[a] = true
			}
		}
	}
	for _, o := range s.operators {
		if o.Name == c.Name || s.relieved(o.Name) {
			continue
		}
		for _, a := range apisOf(o.Spec.CustomResourceDefinitions.Required, o.Spec.APIServiceDefinitions.Required) {
			if slices.Contains(provided, a) && !others[a] {
				return a, o.Name
			}
		}
	}
	return "", ""
}

func apisOf(crds []olm.CRDDescription, services []olm.APIServiceDescription) []string {
	var all []string
	for _, d := range crds {
		_, group, _ := strings.Cut(d.Name, ".")
		all = append(all, d.Kind+" ("+group+"/"+d.Version+")")
	}
	for _, d := range services {
		all = append(all, d.Kind+" ("+d.Group+"/"+d.Version+")")
	}
	return all
}
