package install_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/source"
)

const ns = "ns"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scenarios of testdata. The commands:
//
//	catalog [NAME] [priority=N] a catalog from here on, see shelf; its name is
//	                            shelf if there is none. No lines: it goes
//	in NAMESPACE                what follows is about that namespace, not ns
//	partial                     from the next catalog on what can be served is
//	unserved                    the cluster keeps no certificates and webhooks
//	across                      namespaces are kept out of each other's way
//	policy [timeout=DURATION] [attempts=N] [certificates=DURATION]
//	edit                        sets members of the world: a JSON object
//	new [fail-forward]          a new, empty cluster with an operator group
//	subscribe PACKAGE[/CHANNEL] [manual] [starting=NAME] [name=NAME] [source=CATALOG]
//	remove SUBSCRIPTION uninstall|refresh    asks for a removal
//	unsubscribe NAME
//	approve PLAN [CSV...]       all of it, or a part
//	health CSV=HEALTH...        how deployments stand from here on
//	condition CSV [TEXT...]     whether it may be replaced: not if there is text
//	groups none|one|two         how many operator groups there are
//	fail KEY...                 these actions fail from here on; none if none
//	delete csv=NAME|plan=NAME|crd=NAME
//	stored CRD VERSION          all objects are stored in that version only
//	reach CATALOG STATE         how the connection to a catalog stands
//	tamper PLAN                 changes the manifest of the plan's last step
//	jump DURATION               sets the clock ahead, or back
//	content BUNDLE              what the bundle holds: JSON objects, one a line
//	run [for=DURATION] [full]   makes passes until nothing changes, then until
//	                            the time is over; prints actions and blocks; full
//	                            also what follows from groups, and conditions
//	show [KEY...]               prints what is installed, or members of the world
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words, health: map[string]install.Health{}, failing: map[string]bool{}}
		s.reset(nil)
		return s.command
	})
}

type script struct {
	t        *testing.T
	words    *golden.Words
	ns       string
	sources  []olm.Source
	resolver *olm.Resolver
	across   bool
	options  olm.Options
	policy   install.Policy
	store    *fairlead.MemStore
	backend  *install.MemBackend
	runner   *install.Runner
	clock    *fairlead.ManualClock
	health   map[string]install.Health
	failing  map[string]bool
	out      strings.Builder
	full     bool              // print all actions
	told     map[string]string // of each subscription, what was printed last
}

// reset begins with an empty cluster.
func (s *script) reset(g *group.OperatorGroup) {
	clear(s.health)
	clear(s.failing)
	s.ns, s.across, s.policy, s.store = ns, false, install.Policy{}, new(fairlead.MemStore)
	s.told = map[string]string{}
	s.clock = new(fairlead.ManualClock)
	s.clock.Set(start)
	s.backend = &install.MemBackend{Health: func(_, csv string) (install.Health, string) {
		if h, ok := s.health[csv]; ok {
			return h, "no pods"
		}
		return install.Ready, ""
	}}
	if g == nil {
		g = new(group.OperatorGroup)
	}
	g.Name = "group-1"
	s.backend.Sources = s.sources
	s.edit(func(w *install.World) { w.Groups = []install.OperatorGroup{{OperatorGroup: *g}} })
	s.newRunner()
}

func (s *script) newRunner() {
	var err error
	s.runner, err = install.NewRunner(failingBackend{s.backend, s.failing}, func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		if s.across {
			return install.Across(s.resolver, s.backend.Requests)(ctx, req)
		}
		return s.resolver.Resolve(ctx, req)
	}, &s.policy, &fairlead.RunnerOptions{Clock: s.clock, Store: s.store})
	if err != nil {
		s.t.Fatal(err)
	}
}

type failingBackend struct {
	*install.MemBackend
	failing map[string]bool
}

func (b failingBackend) Apply(ctx context.Context, namespace string, a install.Action) error {
	if b.failing[a.String()] {
		return fmt.Errorf("%s: the server is on strike", a)
	}
	return b.MemBackend.Apply(ctx, namespace, a)
}

