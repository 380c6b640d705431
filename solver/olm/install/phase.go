package install

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// The phases of a CSV other than those that resolution distinguishes.
const (
	PhaseNone         olm.Phase = ""             // it has not been processed yet
	PhasePending      olm.Phase = "Pending"      // its requirements are not met
	PhaseInstallReady olm.Phase = "InstallReady" // its requirements are met: it can be deployed
	PhaseInstalling   olm.Phase = "Installing"   // it is deployed, but not ready yet
	PhaseDeleting     olm.Phase = "Deleting"     // it was replaced, and is being removed
)

// Reasons of a CSV's status, and of the Blocks of CSVs that wait. Those about
// operator groups are in package group; the one for an operator that must not
// be replaced is in package gate.
const (
	ReasonRequirementsUnknown = "RequirementsUnknown"       // not processed yet
	ReasonRequirementsNotMet  = "RequirementsNotMet"        // an API or object that it needs is missing
	ReasonRequirementsMet     = "AllRequirementsMet"        // it can be deployed
	ReasonOwnerConflict       = "OwnerConflict"             // another operator owns one of its APIs
	ReasonInstallWaiting      = "InstallWaiting"            // its deployments are not ready
	ReasonInstallSucceeded    = "InstallSucceeded"          // they are
	ReasonComponentFailed     = "InstallComponentFailed"    // its deployments will not become ready
	ReasonInstallTimeout      = "InstallCheckFailed"        // its deployments took too long
	ReasonUnhealthy           = "ComponentUnhealthy"        // its deployments are no longer ready
	ReasonNeedsReinstall      = "NeedsReinstall"            // it is retried after a failure
	ReasonBeingReplaced       = "BeingReplaced"             // a newer one is being installed
	ReasonReplaced            = "Replaced"                  // a newer one is installed
	ReasonFailed              = "Failed"                    // it has failed, and is retried later
	ReasonUnknownPhase        = "UnknownPhase"              // its phase is unknown
	ReasonUninstalled         = "Uninstalled"               // its subscription asked for its removal
	ReasonStillNeeded         = "StillNeeded"               // another operator needs one of its APIs
	ReasonKubeVersion         = "UnsupportedKubeVersion"    // it needs a newer Kubernetes
	ReasonInvalidWebhook      = "InvalidWebhookDescription" // its webhooks or API services are not valid
	ReasonNotServed           = "WebhooksNotServed"         // the backend does not serve webhooks and API services
	ReasonServing             = "ServingPending"            // its pods are ready, but the API server does not call them yet
	ReasonConfigInvalid       = "ConfigInvalid"             // its deployments cannot take the subscription's config
	ReasonConfigIgnored       = "ConfigIgnored"             // another subscription for the same CSV has a config, too
)

// phase advances one CSV by a step.
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
		s.block(csvSubject(c), ReasonUnknownPhase, fmt.Sprintf("its phase is %q", phase), "whoever wrote it", "set status.phase to a known phase")
	}
}

func csvSubject(c *CSV) string { return "csv " + c.Name }

// doCSV decides on an action on a CSV, and blocks until its effect is seen.
func (s *stepper) doCSV(c *CSV, a Action, message, unblock string) {
	s.block(csvSubject(c), ReasonActionPending, s.doing(a, message), theBackend, unblock)
}

func (s *stepper) move(c *CSV, to olm.Phase, reason, message string) {
	s.doCSV(c, SetPhase{CSV: c.Name, Revision: c.Revision, Phase: to, Reason: reason, Message: message},
		fmt.Sprintf("its phase is being set to %s: %s", to, message), "wait until its phase is "+string(to))
}

// replacing keeps a CSV until a newer one has succeeded, and no other operator
// needs an API that only it provides.
func (s *stepper) replacing(c, next *CSV) {
	if !s.relieved(c.Name) {
		s.block(csvSubject(c), ReasonBeingReplaced, fmt.Sprintf("it stays until %s has succeeded", next.Name), "csv "+next.Name, "wait until "+next.Name+" succeeds, or is deleted")
		return
	}
	if old := s.csvs[c.Spec.Replaces]; old != nil && s.next[old.Name] == c {
		// without c, what it replaces would count as an operator again
		s.block(csvSubject(c), ReasonBeingReplaced, fmt.Sprintf("it is removed after %s, which it replaced", old.Name), "csv "+old.Name, old.Name+" is gone")
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
		s.block(csvSubject(c), ReasonActionPending, "the objects that belong to it are being deleted", theBackend, "wait until they are gone")
		return
	}
	if s.converting(c) {
		s.block(csvSubject(c), ReasonActionPending, "the conversion of its CRDs is being removed", theBackend, "wait until it is gone")
		return
	}
	s.doCSV(c, DeleteCSV{CSV: c.Name, Revision: c.Revision}, "it is being deleted", "it is gone")
}

// pending checks the requirements of a CSV.
func (s *stepper) pending(c *CSV) {
	s.Keep(failedKey(c))
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
	s.Keep(failedKey(c))
	if err := s.may(s.writes(c)...); err != nil { // since its requirements were checked
		reason, _ := reasonOf(err)
		s.move(c, PhasePending, reason, err.Error())
		return
	}
	if !s.certified(c) {
		s.block(csvSubject(c), ReasonActionPending, "its certificates are being issued", theBackend, "wait until they are observed")
		return
	}
	deploy, err := s.deployment(c)
	if err != nil { // its config has changed since
		s.move(c, PhasePending, ReasonConfigInvalid, err.Error())
		return
	}
	tried := s.Attempts(deploy.Key()) > 0
	if c.Deployed == "" || c.DeployedDigest != deploy.Digest || c.Deployed == Broken && !tried {
		s.doCSV(c, deploy, "it is being deployed", "its deployments exist")
		return
	}
	s.move(c, PhaseInstalling, ReasonInstallWaiting, "waiting for deployments to become ready")
}

