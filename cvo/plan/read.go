package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// FromGraph returns what a Situation has from an update graph: the updates from
// releases that can be reached from one, by origin and target, and their risks by name,
// with the results of the evaluations. Releases that are not in one of the channels are
// left out; no channels mean all. The error is that of graph.Graph.Updates.
func FromGraph(g *graph.Graph, from string, channels []string, known graph.Evaluations) ([]Move, []Risk, error) {
	moves, risks := []Move{}, map[string]Risk{}
	seen := map[string]bool{from: true}
	for list := []string{from}; len(list) > 0; {
		u, err := g.Updates(list[0])
		if err != nil {
			return nil, nil, fmt.Errorf("updates of %s: %w", list[0], err)
		}
		list = list[1:]
		for _, x := range slices.Concat(u.Available, u.Conditional) {
			if len(channels) > 0 && !slices.ContainsFunc(x.Channels(), func(c string) bool { return slices.Contains(channels, c) }) {
				continue
			}
			m := Move{From: u.Current.Version, To: x.Version}
			for i, e := range known.Recommend(x, nil).Exposures {
				m.Risks = append(m.Risks, e.Risk)
				r := Risk{Name: e.Risk, Applies: e.Applies, Message: x.Risks[i].Message}
				for _, rule := range x.Risks[i].MatchingRules {
					r.Query = cmp.Or(r.Query, rule.Query)
				}
				if _, there := risks[e.Risk]; !there {
					risks[e.Risk] = r
				}
			}
			moves = append(moves, m)
			if !seen[x.Version] {
				seen[x.Version] = true
				list = append(list, x.Version)
			}
		}
	}
	slices.SortFunc(moves, func(a, b Move) int { return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To)) })
	var list []Risk
	for _, name := range slices.Sorted(maps.Keys(risks)) {
		list = append(list, risks[name])
	}
	return moves, list, nil
}

// Installed is what is observed of OLM's objects. Nil lists are unknown.
type Installed struct {
	Subscriptions []olm.Subscription          // of all namespaces
	CSVs          []olm.ClusterServiceVersion // likewise, copies included or not
	Conditions    []gate.OperatorCondition    // likewise
	InstallPlans  []resource.InstallPlan      // likewise
}

// ReadOperators returns the installed operators, with the versions that they can be updated
// to, by package. Catalogs are those of each minor version of the cluster, such as 4.19,
// because each has its own; one under "" serves all. Without any, the updates are unknown.
//
//  1. A subscription without a CSV is left out, and so are copies of CSVs. A subscription
//     names a CSV as installed as soon as it exists; as long as that has not succeeded and
//     the one that it replaces still exists, the operator counts as not updated yet.
//  2. A CSV that no subscription has installed is an operator without updates, which is
//     called as the CSV is. That of OLM's own package server belongs to the release.
//
// The error says what cannot be read.
func ReadOperators(catalogs map[string]*catalog.Catalog, in *Installed) ([]Operator, error) {
	installed := map[string]*olm.ClusterServiceVersion{}
	for i := range in.CSVs {
		if c := &in.CSVs[i]; !c.Copied() {
			installed[c.Namespace+"/"+c.Name] = c
		}
	}
	list := []Operator{}
	subscribed := map[string]bool{}
	for i := range in.Subscriptions {
		s := &in.Subscriptions[i]
		subscribed[s.Namespace+"/"+s.Status.InstalledCSV], subscribed[s.Namespace+"/"+s.Status.CurrentCSV] = true, true
		csv := standing(s.Status.InstalledCSV, func(name string) *olm.ClusterServiceVersion { return installed[s.Namespace+"/"+name] })
		if csv == nil {
			continue
		}
		subscribed[csv.Namespace+"/"+csv.Name] = true
		o := Operator{Package: s.Spec.Package, Namespace: s.Namespace, Subscription: s.Name, Channel: s.Spec.Channel, Installed: csv.Name}
		o.Automatic, o.UpdatesUnknown = s.Spec.InstallPlanApproval != olm.ApprovalManual, len(catalogs) == 0
		o.Held, o.Trouble = in.held(csv), in.trouble(s)
		own, err := csvVersion(csv)
		if err != nil {
			return nil, err
		}
		r := &operatorReader{o: &o, versions: map[string]OperatorVersion{csv.Name: own}, updates: map[[2]string][]string{}}
		for _, minor := range slices.Sorted(maps.Keys(catalogs)) {
			if err := r.read(catalogs[minor], minor); err != nil {
				return nil, err
			}
		}
		r.done()
		list = append(list, o)
	}
	for i := range in.CSVs {
		csv := &in.CSVs[i]
		if csv.Copied() || subscribed[csv.Namespace+"/"+csv.Name] || csv.Name == "packageserver" || csv.Status.Phase == "Replacing" || csv.Status.Phase == "Deleting" ||
			slices.ContainsFunc(in.CSVs, func(c olm.ClusterServiceVersion) bool {
				return c.Namespace == csv.Namespace && c.Spec.Replaces == csv.Name && !c.Copied()
			}) {
			continue
		}
		own, err := csvVersion(csv)
		if err != nil {
			return nil, err
		}
		list = append(list, Operator{Package: csv.Name, Namespace: csv.Namespace, Installed: csv.Name, Versions: []OperatorVersion{own}})
	}
	slices.SortFunc(list, func(a, b Operator) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Namespace, b.Namespace))
	})
	return list, nil
}

