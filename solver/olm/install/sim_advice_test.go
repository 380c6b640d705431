package install_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// TestAdvice lets users ask the explanation whenever something waits, and do what it
// says, by the printed commands: everything that can be installed is installed in
// the end, and no step is in vain.
func TestAdvice(t *testing.T) {
	steps := map[string]int{}
	for seed := range uint64(long.N(60, 10_000)) {
		s := newAdvised(t, seed)
		if problem := s.play(steps); problem != "" {
			t.Fatalf("seed %d: %s\n%s\nthe engine says\n%v", seed, problem, strings.Join(s.told, "\n"), s.blocked)
		}
	}
	t.Logf("what was done: %v", steps)
	for _, reason := range []string{"NoOperatorGroup", "TooManyOperatorGroups", "UnsupportedOperatorGroup", "CatalogSourcesUnhealthy", "RequiresApproval", "OperatorConditionNotUpgradeable", "InstallComponentFailed"} {
		if steps[reason] == 0 {
			t.Errorf("nobody met %s", reason)
		}
	}
}

// advised is a namespace with a user who asks.
type advised struct {
	t       *testing.T
	rng     *rand.Rand
	sources []olm.Source
	backend *install.MemBackend
	runner  *install.Runner
	clock   *fairlead.ManualClock
	sick    map[string]bool // CSVs whose deployments do not become ready
	told    []string
	blocked []fairlead.Block // what the engine says
}

// theShelf is the catalog of all operators.
var theShelf = olm.SourceKey{Name: "shelf", Namespace: "market"}

var modeSets = [][]string{{"AllNamespaces"}, {"OwnNamespace"}, {"OwnNamespace", "AllNamespaces"}, {"SingleNamespace", "MultiNamespace", "OwnNamespace"}}

func newAdvised(t *testing.T, seed uint64) *advised {
	s := &advised{t: t, rng: rand.New(rand.NewPCG(seed, 4)), clock: new(fairlead.ManualClock), sick: map[string]bool{}}
	s.clock.Set(start)
	s.backend = &install.MemBackend{Health: func(_, csv string) (install.Health, string) {
		if s.sick[csv] {
			return install.Broken, "no pods"
		}
		return install.Ready, ""
	}}
	text := "a/stable a.v2 replaces=a.v1\na/stable a.v1\nb/stable b.v1\nbundle b.v1 provides=(B/v1)\n"
	if s.rng.IntN(2) == 0 {
		text += "bundle a.v2 requires=(B/v1)\n"
	}
	s.sources = parseShelf(text).sources(t)
	s.sources[0].SourceKey = theShelf
	s.backend.Sources = s.sources
	var err error
	if s.runner, err = install.NewRunner(s.backend, s.resolve, nil, &fairlead.RunnerOptions{Clock: s.clock, Store: new(fairlead.MemStore)}); err != nil {
		t.Fatal(err)
	}
	s.edit(s.begin)
	return s
}

// resolve is what OLM does: while a catalog does not answer, nothing is resolved.
func (s *advised) resolve(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
	sources := slices.Clone(s.sources)
	for _, c := range s.backend.World(ns).Catalogs {
		if err := c.Err(); err != nil {
			sources = append(sources, olm.Source{SourceKey: c.Key(), Err: err})
		}
	}
	return olm.Resolve(ctx, sources, req, &olm.Options{GlobalNamespace: theShelf.Namespace})
}

