package cvo

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Question returns the query to the update service for a cluster. host is the
// architecture of the machine that the engine runs on, such as runtime.GOARCH. It is
// taken for the cluster's, unless the cluster's release is for several architectures.
func Question(cv *ClusterVersion, host string) *graph.Query {
	current := cmp.Or(cv.Status.Desired.Architecture, host)
	q := &graph.Query{
		Upstream: cv.Spec.Upstream, Channel: cv.Spec.Channel, Cluster: cv.Spec.ClusterID,
		Version: cv.Status.Desired.Version, Architecture: current, Current: current,
	}
	if migrates(cv) {
		q.Architecture = graph.ArchitectureMulti
	}
	return q
}

// UpdatesCondition returns the condition RetrievedUpdates for the result of a query to
// the update service; err is nil if it answered.
func UpdatesCondition(err error, now time.Time) Condition {
	c := Condition{Type: "RetrievedUpdates", Status: True, LastTransitionTime: now}
	if err == nil {
		return c
	}
	c.Status, c.Reason, c.Message = False, "Unknown", "Unable to retrieve available updates: "+err.Error()
	var failed *graph.FetchError
	if errors.As(err, &failed) {
		c.Reason, c.Message = string(failed.Failure), "Unable to retrieve available updates: "+failed.Message
	}
	return c
}

// accepts returns the names of risks that the administrator accepts.
func accepts(cv *ClusterVersion) []string {
	var names []string
	if u := cv.Spec.DesiredUpdate; u != nil {
		for _, r := range u.AcceptRisks {
			names = append(names, r.Name)
		}
	}
	return names
}

