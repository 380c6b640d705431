package cvo

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// Advice says which update to take.
type Advice struct {
	Current   string    `json:"current"`           // the version that the cluster has, or is being updated to
	Channel   string    `json:"channel,omitempty"` // of updates
	Channels  []string  `json:"channels"`          // others that the release is in
	Concerns  []Finding `json:"concerns"`          // reasons against updating now, worst first
	Choices   []Choice  `json:"choices"`           // all updates, newest first
	Checked   []string  `json:"checked"`           // checks that were made and found nothing
	Unchecked []string  `json:"unchecked"`         // what could not be checked, and why
	// Take is the version to take: the newest without known issues. It is empty
	// if there is none.
	Take string `json:"take,omitempty"`
	Why  string `json:"why"` // why that one, or why none
	// Unknown is whether it is not known which updates there are: the ClusterVersion lists
	// none, and does not say that the update service was asked.
	Unknown bool `json:"unknown,omitempty"`
	// Refused is the request that the cluster refuses; nil if there is none.
	Refused *Refused `json:"refused,omitempty"`
}

// Choice is one update.
type Choice struct {
	Release     Release         `json:"release"`            // to update to
	Recommended ConditionStatus `json:"recommended"`        // whether the update service recommends it for this cluster
	Reason      string          `json:"reason,omitempty"`   // why not, in a word; MultipleReasons if there are several reasons
	Reasons     []string        `json:"reasons,omitempty"`  // each reason: risks that apply or may apply, and preconditions
	Accepted    []string        `json:"accepted,omitempty"` // its accepted risks
	Message     string          `json:"message,omitempty"`  // why it is not recommended
	Risks       []graph.Risk    `json:"risks,omitempty"`    // those that apply or may apply, and are not accepted
	Findings    []Precondition  `json:"findings,omitempty"` // other reasons against it
	Blocked     bool            `json:"blocked"`            // it would be refused
}

// Clear reports whether nothing speaks against the update.
func (c *Choice) Clear() bool { return c.Recommended == True && !c.Blocked }

// Advise says which update a cluster should take, and why not the others. It uses
// the updates listed in the ClusterVersion, the preconditions of each update, and
// alerts, which are nil if unknown. accepted are names of risks, and reasons of
// concerns, that the administrator accepts in addition to those in
// spec.desiredUpdate.
func Advise(cv *ClusterVersion, alerts []Alert, accepted []string) *Advice {
	a := &Advice{
		Current: cv.Status.Desired.Version, Channel: cv.Spec.Channel, Channels: append([]string{}, cv.Status.Desired.Channels...),
		Concerns: []Finding{}, Choices: []Choice{}, Checked: []string{}, Unchecked: []string{},
	}
	accepted = slices.Concat(accepted, accepts(cv))
	a.Refused, a.Unknown = RefusedUpdate(cv), cv.UpdatesUnknown()
	a.concerns(cv, alerts, accepted)
	for _, r := range cv.Status.AvailableUpdates {
		a.Choices = append(a.Choices, a.choice(cv, Choice{Release: r, Recommended: True}))
	}
	for _, u := range cv.Status.ConditionalUpdates {
		if slices.ContainsFunc(cv.Status.AvailableUpdates, func(r Release) bool { return r.Image == u.Release.Image }) {
			continue
		}
		c := Choice{Release: u.Release, Recommended: Unknown, Reason: "UnknownConditionType", Message: "nothing is known about its risks yet"}
		if r := fairlead.FindCondition(u.Conditions, "Recommended"); r != nil {
			c.Recommended, c.Reason, c.Message = r.Status, r.Reason, r.Message
		}
		c.accept(cv, &u, accepted)
		a.Choices = append(a.Choices, a.choice(cv, c))
	}
	slices.SortStableFunc(a.Choices, func(x, y Choice) int { return newest(x.Release, y.Release) })
	a.take(cv)
	return a
}

// accept lists the risks against a conditional update, and makes it recommended
// if all of them are accepted.
func (c *Choice) accept(cv *ClusterVersion, u *ConditionalUpdate, accepted []string) {
	if c.Recommended == True {
		return
	}
	for _, r := range u.Risks {
		if cv.RiskApplies(u, r.Name) == False {
			continue
		}
		if slices.Contains(accepted, r.Name) {
			c.Accepted = append(c.Accepted, r.Name)
		} else {
			c.Reasons, c.Risks = append(c.Reasons, r.Name), append(c.Risks, r)
		}
	}
	switch {
	case len(c.Accepted) > 0 && len(c.Reasons) == 0:
		c.Recommended, c.Reason, c.Message = True, "", ""
	case len(c.Reasons) == 0:
		c.Reasons = []string{c.Reason}
	}
}

