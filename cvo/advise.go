package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Advice says which update to take.
type Advice struct {
	Current  string    `json:"current"`           // the version that the cluster has, or is going to
	Channel  string    `json:"channel,omitempty"` // of updates
	Channels []string  `json:"channels"`          // others that the release is in
	Concerns []Finding `json:"concerns"`          // what speaks against updating now, worst first
	Choices  []Choice  `json:"choices"`           // all updates, newest first
	// Take is the version to take: the newest that nothing speaks against. It is
	// empty when there is none.
	Take string `json:"take,omitempty"`
	Why  string `json:"why"` // why that one, or why none
}

// Choice is one update.
type Choice struct {
	Release     Release         `json:"release"`            // to update to
	Recommended ConditionStatus `json:"recommended"`        // whether the update service recommends it for this cluster
	Reason      string          `json:"reason,omitempty"`   // why not, in a word
	Message     string          `json:"message,omitempty"`  // why not
	Findings    []Precondition  `json:"findings,omitempty"` // what else speaks against it
	Blocked     bool            `json:"blocked"`            // it would be refused
}

// Clear reports whether nothing speaks against the update.
func (c *Choice) Clear() bool { return c.Recommended == True && !c.Blocked }

// Advise says which update a cluster should take, and why not the others. It
// looks at what the ClusterVersion lists, at the preconditions of each update,
// and at alerts.
func Advise(cv *ClusterVersion, alerts []Alert) *Advice {
	a := &Advice{
		Current: cv.Status.Desired.Version, Channel: cv.Spec.Channel, Channels: append([]string{}, cv.Status.Desired.Channels...),
		Concerns: []Finding{}, Choices: []Choice{},
	}
	a.concerns(cv, alerts)
	for _, r := range cv.Status.AvailableUpdates {
		a.Choices = append(a.Choices, choice(cv, Choice{Release: r, Recommended: True}))
	}
	for _, u := range cv.Status.ConditionalUpdates {
		if slices.ContainsFunc(cv.Status.AvailableUpdates, func(r Release) bool { return r.Image == u.Release.Image }) {
			continue
		}
		c := Choice{Release: u.Release, Recommended: Unknown, Reason: "UnknownConditionType", Message: "nothing is known of its risks yet"}
		if r := object.FindCondition(u.Conditions, "Recommended"); r != nil {
			c.Recommended, c.Reason, c.Message = r.Status, r.Reason, r.Message
		}
		a.Choices = append(a.Choices, choice(cv, c))
	}
	slices.SortStableFunc(a.Choices, func(x, y Choice) int { return newest(x.Release, y.Release) })
	a.take()
	return a
}

// choice adds what the preconditions say.
func choice(cv *ClusterVersion, c Choice) Choice {
	for _, p := range Preconditions(cv, c.Release) {
		if p.Name != CheckRecommended {
			c.Findings = append(c.Findings, p)
			c.Blocked = c.Blocked || !p.Warning
		}
	}
	return c
}

// take picks the newest update that nothing speaks against.
func (a *Advice) take() {
	older, refused, risky := 0, 0, 0
	for i := range a.Choices {
		c := &a.Choices[i]
		switch {
		case c.Clear() && a.Take == "":
			a.Take = c.Release.Version
		case c.Clear():
			older++
		case c.Blocked:
			refused++
		default:
			risky++
		}
	}
	var others []string
	for _, o := range []struct {
		n    int
		what string
	}{{risky, "not recommended for this cluster"}, {refused, "would be refused"}, {older, "older"}} {
		if o.n > 0 {
			others = append(others, fmt.Sprintf("%d %s", o.n, o.what))
		}
	}
	rest := ""
	if len(others) > 0 {
		rest = " (of the others, " + strings.Join(others, ", ") + ")"
	}
	switch {
	case len(a.Choices) == 0:
		a.Why = "there is no update from " + a.Current + " in channel " + cmp.Or(a.Channel, "none")
	case a.Take == "":
		a.Why = "nothing can be recommended" + rest
	default:
		a.Why = a.Take + " is the newest update without known issues" + rest
	}
	if len(a.Concerns) > 0 && a.Concerns[0].Severity == SeverityError {
		a.Why += "; see to the concerns first"
	}
}

// concerns finds what speaks against any update now.
func (a *Advice) concerns(cv *ClusterVersion, alerts []Alert) {
	for _, c := range cv.Status.Conditions {
		f := Finding{Subject: "clusterversion version", Severity: SeverityError, Reason: cmp.Or(c.Reason, c.Type), Since: c.LastTransitionTime, Owner: "administrator"}
		switch {
		case c.Type == "Failing" && c.Status != False:
			f.Message, f.Next = "the cluster version is failing: "+c.Message, "mend that before an update"
		case c.Type == "Progressing" && c.Status == True:
			f.Severity, f.Message, f.Next = SeverityWarning, "an update is under way: "+c.Message, "let it end before the next one"
		case c.Type == "RetrievedUpdates" && c.Status != True:
			f.Severity, f.Message, f.Next = SeverityWarning, "the list of updates may be old: "+c.Message, "see to it that the update service can be reached"
		case c.Type == "Upgradeable" && c.Status == False:
			f.Severity, f.Message, f.Next = SeverityWarning, "the minor version must not change yet: "+c.Message, "do what the message asks, or take an update within the minor version"
		default:
			continue
		}
		a.Concerns = append(a.Concerns, f)
	}
	for _, alert := range alerts {
		if f, ok := alert.concern(); ok {
			a.Concerns = append(a.Concerns, f)
		}
	}
	slices.SortStableFunc(a.Concerns, func(x, y Finding) int {
		order := []Severity{SeverityError, SeverityWarning, SeverityInfo}
		return cmp.Or(cmp.Compare(slices.Index(order, x.Severity), slices.Index(order, y.Severity)), strings.Compare(x.Subject, y.Subject), strings.Compare(x.Message, y.Message))
	})
}

// Minor returns the major and minor version of a release, as in 4.18, or "".
func (r Release) Minor() string {
	v, err := semverx.Parse(r.Version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor())
}