func (s *advised) edit(f func(w *install.World)) {
	if err := s.backend.Edit(ns, func(w *install.World) error { f(w); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

// begin draws a namespace: its groups, install modes, catalogs, approvals.
func (s *advised) begin(w *install.World) {
	for i := range s.rng.IntN(3) {
		g := install.OperatorGroup{}
		g.Name, g.Namespace = fmt.Sprintf("g%d", i), ns
		g.Spec.TargetNamespaces = [][]string{nil, {ns}, {"other"}}[s.rng.IntN(3)]
		w.Groups = append(w.Groups, g)
	}
	w.Namespaces = []olm.ObjectMeta{{Name: ns}, {Name: "other"}}
	modes := modeSets[s.rng.IntN(len(modeSets))]
	for _, csv := range []string{"a.v1", "a.v2", "b.v1"} {
		if s.rng.IntN(3) > 0 { // else the catalog's own, which suit any group
			w.Contents = append(w.Contents, s.content(csv, modes))
		}
		s.sick[csv] = s.rng.IntN(6) == 0
	}
	for i := range 1 + s.rng.IntN(3) {
		c := install.Catalog{}
		c.Name, c.Namespace, c.Spec = fmt.Sprintf("other-%d", i), theShelf.Namespace, source.Spec{SourceType: source.TypeGRPC, Image: "example.com/x:1"}
		state := []source.State{source.StateReady, source.StateTransientFailure}[s.rng.IntN(2)]
		if i == 0 {
			c.Name, state = theShelf.Name, source.StateReady
		}
		c.Status.ConnectionState = &source.ConnectionState{LastObservedState: state, LastConnect: start}
		w.Catalogs = append(w.Catalogs, c)
	}
	for _, pkg := range []string{"a", "b"} {
		sub := install.Subscription{}
		sub.Name, sub.Namespace, sub.Spec.Package = pkg, ns, pkg
		if s.rng.IntN(3) == 0 {
			sub.Spec.InstallPlanApproval = olm.ApprovalManual
		}
		if pkg == "a" && s.rng.IntN(2) == 0 {
			sub.Spec.StartingCSV = "a.v1"
		}
		if pkg == "a" || s.rng.IntN(2) == 0 {
			w.Subscriptions = append(w.Subscriptions, sub)
		}
	}
	if s.rng.IntN(2) == 0 {
		o := install.OperatorCondition{OperatorCondition: gate.OperatorCondition{ObjectMeta: olm.ObjectMeta{Name: "a.v1", Namespace: ns}}}
		o.Spec.Conditions = []olm.Condition{{Type: gate.UpgradeableCondition, Status: "False", Reason: "Busy"}}
		w.Conditions = append(w.Conditions, o)
	}
}

// content is that of a bundle with install modes, of which its catalog knows nothing.
func (s *advised) content(csv string, modes []string) install.Content {
	held := install.Content{Source: theShelf, Bundle: csv}
	b, err := install.FindBundle(s.sources, install.Unpack{Source: held.Source, Package: csv[:1], Bundle: csv})
	if err != nil {
		s.t.Fatal(err)
	}
	if held.Properties, err = b.Facts(); err != nil {
		s.t.Fatal(err)
	}
	var list group.InstallModes
	for _, m := range modes {
		list = append(list, group.InstallMode{Type: group.InstallModeType(m), Supported: true})
	}
	var c olm.ClusterServiceVersion
	c.Name, c.Spec.InstallModes = csv, list
	if csv == "b.v1" {
		c.Spec.CustomResourceDefinitions.Owned = []olm.CRDDescription{{Name: "bs.g.example", Version: "v1", Kind: "B"}}
	}
	text, err := json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		olm.ClusterServiceVersion
	}{"operators.coreos.com/v1alpha1", "ClusterServiceVersion", c})
	if err != nil {
		s.t.Fatal(err)
	}
	held.Manifests = []json.RawMessage{text}
	if csv == "b.v1" {
		held.Manifests = append(held.Manifests, json.RawMessage(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"bs.g.example"},"spec":{"group":"g.example","names":{"kind":"B","plural":"bs"},"versions":[{"name":"v1","served":true,"storage":true}]}}`))
	}
	return held
}

// rest runs the engine until nothing is due within an hour.
func (s *advised) rest() {
	until := s.clock.Now().Add(time.Hour)
	for range 2000 {
		d, err := s.runner.Reconcile(s.t.Context(), ns)
		if err != nil {
			s.t.Fatal(err)
		}
		s.blocked = d.Blocked
		switch {
		case len(d.Actions) > 0:
		case d.Wake.IsZero() || d.Wake.After(until):
			return
		default:
			s.clock.Set(d.Wake)
		}
	}
}

// ask explains the namespace as it is now.
func (s *advised) ask() []*explain.View {
	w := s.backend.World(ns)
	c := &explain.Cluster{Global: theShelf.Namespace, Namespaces: w.Namespaces, Kinds: []explain.Kind{explain.KindOperatorGroup, explain.KindInstallPlan, explain.KindCSV, explain.KindNamespace, explain.KindSubscription}}
	for _, x := range w.Subscriptions {
		c.Subscriptions = append(c.Subscriptions, x.Subscription)
	}
	for i := range w.CSVs {
		if w.CSVs[i].Namespace == "" {
			w.CSVs[i].Namespace = ns
		}
		c.CSVs = append(c.CSVs, w.CSVs[i].ClusterServiceVersion)
	}
	c.Plans = append(c.Plans, w.Plans...)
	for i := range w.Groups {
		c.Groups = append(c.Groups, w.Groups[i].OperatorGroup)
	}
	for i := range w.Catalogs {
		c.Catalogs = append(c.Catalogs, w.Catalogs[i].CatalogSource)
	}
	for i := range w.Conditions {
		c.Conditions = append(c.Conditions, w.Conditions[i].OperatorCondition)
	}
	if res, err := s.resolve(s.t.Context(), w.Request()); err == nil {
		a := explain.AnswerOf(res)
		for i := range a.Next { // the cluster knows the install modes once a bundle is unpacked
			for _, held := range w.Contents {
				if held.Bundle == a.Next[i].CSV && len(held.Manifests) > 0 {
					var csv olm.ClusterServiceVersion
					if json.Unmarshal(held.Manifests[0], &csv) == nil {
						a.Next[i].Modes, a.Next[i].ModesKnown = csv.Spec.InstallModes, true
					}
				}
			}
		}
		c.Answers = map[string]*explain.Answer{ns: a}
	}
	return c.Operators()
}

// play asks and obeys until nothing waits; it returns what is wrong.
func (s *advised) play(steps map[string]int) string {
	done := map[string]bool{}
	for range 40 {
		s.rest()
		w := first(s.ask())
		if w == nil {
			return s.installed()
		}
		key := w.Subject + " " + w.Reason + " " + w.Message
		s.told = append(s.told, key+"\n  "+strings.Join(w.Commands, "\n  "))
		if done[key] {
			return "a step was in vain: " + key
		}
		done[key] = true
		steps[w.Reason]++
		if problem := s.obey(w); problem != "" {
			return problem
		}
	}
	return "there is no end to the advice"
}

// first is the first wait that does not end by itself.
func first(views []*explain.View) *explain.Wait {
	for _, v := range views {
		for i := range v.Waits {
			if !v.Waits[i].Passing {
				return &v.Waits[i]
			}
		}
	}
	return nil
}

// installed checks the end: every subscription has its operator, and there is nothing
// newer.
func (s *advised) installed() string {
	w := s.backend.World(ns)
	for _, sub := range w.Subscriptions {
		i := slices.IndexFunc(w.CSVs, func(c install.CSV) bool { return c.Name == sub.Status.InstalledCSV })
		if i < 0 || w.CSVs[i].Status.Phase != olm.PhaseSucceeded {
			return fmt.Sprintf("nothing waits, and subscription %s has %q", sub.Name, sub.Status.InstalledCSV)
		}
	}
	res, err := s.resolve(s.t.Context(), w.Request())
	if err != nil || len(res.Chosen) > 0 {
		return fmt.Sprintf("nothing waits, and the resolver chooses %v, %v", res, err)
	}
	return ""
}

// obey does what a wait says: its commands as printed where they change something, and
// otherwise what its words say of things outside of the cluster.
func (s *advised) obey(w *explain.Wait) string {
	changed := false
	for _, c := range w.Commands {
		did, problem := s.kubectl(c)
		if problem != "" {
			return problem
		}
		changed = changed || did
	}
	switch {
	case changed:
	case w.Reason == "ManualApproval":
		s.edit(func(w *install.World) {
			for i := range w.Subscriptions {
				w.Subscriptions[i].Spec.InstallPlanApproval = olm.ApprovalAutomatic
			}
		})
	case strings.HasPrefix(w.Reason, "Install") || w.Reason == "ComponentUnhealthy": // somebody repairs the pods
		clear(s.sick)
	default:
		return "it helps with nothing: " + w.Block.String()
	}
	return ""
}