// choice adds the findings of the preconditions, and that the cluster has refused it.
func (a *Advice) choice(cv *ClusterVersion, c Choice) Choice {
	risky := c.Recommended != True
	if r := a.Refused; r.Of(c.Release) && r.Check != "PreconditionChecks" {
		c.Findings, c.Blocked = append(c.Findings, Precondition{Name: "ReleaseAccepted", Reason: r.Check, Message: r.Cause}), true
		c.Reasons = append(c.Reasons, r.Cause)
		if c.Reason = cmp.Or(c.Reason, r.Check); risky {
			c.Reason = graph.ReasonMultiple
		}
	}
	for _, p := range Preconditions(cv, c.Release) {
		if p.Name == CheckRecommended {
			continue
		}
		c.Findings = append(c.Findings, p)
		c.Blocked = c.Blocked || !p.Warning
		c.Reasons = append(c.Reasons, p.Reason)
		if c.Reason = cmp.Or(c.Reason, p.Reason); risky && !p.Warning {
			c.Reason = graph.ReasonMultiple
		}
	}
	return c
}

// take picks the newest update without known issues.
func (a *Advice) take(cv *ClusterVersion) {
	older, refused, risky, unknown := 0, 0, 0, 0
	for i := range a.Choices {
		c := &a.Choices[i]
		switch {
		case c.Clear() && a.Take == "":
			a.Take = c.Release.Version
		case c.Clear():
			older++
		case c.Blocked:
			refused++
		case c.Recommended == Unknown:
			unknown++
		default:
			risky++
		}
	}
	var others []string
	for _, o := range []struct {
		n    int
		what string
	}{{risky, "not recommended for this cluster"}, {unknown, "with risks that were not evaluated"}, {refused, "would be refused"}, {older, "older"}} {
		if o.n > 0 {
			others = append(others, fmt.Sprintf("%d %s", o.n, o.what))
		}
	}
	rest := ""
	if len(others) > 0 {
		rest = " (others: " + strings.Join(others, ", ") + ")"
	}
	switch {
	case a.Unknown:
		a.Why = "the updates from " + a.Current + " are unknown: availableUpdates is null, and the ClusterVersion does not say that the update service answered"
	case a.Channel == "":
		a.Why, a.Unknown = "the updates from "+a.Current+" are unknown: no channel is set", true
	case len(a.Choices) == 0:
		a.Why = "there is no update from " + a.Current + " in channel " + a.Channel + otherChannels(cv)
	case a.Take == "":
		a.Why = "nothing can be recommended" + rest
	default:
		a.Why = a.Take + " is the newest update without known issues" + rest
	}
	if h := cv.UnderWay(); h != nil && cv.Says("Progressing") != nil {
		a.Why = "the update to " + h.Version + " is under way: let it end first; then " + a.Why
	}
	if r := a.Refused; r != nil {
		a.Why = "the update to " + r.Name() + " was refused: " + r.Cause + "; " + a.Why
	}
	if len(a.Concerns) > 0 && a.Concerns[0].Severity == SeverityError {
		a.Why += "; resolve the errors of the cluster first"
	}
}

// concerns finds reasons against any update now.
func (a *Advice) concerns(cv *ClusterVersion, alerts []Alert, accepted []string) {
	for _, check := range []struct {
		kind     string
		bad      []ConditionStatus // statuses that are a reason against an update
		absent   bool              // its absence means that all is well
		severity Severity
		passed   string
		failed   string
		next     string
	}{
		{"Failing", []ConditionStatus{True, Unknown}, false, SeverityError, "the cluster version is not failing", "the cluster version is failing: ", "fix the cause before an update"},
		{"Progressing", []ConditionStatus{True}, false, SeverityWarning, "no update is under way", "an update is under way: ", "wait until it ends"},
		{"RetrievedUpdates", []ConditionStatus{False, Unknown}, false, SeverityWarning, "the list of updates is current", "the list of updates may be old: ", ""},
		{"Upgradeable", []ConditionStatus{False}, true, SeverityWarning, "nothing blocks an update to another minor version", "an update to another minor version is blocked: ", "do what it asks for, or choose an update within the minor version"},
	} {
		c := fairlead.FindCondition(cv.Status.Conditions, check.kind)
		switch {
		case c == nil && !check.absent:
			a.Unchecked = append(a.Unchecked, check.kind+": the ClusterVersion does not report it")
		case c == nil || !slices.Contains(check.bad, c.Status):
			a.Checked = append(a.Checked, check.passed)
		default:
			a.concern(Finding{
				Subject: "clusterversion version", Severity: check.severity, Reason: cmp.Or(c.Reason, c.Type), Since: c.LastTransitionTime,
				Owner: "administrator", Message: check.failed + c.Message, Next: cmp.Or(check.next, noUpdates(cv, c)),
			}, accepted)
		}
	}
	before := len(a.Concerns)
	for _, alert := range alerts {
		if f, ok := alert.concern(); ok {
			if !slices.Contains(accepted, alert.Labels["alertname"]) {
				a.concern(f, nil)
			}
		}
	}
	switch {
	case alerts == nil:
		a.Unchecked = append(a.Unchecked, "alerts: without them problems may go unnoticed")
	case len(a.Concerns) == before:
		a.Checked = append(a.Checked, "no alert is a reason against an update")
	}
	slices.SortStableFunc(a.Concerns, func(x, y Finding) int {
		order := []Severity{SeverityError, SeverityWarning, SeverityInfo}
		return cmp.Or(cmp.Compare(slices.Index(order, x.Severity), slices.Index(order, y.Severity)), strings.Compare(x.Subject, y.Subject), strings.Compare(x.Message, y.Message))
	})
}