// held is why OLM does not replace a CSV.
func (in *Installed) held(csv *olm.ClusterServiceVersion) string {
	for i := range in.Conditions {
		c := &in.Conditions[i]
		if c.Namespace != csv.Namespace || c.Name != csv.Name {
			continue
		}
		find := func(list []fairlead.Condition) *fairlead.Condition {
			return fairlead.FindCondition(list, gate.UpgradeableCondition)
		}
		x := cmp.Or(find(c.Spec.Overrides), find(c.Spec.Conditions), find(c.Status.Conditions))
		if x != nil && x.Status == fairlead.ConditionFalse {
			return cmp.Or(strings.TrimSpace(x.Reason+": "+x.Message), "it does not say why")
		}
	}
	return ""
}

// trouble is what else keeps OLM from updating a subscription.
func (in *Installed) trouble(s *olm.Subscription) string {
	for _, kind := range []string{"InstallPlanFailed", "ResolutionFailed", "CatalogSourcesUnhealthy", "BundleUnpackFailed"} {
		if c := fairlead.FindCondition(s.Status.Conditions, kind); c != nil && c.Status == fairlead.ConditionTrue {
			return kind + ": " + cmp.Or(c.Message, c.Reason)
		}
	}
	if ref := s.Status.InstallPlanRef; ref != nil {
		for i := range in.InstallPlans {
			p := &in.InstallPlans[i]
			if p.Namespace == s.Namespace && p.Name == ref.Name && p.Status.Phase == resource.PlanFailed {
				text := "the InstallPlan " + p.Namespace + "/" + p.Name + " has failed"
				if c := fairlead.FindCondition(p.Status.Conditions, resource.PlanInstalled); c != nil && c.Message != "" {
					text += ": " + c.Message
				}
				return text
			}
		}
	}
	return ""
}

// standing returns the CSV that an operator is at, given the newest one, which the
// subscription names.
func standing(name string, get func(name string) *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	csv := get(name)
	if csv == nil || csv.Status.Phase == "" || csv.Status.Phase == olm.PhaseSucceeded {
		return csv
	}
	if before := get(csv.Spec.Replaces); before != nil {
		return before
	}
	return csv
}