// installing waits for the deployments of a CSV.
func (s *stepper) installing(c *CSV) {
	s.Keep(failedKey(c))
	if s.reconfigured(c) {
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments need another configuration")
		return
	}
	switch c.Deployed {
	case Ready:
		if text := s.unserved(c); text != "" {
			s.block(csvSubject(c), ReasonServing, text, "csv "+c.Name, "the API server calls its pods")
			return
		}
		s.doCSV(c, SetPhase{CSV: c.Name, Revision: c.Revision, Phase: olm.PhaseSucceeded, Reason: ReasonInstallSucceeded,
			Message: "install strategy completed with no errors", Upgrade: s.csvs[c.Spec.Replaces] != nil}, "its phase is being set to Succeeded", "wait until its phase is Succeeded")
	case Broken:
		s.move(c, olm.PhaseFailed, ReasonComponentFailed, detailed("install strategy failed", c.Detail))
	case Progressing:
		since := s.block(csvSubject(c), ReasonInstallWaiting, detailed("its deployments are not ready", c.Detail), "the deployments of "+c.Name, "wait until they become ready")
		if limit := since.Add(s.policy.InstallTimeout); s.now.Before(limit) {
			s.At(limit)
		} else {
			s.do(SetPhase{CSV: c.Name, Revision: c.Revision, Phase: olm.PhaseFailed, Reason: ReasonInstallTimeout,
				Message: fmt.Sprintf("deployments not ready after %v", s.policy.InstallTimeout)})
		}
	default:
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments are gone")
	}
}

// reconfigured reports whether the deployments of a CSV differ from those that
// follow from the subscription's config, the cluster's proxy and the operator
// group. If these cannot be computed, the old ones stay.
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
	if text := s.unavailable(c); text != "" {
		s.move(c, olm.PhaseFailed, ReasonRequirementsNotMet, text)
		return
	}
	s.certified(c) // in time
	if c.Deployed != Ready && c.Deployed != Progressing {
		s.move(c, olm.PhaseFailed, ReasonUnhealthy, detailed("its deployments are broken or gone", c.Detail))
		return
	}
	if !s.noted(c, v.Group) {
		return
	}
	if s.reconfigured(c) {
		s.move(c, PhasePending, ReasonNeedsReinstall, "its deployments need another configuration")
		return
	}
	s.ignoredConfigs(c)
	if _, err := s.deployment(c); err != nil {
		s.block(csvSubject(c), ReasonConfigInvalid, err.Error(), "whoever owns its subscription", "correct spec.config of the subscription; until then the operator keeps its old config")
	}
}

// failed retries a CSV after a delay, unless a plan to replace it is waiting.
func (s *stepper) failed(c *CSV) {
	if v := s.judge(c); v.Reason != "" {
		s.excluded(c, v)
		return
	}
	if r := group.Reason(c.Status.Reason); r.Failure() || r == ReasonInvalidCRDName {
		s.move(c, PhasePending, ReasonNeedsReinstall, "the problem with its operator group is fixed")
		return
	}
	if c.Status.Reason == ReasonRequirementsNotMet && len(s.missingAPIs(c)) == 0 && s.unavailable(c) == "" {
		s.move(c, PhasePending, ReasonNeedsReinstall, "the APIs that it needs are available again")
		return
	}
	message := detailed("it failed with reason "+c.Status.Reason, c.Detail)
	if by := s.updateOf(c.Name); by != "" && !s.recovered(c) { // otherwise the update would lose its subject
		s.block(csvSubject(c), ReasonFailed, message, "the authors of "+c.Name, "wait until "+by+" takes its place")
		s.Keep(failedKey(c))
		return
	}
	key := failedKey(c)
	first := s.Attempts(key) == 0 // it waits once before the first
	if !s.Due(key) || first {
		s.block(csvSubject(c), ReasonFailed, message, "the authors of "+c.Name, "wait until a retry succeeds; or publish a newer version, if the operator group fails forward")
		return
	}
	s.move(c, PhasePending, ReasonNeedsReinstall, "it is retried after a failure")
}

// recovered reports whether the deployments of a CSV are ready after all, and
// nothing has begun to replace it.
func (s *stepper) recovered(c *CSV) bool {
	return c.Deployed == Ready && (s.state.Plan == nil || !s.state.Plan.Started)
}

// excluded keeps a CSV failed if its operator group does not fit. It is no
// longer a member: its group annotations are removed, and its deployments if
// the group says so.
func (s *stepper) excluded(c *CSV, v group.Verdict) {
	if v.CleanUp && c.Deployed != "" {
		s.doCSV(c, Undeploy{CSV: c.Name, Revision: c.Revision}, "its deployments are being deleted", "they are gone")
		return
	}
	if !s.noted(c, nil) {
		return
	}
	s.block(csvSubject(c), string(v.Reason), v.Message, "whoever owns the operator groups", "correct the operator groups as this message says")
}

// updateOf returns what the resolver has chosen to replace a CSV, or "".
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

// failedKey counts how often a CSV has failed.
func failedKey(c *CSV) fairlead.Key { return fairlead.Key{Kind: "Failed", ID: c.Name} }
