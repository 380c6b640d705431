package install_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// tinyShop is a namespace with two subscriptions; b requires what a provides. Both
// have an update, once the catalog is published again.
type tinyShop struct {
	Cluster   *install.MemBackend
	Outcomes  []fairlead.Outcome        // as a runner knows them
	Health    map[string]install.Health // of CSVs whose pods are not ready
	Published bool                      // the catalog has the updates
	Publishes int                       // how often it may be published
	Deleted   []install.Subscription    // that will be made again
	Deletes   int                       // how often a subscription may be deleted and made again
	Flaps     int                       // how often the pods of an operator may fail for a while
	Removes   int                       // how often somebody may delete a CSV
	Drops     int                       // how often somebody may delete a plan
	Moves     int                       // how often a may be moved to the other channel
	shop      *shop
}

// shelves are the catalog before it is published again, and then.
var shelves = [2]string{`
a/stable a.v1
a/fast a.v1
b/stable b.v1
bundle a.v1 provides=(A/v1)
bundle b.v1 requires=(A/v1)`, `
a/stable a.v2 replaces=a.v1
a/stable a.v1
a/fast a.v2 replaces=a.v1
a/fast a.v1
b/stable b.v2 replaces=b.v1
b/stable b.v1
bundle a.v1 provides=(A/v1)
bundle a.v2 provides=(A/v1)
bundle b.v1 requires=(A/v1)
bundle b.v2 requires=(A/v1)`}

// shop answers questions about the two catalogs, each question once.
type shop struct {
	sources   [2][]olm.Source
	resolvers [2]*olm.Resolver
	known     map[string]*olm.Resolution
	refused   map[string]error
}