func (s *script) edit(f func(w *install.World)) {
	if err := s.backend.Edit(s.ns, func(w *install.World) error { f(w); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) command(c *golden.Command) string {
	s.out.Reset()
	switch c.Name {
	case "catalog":
		s.stock(c)
	case "in":
		s.ns = c.Args[0].Key
	case "partial":
		s.options.PartialOK = true
	case "unserved":
		s.backend.Unserved = true
	case "across":
		s.across = true
	case "policy":
		s.policy.PlanTimeout, _ = time.ParseDuration("0s" + c.Value("timeout"))
		s.policy.CertificateLifetime, _ = time.ParseDuration("0s" + c.Value("certificates"))
		s.policy.KeepUnneeded, _ = time.ParseDuration("0s" + c.Value("unneeded"))
		s.policy.StepAttempts, _ = strconv.Atoi(c.Value("attempts"))
		s.newRunner()
	case "edit":
		if err := s.backend.Edit(s.ns, func(w *install.World) error { return patch(w, c.Input) }); err != nil {
			return err.Error()
		}
	case "new":
		g := new(group.OperatorGroup)
		if len(c.Args) > 0 {
			g.Spec.UpgradeStrategy = group.UpgradeFailForward
		}
		s.reset(g)
	case "subscribe":
		s.subscribe(c)
	case "run":
		limit, err := time.ParseDuration("0s" + c.Value("for"))
		if err != nil {
			return err.Error()
		}
		s.full = c.Has("full")
		s.run(limit)
	case "show":
		if len(c.Args) > 0 {
			s.members(c)
		} else {
			s.show()
		}
	default:
		if !s.user(c) && !s.ask(c) {
			s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
		}
	}
	if s.out.Len() == 0 {
		return "ok"
	}
	return s.out.String()
}

// stock sets the catalog of a name.
func (s *script) stock(c *golden.Command) {
	key := olm.SourceKey{Name: "shelf"}
	for _, a := range c.Args {
		if len(a.Values) == 0 {
			key.Name = a.Key
		}
	}
	s.sources = slices.DeleteFunc(s.sources, func(x olm.Source) bool { return x.SourceKey == key })
	if strings.TrimSpace(c.Input) != "" {
		src := parseShelf(c.Input).sources(s.t)[0]
		src.SourceKey = key
		src.Priority, _ = strconv.Atoi(c.Value("priority"))
		s.sources = append(s.sources, src)
	}
	r, err := olm.NewResolver(s.sources, &s.options)
	if err != nil {
		s.t.Fatalf("%s: %v", c.Pos, err)
	}
	s.resolver, s.backend.Sources = r, s.sources
}

// patch sets the members of a world that a JSON object has.
func patch(w *install.World, text string) error {
	var all, set map[string]json.RawMessage
	was, err := json.Marshal(w)
	if err := errors.Join(err, json.Unmarshal(was, &all), json.Unmarshal([]byte(text), &set)); err != nil {
		return err
	}
	maps.Copy(all, set)
	is, err := json.Marshal(all)
	*w = install.World{}
	return errors.Join(err, json.Unmarshal(is, w))
}

// members prints members of the world, an element a line, without revisions.
func (s *script) members(c *golden.Command) {
	text, err := json.Marshal(s.backend.World(s.ns))
	var all map[string]any
	if err := errors.Join(err, json.Unmarshal(text, &all)); err != nil {
		s.t.Fatal(err)
	}
	for _, a := range c.Args {
		list, ok := all[a.Key].([]any)
		if !ok {
			list = []any{all[a.Key]}
		}
		for _, item := range list {
			if m, ok := item.(map[string]any); ok {
				delete(m, "revision")
				delete(m, "digest")
				delete(m, "deployedDigest")
			}
			line, _ := json.Marshal(item)
			fmt.Fprintf(&s.out, "%s %s\n", a.Key, line)
		}
	}
}

func (s *script) subscribe(c *golden.Command) {
	var sub install.Subscription
	pkg, channel, _ := strings.Cut(c.Args[0].Key, "/")
	sub.Name, sub.Spec.Package, sub.Spec.Channel = pkg, pkg, channel
	sub.Spec.StartingCSV, sub.Spec.Source = c.Value("starting"), c.Value("source")
	if n := c.Value("name"); n != "" {
		sub.Name = n
	}
	for _, a := range c.Args {
		if a.Key == "manual" {
			sub.Spec.InstallPlanApproval = olm.ApprovalManual
		}
	}
	s.edit(func(w *install.World) { w.Subscriptions = append(w.Subscriptions, sub) })
}

// user does what users and the operators themselves do.
func (s *script) user(c *golden.Command) bool {
	switch c.Name {
	case "unsubscribe":
		s.edit(func(w *install.World) {
			w.Subscriptions = without(w.Subscriptions, func(x install.Subscription) string { return x.Name }, c.Args[0].Key)
		})
	case "remove":
		s.edit(func(w *install.World) {
			for i := range w.Subscriptions {
				if w.Subscriptions[i].Name == c.Args[0].Key {
					notes := map[string]string{}
					maps.Copy(notes, w.Subscriptions[i].Annotations)
					notes[install.RemovalAnnotation] = c.Args[1].Key
					w.Subscriptions[i].Annotations = notes
				}
			}
		})
	case "approve":
		s.approve(c)
	case "health":
		for _, a := range c.Args {
			s.health[a.Key] = install.Health(a.Values[0])
		}
	case "condition":
		s.edit(func(w *install.World) { setCondition(w, c.Args[0].Key, strings.TrimSpace(c.Input)) })
	case "groups":
		s.edit(func(w *install.World) {
			w.Groups = make([]install.OperatorGroup, map[string]int{"none": 0, "one": 1, "two": 2}[c.Args[0].Key])
			for i := range w.Groups {
				w.Groups[i].Name = fmt.Sprintf("group-%d", i+1)
			}
		})
	case "stored":
		s.edit(func(w *install.World) {
			for i := range w.CRDs {
				if w.CRDs[i].Name == c.Args[0].Key {
					w.CRDs[i].Status.StoredVersions = []string{c.Args[1].Key}
				}
			}
		})
	case "reach":
		s.edit(func(w *install.World) {
			for i := range w.Catalogs {
				if k := &w.Catalogs[i]; k.Name == c.Args[0].Key {
					k.Address, k.Seen = k.Name+":50051", source.State(c.Args[1].Key)
				}
			}
		})
	case "tamper":
		s.edit(func(w *install.World) {
			for i := range w.Plans {
				if w.Plans[i].Name == c.Args[0].Key {
					steps := w.Plans[i].Status.Plan
					steps[len(steps)-1].Resource.Manifest += " "
				}
			}
		})
	case "jump":
		d, err := time.ParseDuration(c.Args[0].Key)
		if err != nil {
			s.t.Fatalf("%s: %v", c.Pos, err)
		}
		s.clock.Set(s.clock.Now().Add(d))
	case "content":
		held := install.Content{Source: olm.SourceKey{Name: "shelf"}, Bundle: c.Args[0].Key}
		if b, err := install.FindBundle(s.sources, install.Unpack{Source: held.Source, Package: held.Bundle[:1], Bundle: held.Bundle}); err == nil {
			held.Properties, _ = b.Facts()
		}
		for line := range strings.Lines(c.Input) {
			held.Manifests = append(held.Manifests, json.RawMessage(strings.TrimSpace(line)))
		}
		s.edit(func(w *install.World) { w.Contents = append(w.Contents, held) })
	case "fail":
		clear(s.failing)
		for line := range strings.Lines(c.Input) {
			s.failing[strings.TrimSpace(line)] = true
		}
	case "delete":
		s.edit(func(w *install.World) {
			w.CSVs = without(w.CSVs, func(x install.CSV) string { return x.Name }, c.Value("csv"))
			w.Plans = without(w.Plans, func(x install.InstallPlan) string { return x.Name }, c.Value("plan"))
			w.CRDs = without(w.CRDs, func(x install.CRD) string { return x.Name }, c.Value("crd"))
		})
	default:
		return false
	}
	return true
}

// setCondition lets an operator say that it may not be replaced, unless the text
// is empty.
func setCondition(w *install.World, csv, text string) {
	c := gate.OperatorCondition{ObjectMeta: olm.ObjectMeta{Name: csv}}
	if text != "" {
		c.Spec.Conditions = []olm.Condition{{Type: gate.UpgradeableCondition, Status: "False", Message: text}}
	}
	w.Conditions = append(without(w.Conditions, func(x install.OperatorCondition) string { return x.Name }, csv), install.OperatorCondition{OperatorCondition: c})
}

func without[T any](list []T, name func(T) string, gone string) []T {
	var kept []T
	for _, x := range list {
		if name(x) != gone {
			kept = append(kept, x)
		}
	}
	return kept
}

// run makes passes until no action is decided on, then on at every Wake until
// the time is over.
func (s *script) run(limit time.Duration) {
	until := s.clock.Now().Add(limit)
	for range 1000 {
		d, err := s.runner.Reconcile(s.t.Context(), s.ns)
		for _, a := range d.Actions {
			if s.worthTelling(a) {
				fmt.Fprintf(&s.out, "%s%s\n", s.since(), s.describe(a))
			}
		}
		if err != nil {
			fmt.Fprintf(&s.out, "%serror%s\n", s.since(), s.words.Data("Error", err.Error()))
		}
		if len(d.Actions) > 0 && err == nil {
			continue
		}
		if d.Wake.IsZero() || d.Wake.After(until) {
			s.clock.Set(until)
			for _, b := range d.Blocked {
				if b.Reason == install.ReasonGenerated && !s.full {
					continue
				}
				fmt.Fprintf(&s.out, "blocked: %s\n", s.words.Block(b, start))
			}
			return
		}
		s.clock.Set(d.Wake)
	}
	s.t.Fatal("there is no end to it")
}

// worthTelling reports whether an action is printed: without full not what
// follows from the operator group, nor a status that only says why.
func (s *script) worthTelling(a install.Action) bool {
	if s.full {
		return true
	}
	switch a := a.(type) {
	case install.UpdateGroup, install.WriteObject, install.Annotate, install.WriteCondition:
		return false
	case install.DeleteObject:
		return a.Owner != s.ns
	case install.UpdateSubscription:
		text := describe(a)
		again := s.told[a.Name] == text || s.told[a.Name] == "" && a.Status.CurrentCSV == ""
		s.told[a.Name] = text
		return !again
	}
	return true
}

func (s *script) since() string {
	if d := s.clock.Now().Sub(start); d != 0 {
		return d.String() + " "
	}
	return ""
}

// describe is describe with the details that full asks for.
func (s *script) describe(a install.Action) string {
	if s.full {
		switch a := a.(type) {
		case install.UpdateSubscription:
			return describe(a) + s.conditions(a)
		case install.Deploy:
			text := a.String()
			for _, d := range a.Deployments {
				text += "\n  " + string(d)
			}
			return text
		case install.ReportUpgradeable:
			return a.String() + " " + a.Condition.Reason + s.words.Data(a.Condition.Reason, a.Condition.Message)
		}
	}
	return describe(a)
}

func describe(a install.Action) string {
	switch a := a.(type) {
	case install.WriteObject:
		return "write " + a.Ref.String()
	case install.SetPhase:
		return fmt.Sprintf("%s is %s: %s", a.CSV, a.Phase, a.Reason)
	case install.WritePlan:
		text := fmt.Sprintf("%s is %s", a.Plan.Name, a.Plan.Status.Phase)
		if a.Plan.Revision == "" {
			text += fmt.Sprintf(" (%s): %s", a.Plan.Spec.Approval, strings.Join(a.Plan.Spec.ClusterServiceVersionNames, ", "))
		}
		return text
	case install.UpdateSubscription:
		return fmt.Sprintf("subscription %s: %s, current %s, installed %s", a.Name, a.Status.State, a.Status.CurrentCSV, a.Status.InstalledCSV)
	}
	return a.String()
}

func (s *script) show() {
	w := s.backend.World(s.ns)
	for _, c := range w.CSVs {
		fmt.Fprintf(&s.out, "csv %s %s\n", c.Name, c.Status.Phase)
	}
	for _, x := range w.Subscriptions {
		fmt.Fprintf(&s.out, "subscription %s current=%s installed=%s\n", x.Name, x.Status.CurrentCSV, x.Status.InstalledCSV)
	}
	for _, p := range w.Plans {
		fmt.Fprintf(&s.out, "plan %s %s approved=%v\n", p.Name, p.Status.Phase, p.Spec.Approved)
	}
	for _, c := range w.CRDs {
		fmt.Fprintf(&s.out, "crd %s %s\n", c.Name, strings.Join(c.Served(), ","))
	}
	for _, o := range w.Objects {
		fmt.Fprintf(&s.out, "%s of %s\n", o.Ref, o.Owner)
	}
}