// csvVersion reads an installed version.
func csvVersion(csv *olm.ClusterServiceVersion) (OperatorVersion, error) {
	v := OperatorVersion{Name: csv.Name, Version: csv.Spec.Version, MinKube: csv.Spec.MinKubeVersion}
	if text := csv.Annotations[olm.PropertiesAnnotation]; text != "" {
		props, err := olm.ParseProperties(text)
		if err != nil {
			return v, fmt.Errorf("%s/%s: %w", csv.Namespace, csv.Name, err)
		}
		return v, v.properties(props)
	}
	crds, apis := &csv.Spec.CustomResourceDefinitions, &csv.Spec.APIServiceDefinitions
	for _, d := range crds.Owned {
		_, group, _ := strings.Cut(d.Name, ".")
		v.Provides = append(v.Provides, catalog.GVK{Group: group, Version: d.Version, Kind: d.Kind}.String())
	}
	for _, d := range apis.Owned {
		v.Provides = append(v.Provides, catalog.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}.String())
	}
	for _, d := range crds.Required {
		_, group, _ := strings.Cut(d.Name, ".")
		v.Requires = append(v.Requires, Requirement{API: catalog.GVK{Group: group, Version: d.Version, Kind: d.Kind}.String()})
	}
	for _, d := range apis.Required {
		v.Requires = append(v.Requires, Requirement{API: catalog.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}.String()})
	}
	return v, nil
}

// operatorReader collects the versions that an operator can be updated to.
type operatorReader struct {
	o        *Operator
	versions map[string]OperatorVersion
	updates  map[[2]string][]string
}

// read adds what a catalog offers.
func (r *operatorReader) read(c *catalog.Catalog, minor string) error {
	p, ok := c.Package(r.o.Package)
	if !ok {
		return nil
	}
	name := cmp.Or(r.o.Channel, p.DefaultChannel())
	ch, ok := p.Channel(name)
	if !ok {
		return nil
	}
	g := ch.Graph(catalog.OLMv0)
	seen := map[string]bool{r.o.Installed: true}
	for known := range r.versions {
		seen[known] = true
	}
	for list := slices.Sorted(maps.Keys(seen)); len(list) > 0; {
		from := list[0]
		list = list[1:]
		for e := range g.Successors(from) {
			r.updates[[2]string{from, e.To}] = append(r.updates[[2]string{from, e.To}], minor)
			if seen[e.To] {
				continue
			}
			seen[e.To] = true
			list = append(list, e.To)
			b, ok := p.Bundle(e.To)
			if !ok {
				continue
			}
			v, err := bundleVersion(b)
			if err != nil {
				return err
			}
			r.versions[e.To] = v
		}
	}
	return nil
}

// bundleVersion reads a version of a catalog.
func bundleVersion(b *catalog.Bundle) (OperatorVersion, error) {
	v := OperatorVersion{Name: b.Name(), Version: b.Version()}
	facts, err := b.Facts()
	if err != nil {
		return v, err
	}
	if err := v.properties(facts); err != nil {
		return v, fmt.Errorf("%s: %w", b.Name(), err)
	}
	props, err := b.Properties()
	if err != nil {
		return v, err
	}
	for _, p := range props {
		if p.Type == catalog.PropertyCSVMetadata {
			var meta struct {
				MinKubeVersion string        `json:"minKubeVersion"`
				NativeAPIs     []catalog.GVK `json:"nativeAPIs"`
			}
			if err := json.Unmarshal(p.Value, &meta); err != nil {
				return v, fmt.Errorf("%s: %w", b.Name(), err)
			}
			v.MinKube = meta.MinKubeVersion
			for _, api := range meta.NativeAPIs {
				v.Uses = append(v.Uses, resourceOf(api))
			}
		}
	}
	return v, nil
}

// done stores the collected versions, in order.
func (r *operatorReader) done() {
	for _, v := range r.versions {
		r.o.Versions = append(r.o.Versions, v)
	}
	slices.SortFunc(r.o.Versions, func(a, b OperatorVersion) int {
		return cmp.Or(semverx.Tolerant(a.Version).Compare(semverx.Tolerant(b.Version)), strings.Compare(a.Name, b.Name))
	})
	for e, minors := range r.updates {
		u := OperatorUpdate{From: e[0], To: e[1], Minors: minors}
		if slices.Contains(minors, "") {
			u.Minors = nil
		}
		r.o.Updates = append(r.o.Updates, u)
	}
	slices.SortFunc(r.o.Updates, func(a, b OperatorUpdate) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
}
