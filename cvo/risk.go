package cvo

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/semverx"
)

// ClusterRisk is a risk of updating that the cluster itself shows. Its rule is Always,
// because it was observed.
type ClusterRisk struct {
	graph.Risk
	Minor  bool      // it concerns only updates that change the minor or major version
	Reason string    // why it was found, in a word
	Detail string    // what was seen, if that is more than the message says
	Since  time.Time // since when it exists; zero if unknown
}

// same reports whether a risk of a graph has the same definition.
func (r *ClusterRisk) same(o graph.Risk) bool {
	return r.Name == o.Name && r.URL == o.URL && r.Message == o.Message && slices.Equal(r.MatchingRules, o.MatchingRules)
}

// The names of risks that a cluster shows, besides those of alerts. Those of
// acknowledgements and operators are followed by a dash and the name of the
// gate or operator.
const (
	RiskUpdating    = "ClusterVersionUpdating"     // an update is in progress
	RiskOverrides   = "ClusterVersionOverrides"    // spec.overrides keeps resources from being updated
	RiskDeleting    = "ResourceDeletionInProgress" // resources that a release removes are still there
	RiskAdminAck    = "AdminAck"                   // an administrator must acknowledge something
	RiskUpgradeable = "ClusterOperatorUpgradeable" // an operator says that the minor version must not change
)

// Links to the documentation of risks.
const (
	manual         = "https://docs.redhat.com/en/documentation/openshift_container_platform/"
	aboutOperators = "html/updating_clusters/understanding-openshift-updates-1#understanding_clusteroperator_conditiontypes_understanding-openshift-updates"
	aboutManifests = "html/updating_clusters/understanding-openshift-updates-1#update-manifest-application_how-updates-work"
	aboutOverrides = "html/config_apis/clusterversion-config-openshift-io-v1#spec-8"
)

// ClusterRisks returns the risks of updating that a cluster shows: alerts, an update in
// progress, overrides, deletions, missing acknowledgements, and operators that report not
// to be upgradeable; in this order, and those of a kind by name.
func ClusterRisks(w *World) []ClusterRisk {
	if w.Cluster == nil {
		return nil
	}
	return clusterRisks(w, w.Cluster.Status.Conditions, w.Cluster.Status.Desired.Version)
}

// clusterRisks is ClusterRisks with the conditions and the version that the status is
// about to get.
func clusterRisks(w *World, conditions []Condition, version string) []ClusterRisk {
	list := alertRisks(w.Alerts)
	add := func(name, reason, message, url string, since time.Time) {
		list = append(list, ClusterRisk{
			Risk:  graph.Risk{Name: name, Message: message, URL: url, MatchingRules: []graph.Rule{{Type: graph.RuleAlways}}},
			Minor: true, Reason: reason, Since: since,
		})
	}
	about := func(page string) string {
		if minor := (Release{Version: version}).Minor(); minor != "" {
			return manual + minor + "/" + page
		}
		return manual
	}
	if c := fairlead.FindCondition(conditions, "Progressing"); c != nil && c.Status == True {
		add(RiskUpdating, "UpdateInProgress", "an update is under way; the condition Progressing says how far it is", about(aboutOperators), c.LastTransitionTime)
	}
	if hasOverrides(w.Cluster) {
		add(RiskOverrides, "ClusterVersionOverridesSet", "spec.overrides keeps resources from being updated; remove it before the next minor version", about(aboutOverrides), time.Time{})
	}
	if len(w.Deleting) > 0 {
		var names []string
		for _, id := range w.Deleting {
			names = append(names, id.String())
		}
		add(RiskDeleting, "ResourceDeletesInProgress", "resources that the release removes are still there: "+strings.Join(names, ", "), about(aboutManifests), time.Time{})
	}
	if w.AdminGates != nil {
		for _, g := range w.AdminGates.open(version) {
			add(g.risk, "AdminAckRequired", g.message, g.url, time.Time{})
		}
	}
	for _, o := range w.Operators {
		if c := fairlead.FindCondition(o.Status.Conditions, "Upgradeable"); c != nil && c.Status == False {
			message := fmt.Sprintf("Cluster operator %s should not be upgraded between minor versions: %s", o.Name, strings.TrimPrefix(why(c), ": "))
			add(RiskUpgradeable+"-"+o.Name, cmp.Or(c.Reason, RiskUpgradeable), message, about(aboutOperators), c.LastTransitionTime)
		}
	}
	return list
}

// riskName matches valid names of risks that are merged into updates.
var riskName = regexp.MustCompile(`^[A-Z][A-Za-z0-9.-]*$`)

// AddRisks returns updates with the further risks that concern them: an update without
// risks becomes conditional. The risks of an update that gains one are sorted by name. u
// is not changed.
//
// A risk with an invalid name, or one that contradicts a risk of the same name that is
// already there, is left out and reported in the error, which joins all such reports. The
// rest is added.
func AddRisks(u *graph.Updates, risks []ClusterRisk) (*graph.Updates, error) {
	var errs []error
	var usable []ClusterRisk
	for _, r := range risks {
		i := slices.IndexFunc(usable, func(o ClusterRisk) bool { return o.Name == r.Name })
		switch {
		case !riskName.MatchString(r.Name):
			errs = append(errs, fmt.Errorf("risk %q: its name does not match %s, and it is left out", r.Name, riskName))
		case i < 0:
			usable = append(usable, r)
		case !usable[i].same(r.Risk):
			errs = append(errs, fmt.Errorf("risk %s: the cluster defines it twice, with different texts; the first counts", r.Name))
		}
	}
	out := &graph.Updates{Current: u.Current}
	for _, to := range slices.Concat(u.Available, u.Conditional) {
		had := len(to.Risks)
		to.Risks = slices.Clone(to.Risks)
		for _, r := range usable {
			if r.Minor && !crosses(u.Current.Version, to.Version) {
				continue
			}
			if i := slices.IndexFunc(to.Risks, func(o graph.Risk) bool { return o.Name == r.Name }); i < 0 {
				to.Risks = append(to.Risks, r.Risk)
			} else if !r.same(to.Risks[i]) {
				errs = append(errs, fmt.Errorf("risk %s: for %[2]s, the graph defines it differently from the cluster; the graph's definition counts", r.Name, to.Version))
			}
		}
		if len(to.Risks) > had {
			slices.SortStableFunc(to.Risks, func(a, b graph.Risk) int { return strings.Compare(a.Name, b.Name) })
		}
		if len(to.Risks) > 0 {
			out.Conditional = append(out.Conditional, to)
		} else {
			out.Available = append(out.Available, to)
		}
	}
	return out, errors.Join(errs...)
}

// crosses reports whether an update changes the minor or major version forward.
// A version that cannot be read may be anything, and counts.
func crosses(from, to string) bool {
	v, err := semverx.Parse(from)
	w, errTo := semverx.Parse(to)
	if err != nil || errTo != nil {
		return true
	}
	return w.Major() > v.Major() || w.Major() == v.Major() && w.Minor() > v.Minor()
}
