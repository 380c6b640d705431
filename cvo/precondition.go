package cvo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Precondition is a reason against an update before it begins.
type Precondition struct {
	Name    string `json:"name"`              // of the check
	Reason  string `json:"reason"`            // a stable word in CamelCase
	Message string `json:"message"`           // what and why
	Warning bool   `json:"warning,omitempty"` // it does not prevent the update
}

// String returns the finding in one line.
func (p Precondition) String() string {
	return fmt.Sprintf("Precondition %q failed because of %q: %s", p.Name, p.Reason, p.Message)
}

// The checks, in their order.
const (
	CheckRollback    = "ClusterVersionRollback"          // a rollback goes to the previous release, within its minor version
	CheckGiantHop    = "ClusterVersionGiantHop"          // no minor version is skipped, and the major version does not change
	CheckUpgradeable = "ClusterVersionUpgradeable"       // nothing prevents a change of the minor version
	CheckRecommended = "ClusterVersionRecommendedUpdate" // the update is recommended
)

// Preconditions returns the reasons against an update to a release, in the order of the
// checks, all of which are made. The current release is cv.Status.Desired, and its rules
// decide; see [RulesOf]. Rollbacks and skipped minor versions are checked for every release:
// those that do not check them begin such an update, and break.
func Preconditions(cv *ClusterVersion, target Release) []Precondition {
	return PreconditionsBy(RulesOf(cv.Status.Desired.Version), cv, target)
}

// PreconditionsBy is Preconditions by the rules of another release than the running one.
func PreconditionsBy(rules Rules, cv *ClusterVersion, target Release) []Precondition {
	var found []Precondition
	current, err := semverx.Parse(cv.Status.Desired.Version)
	to, errTo := semverx.Parse(target.Version)
	check := func(name string, f func() []Precondition) {
		switch {
		case err != nil:
			found = append(found, Precondition{Name: name, Reason: "InvalidCurrentVersion", Message: fmt.Sprintf("the current version, %q, cannot be read: %v", cv.Status.Desired.Version, err), Warning: true})
		case errTo != nil:
			found = append(found, Precondition{Name: name, Reason: "InvalidDesiredVersion", Message: fmt.Sprintf("the version of the update, %q, cannot be read: %v", target.Version, errTo)})
		default:
			for _, p := range f() {
				p.Name = name
				found = append(found, p)
			}
		}
	}
	check(CheckRollback, func() []Precondition { return rollback(cv, current, to, target) })
	check(CheckGiantHop, func() []Precondition { return giantHop(rules, current, to) })
	if c := fairlead.FindCondition(cv.Status.Conditions, "Upgradeable"); c != nil && c.Status == False {
		check(CheckUpgradeable, func() []Precondition { return upgradeable(rules, cv, current, to) })
	}
	found = append(found, recommended(cv, target)...)
	return found
}

func rollback(cv *ClusterVersion, current, to semverx.Version, target Release) []Precondition {
	if to.Compare(current) >= 0 {
		return nil
	}
	low := func(why string) []Precondition {
		return []Precondition{{Reason: "LowDesiredVersion", Message: fmt.Sprintf("%s is older than the current release %s, %s", to, current, why)}}
	}
	i := slices.IndexFunc(cv.Status.History, func(h History) bool {
		return h.Version != cv.Status.Desired.Version || h.Image != cv.Status.Desired.Image
	})
	if i < 0 {
		return low("and the cluster has no previous Semantic Version")
	}
	h := cv.Status.History[i]
	previous, err := semverx.Parse(h.Version)
	switch {
	case err != nil:
		return low("and the cluster has no previous Semantic Version")
	case previous.Compare(to) != 0 || target.Image != "" && h.Image != "" && target.Image != h.Image:
		return low(fmt.Sprintf("and the only supported rollback is to the cluster's previous version %s (%s)", h.Version, h.Image))
	case previous.Major() != current.Major() || previous.Minor() != current.Minor():
		return low("and matches the cluster's previous version, but rollbacks that change major or minor versions are not recommended")
	}
	return nil
}

func giantHop(rules Rules, current, to semverx.Version) []Precondition {
	switch {
	case to.Major() > current.Major() && !(rules.NextMajor && current.Major() == 4 && to.Major() == 5 && to.Minor() == 0):
		return []Precondition{{Reason: "MajorVersionUpdate", Message: fmt.Sprintf("%s has another major version than the current release %s; updates stay within a major version, except for the step from 4 to 5.0", to, current)}}
	case to.Major() == current.Major() && to.Minor() > current.Minor()+1:
		return []Precondition{{Reason: "MultipleMinorVersionsUpdate", Message: fmt.Sprintf("%s is %d minor versions ahead of the current release %s; updates go one minor version at a time", to, to.Minor()-current.Minor(), current)}}
	}
	return nil
}