// otherChannels names the channels of later minor versions that have the running release.
func otherChannels(cv *ClusterVersion) string {
	minor, is := channelMinor(cv.Spec.Channel)
	var later []string
	for _, name := range cv.Status.Desired.Channels {
		if m, ok := channelMinor(name); ok && is && m > minor {
			later = append(later, name)
		}
	}
	if len(later) == 0 {
		return ""
	}
	slices.SortStableFunc(later, func(a, b string) int { return cmp.Compare(rankChannel(a), rankChannel(b)) })
	return "; those of a later minor version are in " + words.List(later, "and", 3) + ": " + shell.Command("oc adm upgrade channel %s", later[0])
}

// channelMinor returns the minor version of a channel such as stable-4.19, as 19; ok is false for
// channels of other shapes.
func channelMinor(channel string) (minor int, ok bool) {
	_, text, found := strings.Cut(channel, "-4.")
	if !found {
		return 0, false
	}
	minor, err := strconv.Atoi(text)
	return minor, err == nil
}

// ChannelHelp says which channel, or what else, makes the updates to a minor version such as
// 4.19 known to a cluster; empty if its channel is right and its list of updates current.
func ChannelHelp(cv *ClusterVersion, minor string) string {
	if c := fairlead.FindCondition(cv.Status.Conditions, "RetrievedUpdates"); c != nil && c.Status != True {
		return "the list of updates could not be retrieved (" + c.Reason + "); " + noUpdates(cv, c)
	}
	kind, has, found := strings.Cut(cv.Spec.Channel, "-4.")
	at, err := strconv.Atoi(has)
	want, ok := channelMinor("x-" + minor)
	if !found || err != nil || !ok || want <= at {
		return ""
	}
	if kind == "eus" && want%2 == 1 {
		kind = "stable"
	}
	return "its channel " + cv.Spec.Channel + " has no releases of " + minor + ": " + shell.Command("oc adm upgrade channel %s", kind+"-"+minor)
}

// built are versions of builds that are in no channel.
var built = regexp.MustCompile(`-0\.(nightly|ci|konflux)`)

// noUpdates is what helps against a list of updates that could not be retrieved.
func noUpdates(cv *ClusterVersion, c *Condition) string {
	channels := slices.DeleteFunc(slices.Clone(cv.Status.Desired.Channels), func(name string) bool { return name == cv.Spec.Channel })
	switch graph.FetchFailure(c.Reason) {
	case graph.VersionNotFound, graph.NoChannel:
		if len(channels) == 0 {
			v := cv.Status.Desired.Minor()
			if strings.Contains(cv.Status.Desired.Version, "okd") {
				return "set a channel that has " + cv.Status.Desired.Version + ": those of OKD are stable-scos-" + v + " and stable-4: " + shell.Command("oc adm upgrade channel stable-scos-%s", v)
			}
			if built.MatchString(cv.Status.Desired.Version) {
				return "no channel has " + cv.Status.Desired.Version + ", a build that was not released: name the image of the next release yourself, with --to-image of oc adm upgrade, or install a release"
			}
			to := "stable-" + v
			if to == cv.Spec.Channel { // which lacks it
				to = "candidate-" + v
			}
			return "set a channel that has " + cv.Status.Desired.Version + ", as in: " + shell.Command("oc adm upgrade channel %s", to)
		}
		slices.SortStableFunc(channels, func(a, b string) int { return cmp.Compare(rankChannel(a), rankChannel(b)) })
		return cv.Status.Desired.Version + " is in " + words.List(channels, "and", 6) + "; set one of them: " + shell.Command("oc adm upgrade channel %s", channels[0])
	case graph.RemoteFailed, graph.ResponseFailed:
		return "make sure that the update service is reachable, also through the proxy: " + cmp.Or(cv.Spec.Upstream, "https://api.openshift.com/api/upgrades_info/v1/graph") + "; in a disconnected cluster, let spec.upstream name an update service there"
	}
	return "fix what it reports; oc adm upgrade shows it"
}

// rankChannel puts channels for production first.
func rankChannel(name string) int {
	for i, prefix := range []string{"stable", "eus", "fast", "candidate"} {
		if strings.HasPrefix(name, prefix) {
			return i
		}
	}
	return 4
}

// concern adds a finding, unless its reason is accepted.
func (a *Advice) concern(f Finding, accepted []string) {
	if !slices.Contains(accepted, f.Reason) {
		a.Concerns = append(a.Concerns, f)
	}
}

// Minor returns the major and minor version of a release, as in 4.18, or "".
func (r Release) Minor() string {
	v, err := semverx.Parse(r.Version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor())
}