// acceptedRisks says which risks of a release the cluster is exposed to, or may be, and
// the administrator accepts; "" if there is none.
func acceptedRisks(cv *ClusterVersion, target Release) string {
	accepted := accepts(cv)
	var names []string
	for _, c := range cv.Status.ConditionalUpdates {
		if c.Release.Image != target.Image {
			continue
		}
		for _, r := range c.Risks {
			k := slices.IndexFunc(cv.Status.ConditionalUpdateRisks, func(o ConditionalUpdateRisk) bool { return o.Name == r.Name })
			if k < 0 || !slices.Contains(accepted, r.Name) {
				continue
			}
			if applies := fairlead.FindCondition(cv.Status.ConditionalUpdateRisks[k].Conditions, "Applies"); applies != nil && applies.Status != False {
				names = append(names, r.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return target.Version + " has risks that the administrator accepts: " + strings.Join(names, ", ")
}

// offer fills the lists of updates of a status.
func (s *step) offer(out, old *Status) {
	u := s.w.Updates
	if u == nil {
		return
	}
	var seen []ClusterRisk
	if s.policy.ClusterRisks {
		seen = clusterRisks(s.w, out.Conditions, out.Desired.Version)
		var err error
		if u, err = AddRisks(u, seen); err != nil {
			s.Block(fairlead.Block{
				Subject: "clusterversion", Reason: "RisksDiverge", Owner: "cluster", Since: s.now,
				Message: strings.ReplaceAll(err.Error(), "\n", "; "), Unblock: "wait for a graph that defines them as the cluster does; the graph's count until then",
			})
		}
	}
	out.AvailableUpdates, out.ConditionalUpdates = Offers(u, s.w.Evaluations, accepts(s.w.Cluster), old, stamp(s.now))
	out.ConditionalUpdateRisks = riskList(u, seen, s.w.Evaluations, old, stamp(s.now))
	if s.w.Gates != nil && !slices.Contains(s.w.Gates, gateAcceptRisks) {
		out.ConditionalUpdateRisks = nil
		for i := range out.ConditionalUpdates {
			out.ConditionalUpdates[i].RiskNames = nil
		}
	}
}

// gateAcceptRisks is the feature gate with which the definition of ClusterVersions has
// the fields conditionalUpdateRisks and riskNames. Without it a server drops them, and
// they would be written again in each pass.
const gateAcceptRisks = "ClusterUpdateAcceptRisks"

// Offers returns the lists of the status for the updates that a graph offers: available
// ones, which are recommended for every cluster or because none of their risks applies,
// and those with risks, with the condition Recommended. Both are ordered by version,
// newest first. Conditions keep the times of old while their status stays the same.
func Offers(u *graph.Updates, known graph.Evaluations, accepted []string, old *Status, now time.Time) (available []Release, conditional []ConditionalUpdate) {
	for _, to := range u.Available {
		available = append(available, release(to.Release))
	}
	for _, to := range u.Conditional {
		r := known.Recommend(to, accepted)
		c := Condition{Type: "Recommended", Status: r.Status, Reason: r.Reason, Message: r.Message, LastTransitionTime: now}
		var before []Condition
		for _, o := range old.ConditionalUpdates {
			if o.Release.Image == to.Payload {
				before = o.Conditions
			}
		}
		conditional = append(conditional, ConditionalUpdate{Release: release(to.Release), RiskNames: riskNames(to.Risks), Risks: to.Risks, Conditions: fairlead.SetCondition(before, c)})
		if r.Status == True {
			available = append(available, release(to.Release))
		}
	}
	slices.SortStableFunc(available, newest)
	slices.SortStableFunc(conditional, func(a, b ConditionalUpdate) int { return newest(a.Release, b.Release) })
	return available, conditional
}

// riskNames returns the names of risks, sorted, each once.
func riskNames(risks []graph.Risk) []string {
	var names []string
	for _, r := range risks {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// riskList returns the risks of conditional updates, each once, with the condition
// Applies. Risks seen in the cluster have more details. If several have the same name,
// the definition of the newest release is listed.
func riskList(u *graph.Updates, seen []ClusterRisk, known graph.Evaluations, old *Status, now time.Time) []ConditionalUpdateRisk {
	var list []ConditionalUpdateRisk
	updates := slices.Clone(u.Conditional)
	slices.SortStableFunc(updates, func(a, b graph.Update) int { return newest(release(a.Release), release(b.Release)) })
	for _, to := range updates {
		for i, x := range known.Recommend(to, nil).Exposures {
			r := to.Risks[i]
			if slices.ContainsFunc(list, func(o ConditionalUpdateRisk) bool { return o.Name == r.Name }) {
				continue
			}
			c := Condition{Type: "Applies", Status: x.Applies, LastTransitionTime: now}
			switch x.Applies {
			case True:
				c.Reason, c.Message = string(graph.Match), "one of its rules matches this cluster"
			case False:
				c.Reason, c.Message = string(graph.NotMatch), "its rules do not match this cluster"
			default:
				c.Reason, c.Message = graph.ReasonEvaluation, x.Message
			}
			if k := slices.IndexFunc(seen, func(o ClusterRisk) bool { return o.Name == r.Name }); k >= 0 && seen[k].same(r) && x.Applies == True {
				c.Reason, c.Message = seen[k].Reason, cmp.Or(seen[k].Detail, seen[k].Message)
			}
			var before []Condition
			for _, o := range old.ConditionalUpdateRisks {
				if o.Name == r.Name {
					before = o.Conditions
				}
			}
			list = append(list, ConditionalUpdateRisk{r.Name, r.Message, r.URL, r.MatchingRules, fairlead.SetCondition(before, c)})
		}
	}
	slices.SortFunc(list, func(a, b ConditionalUpdateRisk) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func release(r graph.Release) Release {
	out := Release{Version: r.Version, Image: r.Payload, URL: r.URL(), Channels: r.Channels()}
	if r.Architecture() == "multi" {
		out.Architecture = graph.ArchitectureMulti
	}
	return out
}

// newest orders releases by version, newest first; those without one last. If versions
// differ only in build metadata, the last by name is first.
func newest(a, b Release) int {
	v, _ := semverx.Parse(a.Version)
	w, _ := semverx.Parse(b.Version)
	return cmp.Or(w.Compare(v), strings.Compare(b.Version, a.Version), strings.Compare(a.Image, b.Image))
}