// upgradeable checks whether something prevents a change of the minor version. As in
// the reference, it checks only if something is reported.
func upgradeable(rules Rules, cv *ClusterVersion, current, to semverx.Version) []Precondition {
	c := fairlead.FindCondition(cv.Status.Conditions, "Upgradeable")
	patch := to.Major() == current.Major() && to.Minor() == current.Minor()
	switch {
	case to.Compare(current) > 0 && !patch:
		return []Precondition{{Reason: c.Reason, Message: fmt.Sprintf("%s to %s changes the minor or major version, and the cluster is not ready for that: %s", current, to, c.Message)}}
	case hasOverrides(cv) && rules.OverridesBlockAll:
		return []Precondition{{Reason: ReasonOverrides, Message: fmt.Sprintf("spec.overrides leaves %s unmanaged, and releases of %s refuse every update while it does", Overridden(cv), rules.Minor)}}
	case hasOverrides(cv):
		return []Precondition{{Reason: ReasonOverrides, Message: fmt.Sprintf("spec.overrides leaves %s unmanaged; remove it before the next minor version", Overridden(cv)), Warning: true}}
	case patch:
		return between(cv, current, to)
	}
	return nil
}

// ReasonOverrides is the reason of Upgradeable and of preconditions if spec.overrides leaves
// something unmanaged.
const ReasonOverrides = "ClusterVersionOverridesSet"

// Overridden names what spec.overrides leaves unmanaged, three objects at most, as in
// "Deployment openshift-dns/dns-operator"; "" if it leaves nothing.
func Overridden(cv *ClusterVersion) string {
	var names []string
	for _, o := range cv.Spec.Overrides {
		if o.Unmanaged {
			names = append(names, o.Kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
		}
	}
	return words.List(names, "and", 3)
}

func hasOverrides(cv *ClusterVersion) bool {
	for _, o := range cv.Spec.Overrides {
		if o.Unmanaged {
			return true
		}
	}
	return false
}

// between reports a change of the target within its minor version during an update of
// the minor or major version.
func between(cv *ClusterVersion, current, to semverx.Version) []Precondition {
	h := cv.Status.History
	if cv.UnderWay() == nil {
		return nil
	}
	before := h[len(h)-1].Version // what was installed, if nothing was ever completed
	if i := newestCompleted(h); i >= 0 {
		before = h[i].Version
	}
	from, err := semverx.Parse(before)
	if err != nil {
		return nil
	}
	kind := ""
	switch {
	case from.Major() < current.Major():
		kind = "Major"
	case from.Major() == current.Major() && from.Minor() < current.Minor():
		kind = "Minor"
	default:
		return nil
	}
	return []Precondition{{
		Reason:  kind + "VersionClusterUpdateInProgress",
		Message: fmt.Sprintf("the target becomes %s while a %s version update from %s to %s is under way", to, strings.ToLower(kind), before, current), Warning: true,
	}}
}

// recommended warns of updates that are not recommended.
func recommended(cv *ClusterVersion, target Release) []Precondition {
	if target.Image == cv.Status.Desired.Image && target.Image != "" {
		return nil
	}
	same := func(r Release) bool {
		return target.Image != "" && r.Image == target.Image || target.Image == "" && r.Version == target.Version
	}
	warn := func(reason, message string) []Precondition {
		return []Precondition{{Name: CheckRecommended, Reason: reason, Message: message, Warning: true}}
	}
	if slices.ContainsFunc(cv.Status.AvailableUpdates, same) {
		return nil
	}
	for _, c := range cv.Status.ConditionalUpdates {
		if !same(c.Release) {
			continue
		}
		switch r := fairlead.FindCondition(c.Conditions, "Recommended"); {
		case r == nil:
			return warn("UnknownConditionType", fmt.Sprintf("the update from %s to %s is conditional, and nothing is known about its risks yet", cv.Status.Desired.Version, target.Version))
		case r.Status == True:
			return nil
		case r.Status == False:
			return warn(r.Reason, fmt.Sprintf("the update from %s to %s is not recommended:\n\n%s", cv.Status.Desired.Version, target.Version, r.Message))
		default:
			return warn(r.Reason, fmt.Sprintf("all that is known about the update from %s to %s is %s=%s: %s: %s", cv.Status.Desired.Version, target.Version, r.Type, r.Status, r.Reason, r.Message))
		}
	}
	if cv.Spec.Channel == "" {
		return warn("NoChannel", fmt.Sprintf("no channel is set, so it is not known whether the update from %s to %s is recommended; set spec.channel", cv.Status.Desired.Version, target.Version))
	}
	switch c := fairlead.FindCondition(cv.Status.Conditions, "RetrievedUpdates"); {
	case c == nil:
		return warn("UnknownUpdate", "updates were never retrieved, so it is not known whether the one from "+cv.Status.Desired.Version+" to "+target.Version+" is recommended")
	case c.Status == True:
		return warn("UnknownUpdate", fmt.Sprintf("the update service knows no update from %s to %s: it is most likely neither recommended nor supported", cv.Status.Desired.Version, target.Version))
	default:
		return warn("UnknownUpdate", fmt.Sprintf("the update service could not be reached (RetrievedUpdates=%s, %s), so it is not known whether the update from %s to %s is recommended", c.Status, c.Reason, cv.Status.Desired.Version, target.Version))
	}
}

// Evaluate joins the findings of preconditions into one text, empty if there are none.
// blocked reports whether they prevent the update; with force nothing does. The text of
// an update that begins anyway belongs in its history.
func Evaluate(found []Precondition, force bool) (text string, blocked bool) {
	var list []string
	for _, p := range found {
		list = append(list, p.String())
		blocked = blocked || !p.Warning
	}
	if len(list) > 1 {
		text = "Multiple precondition checks failed:\n* " + strings.Join(list, "\n* ")
	} else if len(list) == 1 {
		text = list[0]
	}
	if blocked && force {
		return "Forced through blocking failures: " + text, false
	}
	return text, blocked
}
