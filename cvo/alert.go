package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
)

// Alert is an alert of the cluster's monitoring, with the JSON names of the
// Prometheus API.
type Alert struct {
	Labels      map[string]string `json:"labels"`            // alertname, severity and the subject
	Annotations map[string]string `json:"annotations"`       // summary, description and runbook_url
	State       string            `json:"state"`             // pending or firing
	ActiveAt    time.Time         `json:"activeAt,omitzero"` // since when
}

// alertKind is why an alert matters to an update.
type alertKind uint8

const (
	alertOther    alertKind = iota // it does not matter
	alertCritical                  // the cluster has a serious problem
	alertBudget                    // a disruption budget allows nothing
	alertNode                      // nodes are not well
	alertImage                     // images may not be available
	alertWorkload                  // virtual machines or what runs them cannot move
	alertPrecheck                  // it should be checked
)

// kind says why a firing alert matters.
func (a *Alert) kind() alertKind {
	name := a.Labels["alertname"]
	switch {
	case name == "" || a.State != "firing":
		return alertOther
	case a.Labels["severity"] == "critical":
		return alertCritical
	case name == "PodDisruptionBudgetAtLimit" || name == "PodDisruptionBudgetLimit":
		return alertBudget
	case strings.HasPrefix(name, "KubeNode") || name == "KubeletHealthState":
		return alertNode
	case name == "KubeContainerWaiting" || strings.Contains(name, "ImagePull"):
		return alertImage
	case name == "VirtHandlerDaemonSetRolloutFailing" || name == "VMCannotBeEvicted":
		return alertWorkload
	case a.Labels["openShiftUpdatePrecheck"] == "true":
		return alertPrecheck
	}
	return alertOther
}

// Serious reports whether an alert fires and is critical, or matters to updates, and which of both.
func (a *Alert) Serious() (matters, critical bool) {
	k := a.kind()
	return k != alertOther, k == alertCritical
}

// why says what an alert of a kind means for an update.
func (a *Alert) why(k alertKind) string {
	switch k {
	case alertCritical:
		return "the cluster has a serious problem"
	case alertBudget:
		return "draining nodes may take long: budget " + a.Labels["namespace"] + "/" + a.Labels["poddisruptionbudget"] + " allows no disruption"
	case alertNode:
		return "nodes may not come back after their update"
	case alertImage:
		return "images may not be available"
	case alertWorkload:
		return "nodes may not drain"
	}
	return "it should be checked before an update"
}

// concern is an alert as a reason against an update.
func (a *Alert) concern() (Finding, bool) {
	name, kind := a.Labels["alertname"], a.kind()
	if kind == alertOther {
		return Finding{}, false
	}
	f := Finding{Subject: "alert " + name, Severity: SeverityWarning, Reason: "Alert:" + a.State, Since: a.ActiveAt, Owner: cmp.Or(a.Labels["namespace"], "administrator")}
	if kind == alertCritical {
		f.Severity = SeverityError
	}
	f.Message = a.why(kind) + ": " + cmp.Or(a.Annotations["summary"], a.Annotations["message"], name)
	if about := a.Labels["name"]; about != "" {
		f.Message += " (" + about + ")"
	}
	f.Next = cmp.Or(a.Annotations["runbook_url"], a.Annotations["runbook"], "check the alert before an update")
	return f, true
}

// noRunbook is the link for alerts that name no runbook.
const noRunbook = "https://github.com/openshift/runbooks/tree/master/alerts?runbook=notfound"

// alertRisks returns the risks of alerts, by name. Alerts of one name are one
// risk, with the time of the earliest; its detail lists each.
func alertRisks(alerts []Alert) []ClusterRisk {
	var list []ClusterRisk
	for i := range alerts {
		a := &alerts[i]
		kind, name := a.kind(), a.Labels["alertname"]
		if kind == alertOther {
			continue
		}
		detail := a.detail(kind)
		if k := slices.IndexFunc(list, func(r ClusterRisk) bool { return r.Name == name }); k >= 0 {
			list[k].Detail += "; " + detail
			if a.ActiveAt.Before(list[k].Since) {
				list[k].Since = a.ActiveAt
			}
			continue
		}
		summary := cmp.Or(a.Annotations["summary"], name)
		if !strings.HasSuffix(summary, ".") {
			summary += "."
		}
		list = append(list, ClusterRisk{
			Risk: graph.Risk{
				Name: name, Message: summary, URL: cmp.Or(a.Annotations["runbook_url"], noRunbook),
				MatchingRules: []graph.Rule{{Type: graph.RuleAlways}},
			},
			Reason: "Alert:" + a.State, Detail: detail, Since: a.ActiveAt,
		})
	}
	slices.SortFunc(list, func(a, b ClusterRisk) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// detail returns everything that an alert says.
func (a *Alert) detail(kind alertKind) string {
	text := fmt.Sprintf("%s alert %s %s, %s", a.Labels["severity"], a.Labels["alertname"], a.State, a.why(kind))
	for _, key := range []string{"summary", "description", "message", "runbook_url"} {
		if said := a.Annotations[key]; said != "" {
			text += " | " + said
		}
	}
	return strings.TrimSpace(text)
}