func newShop(t *testing.T) *shop {
	s := &shop{known: map[string]*olm.Resolution{}, refused: map[string]error{}}
	for i, text := range shelves {
		s.sources[i] = parseShelf(text).sources(t)
		var err error
		if s.resolvers[i], err = olm.NewResolver(s.sources[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *shop) resolve(which int) install.Resolve {
	return func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		question, err := json.Marshal(req)
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(which, string(question))
		if r, ok := s.known[key]; ok {
			return r, s.refused[key]
		}
		r, err := s.resolvers[which].Resolve(ctx, req)
		s.known[key], s.refused[key] = r, err
		return r, err
	}
}

func (s *shop) of(w *tinyShop) int {
	if w.Published {
		return 1
	}
	return 0
}

func (s *shop) world(approval olm.Approval) *tinyShop {
	w := &tinyShop{Cluster: &install.MemBackend{}, Health: map[string]install.Health{}, shop: s}
	err := w.Cluster.Edit(ns, func(o *install.World) error {
		o.Groups = make([]install.OperatorGroup, 1)
		o.Groups[0].Name = "g"
		o.Groups[0].Spec.TargetNamespaces = []string{ns}
		o.Namespaces = []olm.ObjectMeta{{Name: ns}}
		o.Subscriptions = make([]install.Subscription, 2)
		for i, name := range []string{"a", "b"} {
			o.Subscriptions[i].Name, o.Subscriptions[i].Spec = name, olm.SubscriptionSpec{Package: name, Channel: "stable", InstallPlanApproval: approval}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return w.clone()
}

// settled returns a world in which what the catalog has is installed.
func (s *shop) settled(t *testing.T) *tinyShop {
	w := s.world("")
	var state install.State
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for now := begin.Add(-time.Hour); w.Settled(ns) != nil; now = now.Add(time.Second) {
		if now.After(begin) {
			t.Fatal("the first versions are not installed within an hour")
		}
		seen, err := w.Observe(t.Context(), ns)
		if err != nil {
			t.Fatal(err)
		}
		d := shopEngine.Step(state, seen, now)
		state = d.State
		for _, a := range d.Actions {
			if err := w.Apply(t.Context(), ns, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

func (w *tinyShop) clone() *tinyShop {
	n := *w
	n.Cluster, n.Health = w.Cluster.Fork(), maps.Clone(w.Health)
	n.Cluster.Health = func(_, csv string) (install.Health, string) { return cmp.Or(n.Health[csv], install.Ready), "" }
	n.Deleted = slices.Clone(w.Deleted)
	return &n
}

// shopEngine is the engine of the small namespaces.
var shopEngine = fairlead.Engine[install.State, *install.World, install.Action]{
	Name: "install", Version: 1,
	Step: func(s install.State, w *install.World, now time.Time) install.Decision {
		return install.Step(s, w, now, &install.Policy{MaxBackoff: 20 * time.Second})
	},
	Outcomes: func(w *install.World, all []fairlead.Outcome) *install.World { w.Outcomes = all; return w },
}

// Clone implements fairlead.SmallTrial.
func (w *tinyShop) Clone() fairlead.SmallTrial[*install.World, install.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *tinyShop) Observe(context.Context, string) (*install.World, error) {
	w.Cluster.Sources = w.shop.sources[w.shop.of(w)]
	return install.Look(w.Cluster, w.shop.resolve(w.shop.of(w)), ns)
}

// Apply implements fairlead.Backend.
func (w *tinyShop) Apply(ctx context.Context, _ string, a install.Action) error {
	w.Cluster.Sources = w.shop.sources[w.shop.of(w)]
	return w.Cluster.Apply(ctx, ns, a)
}

// Change implements fairlead.Trial.
func (w *tinyShop) Change() {}

// Judge implements fairlead.Judge: plans are not written forever, and while nothing is
// done, a CSV that has not come to its end, and a plan that waits for approval, have a
// Block.
func (w *tinyShop) Judge(_ install.State, seen *install.World, _ time.Time, d install.Decision) error {
	if d.State.Generation > 8 {
		return fmt.Errorf("%d plans were made for a handful of events", d.State.Generation)
	}
	if rule := broken(seen, d.Actions); rule != "" {
		return errors.New(rule)
	}
	if len(d.Actions) > 0 {
		return nil
	}
	told := func(subject string) bool {
		return slices.ContainsFunc(d.Blocks(), func(b fairlead.Block) bool {
			return b.Unblock != "" && strings.Contains(b.Subject+" "+b.Message, subject)
		})
	}
	for i := range seen.CSVs {
		if c := &seen.CSVs[i]; (c.Status.Phase == install.PhasePending || c.Status.Phase == install.PhaseInstalling) && !told(c.Name) {
			return fmt.Errorf("csv %s is %s, nothing is done, and no Block says why", c.Name, c.Status.Phase)
		}
	}
	for i := range seen.Plans {
		if p := &seen.Plans[i]; p.Status.Phase == install.PlanRequiresApproval && !p.Spec.Approved && !told(p.Name) {
			return fmt.Errorf("plan %s waits for approval, and no Block says so", p.Name)
		}
	}
	return nil
}

// broken returns the rule that a decision breaks: nothing is applied that nobody has
// approved; an operator goes only when the one in its place runs, and nothing is set to
// Succeeded whose pods are not ready.
func broken(w *install.World, actions []install.Action) string {
	for _, action := range actions {
		switch a := action.(type) {
		case install.ApplyStep:
			i := slices.IndexFunc(w.Plans, func(p install.InstallPlan) bool { return p.Name == a.Plan })
			switch {
			case i < 0:
				return "a step of plan " + a.Plan + " is applied, which is not there"
			case !w.Plans[i].Spec.Approved:
				return "a step of plan " + a.Plan + " is applied, which nobody has approved"
			}
		case install.DeleteCSV:
			if !slices.ContainsFunc(w.CSVs, func(c install.CSV) bool { return c.Spec.Replaces == a.CSV && c.Status.Phase == olm.PhaseSucceeded }) {
				return "csv " + a.CSV + " is deleted, and nothing runs in its place"
			}
		case install.SetPhase:
			if c := findCSV(w, a.CSV); a.Phase == olm.PhaseSucceeded && (c == nil || c.Deployed != install.Ready) {
				return "csv " + a.CSV + " has succeeded, and its pods are not ready"
			}
		}
	}
	return ""
}

// Check implements fairlead.Trial: of two CSVs that own an API one takes the
// place of the other.
func (w *tinyShop) Check() error {
	owner := map[string]*install.CSV{}
	o := w.Cluster.World(ns)
	for i := range o.CSVs {
		c := &o.CSVs[i]
		for _, d := range c.Spec.CustomResourceDefinitions.Owned {
			if other := owner[d.Name]; other != nil && c.Spec.Replaces != other.Name && other.Spec.Replaces != c.Name {
				return fmt.Errorf("CRD %s is owned by %s and by %s", d.Name, other.Name, c.Name)
			}
			owner[d.Name] = c
		}
	}
	return nil
}

func (w *tinyShop) edit(f func(o *install.World)) {
	if err := w.Cluster.Edit(ns, func(o *install.World) error { f(o); return nil }); err != nil {
		panic(err)
	}
}

// Events implements fairlead.SmallTrial.
func (w *tinyShop) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: do})
	}
	o := w.Cluster.World(ns)
	if w.Publishes > 0 {
		add("catalog has updates", false, func() { w.Publishes--; w.Published = true })
	}
	for i := range o.Plans {
		if p := &o.Plans[i]; p.Spec.Approval == olm.ApprovalManual && !p.Spec.Approved && p.Status.Phase == install.PlanRequiresApproval {
			add(p.Name+" is approved", true, func() { w.edit(func(o *install.World) { o.Plans[i].Spec.Approved = true }) })
		}
		if w.Drops > 0 {
			add(o.Plans[i].Name+" is deleted", false, func() {
				w.Drops--
				w.edit(func(o *install.World) { o.Plans = slices.Delete(o.Plans, i, i+1) })
			})
		}
	}
	for i := range o.CSVs {
		name := o.CSVs[i].Name
		switch {
		case w.Health[name] != "":
			add("pods of "+name+" are back", true, func() { delete(w.Health, name) })
		case w.Flaps > 0 && o.CSVs[i].Deployed != "":
			add("pods of "+name+" fail", false, func() { w.Flaps--; w.Health[name] = install.Broken })
		}
		if w.Removes > 0 {
			add(name+" is deleted", false, func() {
				w.Removes--
				w.edit(func(o *install.World) { o.CSVs = slices.Delete(o.CSVs, i, i+1) })
			})
		}
	}
	if len(w.Deleted) > 0 {
		add("subscription is made again", true, func() {
			sub := w.Deleted[0]
			w.Deleted = nil
			w.edit(func(o *install.World) { o.Subscriptions = append(o.Subscriptions, sub) })
		})
	}
	for i := range o.Subscriptions {
		sub := o.Subscriptions[i]
		if w.Deletes > 0 {
			add("subscription "+sub.Name+" is deleted", false, func() {
				w.Deletes--
				again := install.Subscription{}
				again.Name, again.Spec = sub.Name, sub.Spec
				w.Deleted = []install.Subscription{again}
				w.edit(func(o *install.World) { o.Subscriptions = slices.Delete(o.Subscriptions, i, i+1) })
			})
		}
		if w.Moves > 0 && sub.Name == "a" {
			add("subscription a is moved", false, func() {
				w.Moves--
				w.edit(func(o *install.World) { o.Subscriptions[i].Spec.Channel = "fast" })
			})
		}
	}
	return all
}

// Settled implements fairlead.Trial: both operators are there in their newest version, and the subscriptions say so.
func (w *tinyShop) Settled(string) error {
	version := ".v1"
	if w.Published {
		version = ".v2"
	}
	o := w.Cluster.World(ns)
	for _, name := range []string{"a", "b"} {
		i := slices.IndexFunc(o.Subscriptions, func(s install.Subscription) bool { return s.Name == name })
		c := findCSV(o, name+version)
		if i < 0 || c == nil || c.Status.Phase != olm.PhaseSucceeded || o.Subscriptions[i].Status.InstalledCSV != name+version || o.Subscriptions[i].Status.CurrentCSV != name+version {
			return fmt.Errorf("%s is not installed", name+version)
		}
	}
	if len(o.CSVs) != 2 || len(w.Health) != 0 {
		return fmt.Errorf("%d CSVs are there, and %d of them are not well", len(o.CSVs), len(w.Health))
	}
	return nil
}

// Excuses implements fairlead.Excuser: a Block is an excuse as long as somebody else is
// about to do something.
func (w *tinyShop) Excuses(blocked []fairlead.Block) bool {
	return slices.ContainsFunc(w.Events(), func(e fairlead.Event) bool { return e.Sure }) &&
		slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	s := newShop(t)
	for _, o := range []struct {
		name     string
		approval olm.Approval
		set      func(*tinyShop)
	}{
		{"plain", "", func(*tinyShop) {}},
		{"update", "", func(w *tinyShop) { w.Publishes = 1 }},
		{"from v1", "", func(w *tinyShop) { w.Publishes = 1 }}, // the first versions are there
		{"manual", olm.ApprovalManual, func(w *tinyShop) { w.Publishes = 1 }},
		{"made again", "", func(w *tinyShop) { w.Deletes = 1 }},
		{"flaps", "", func(w *tinyShop) { w.Flaps = 1 }},
		{"csv deleted", "", func(w *tinyShop) { w.Removes = 1 }},
		{"plan deleted", "", func(w *tinyShop) { w.Drops = 1 }},
		{"moved", olm.ApprovalManual, func(w *tinyShop) { w.Moves = 1 }},
	} {
		t.Run(o.name, func(t *testing.T) {
			w := s.world(o.approval)
			if o.name == "from v1" {
				w = s.settled(t)
			}
			o.set(w)
			open := func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[*install.World, install.Action] {
				return w.clone()
			}
			visit := fairlead.VisitOptions{States: long.N(150, 10_000_000), Patience: 11 * time.Minute, Horizon: 25 * time.Minute, Log: t.Log}
			if err := fairlead.CheckEngine(t.Context(), shopEngine, open, &fairlead.TrialOptions{Runs: -1, Visit: visit}); err != nil {
				t.Error(err)
			}
		})
	}
}
