package install_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// TestUsers lets users do what users do, in two namespaces of one cluster, and
// checks that after each thing everything comes to rest: that nothing is written
// any more, that few plans were made, and that whatever is not as it should be
// has a Block that says why.
func TestUsers(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(long.N(12, 100_000)) {
		u := newUsers(t, seed+1, counts)
		if err := u.run(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+1, err, strings.Join(u.notes[max(0, len(u.notes)-200):], "\n"))
		}
	}
	t.Log(counts)
	must := []string{
		"made again", "pinned", "moved", "approved", "csv deleted", "csv edited", "plan deleted", "catalog changed", "group changed",
		"uninstall", "crd deleted", "plan", "update", "waits for approval", "waits unsatisfied", "left out", "csv waits",
	}
	if long.Enabled() {
		must = append(must, "approved in part")
	}
	for _, what := range must {
		if counts[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
}

var teams = []string{ns, "team"}

// users is one simulation of users.
type users struct {
	*rand.Rand
	t       *testing.T
	Clock   *fairlead.ManualClock
	counts  map[string]int // of what happened
	notes   []string
	backend *install.MemBackend
	runner  *install.Runner
	health  map[string]install.Health
	lines   []shelfLine // of both catalogs
	shown   int         // the newest version that catalogs have
	opts    olm.Options
	asked   *olm.Resolver
	deleted []olm.Subscription // that may be made again
	plans   int                // made since the last event
}

// OneIn is true once in n times.
func (u *users) OneIn(n int) bool { return u.IntN(n) == 0 }

// Reach counts something that happens.
func (u *users) Reach(what string) { u.counts[what]++ }

// Note adds to what is printed when it fails.
func (u *users) Note(format string, args ...any) {
	u.notes = append(u.notes, u.Clock.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func newUsers(t *testing.T, seed uint64, counts map[string]int) *users {
	u := &users{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, Clock: new(fairlead.ManualClock), counts: counts, health: map[string]install.Health{}}
	u.Clock.Set(start)
	u.shown = 1 + u.IntN(versions)
	u.opts.PartialOK = u.OneIn(2)
	u.backend = &install.MemBackend{
		Health: func(_, csv string) (install.Health, string) { return cmp.Or(u.health[csv], install.Ready), "simulated" },
		Changed: func(_ string, a install.Action) {
			if p, ok := a.(install.WritePlan); ok && p.Plan.Revision == "" {
				u.plans++
				u.Reach("plan")
			}
			if _, ok := a.(install.DeleteCSV); ok {
				u.Reach("update")
			}
		},
	}
	u.stock()
	u.show()
	resolve := func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) { return u.asked.Resolve(ctx, req) }
	if u.OneIn(2) {
		resolve = func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
			return install.Across(u.asked, u.backend.Requests)(ctx, req)
		}
	}
	var err error
	if u.runner, err = install.NewRunner(u.backend, resolve, nil, &fairlead.RunnerOptions{Clock: u.Clock}); err != nil {
		t.Fatal(err)
	}
	for _, team := range teams {
		u.edit(team, func(w *install.World) {
			w.Groups = append(w.Groups, install.OperatorGroup{})
			w.Groups[len(w.Groups)-1].Name = "g"
			w.Groups[len(w.Groups)-1].Spec.TargetNamespaces = []string{team}
			w.Namespaces = []olm.ObjectMeta{{Name: ns}, {Name: "team"}, {Name: "third"}}
		})
	}
	return u
}

// stock draws packages, of which some bring the same APIs.
func (u *users) stock() {
	for i := range 3 {
		name := string(rune('a' + i))
		for _, ch := range []string{"stable", "fast"}[:1+u.IntN(2)] {
			for v := 1; v <= versions; v++ {
				entry := fmt.Sprintf("%s/%s %s.v%d", name, ch, name, v)
				switch {
				case v > 2 && u.OneIn(4):
					entry += fmt.Sprintf(" replaces=%s.v%d skips=(%s.v%d)", name, v-2, name, v-1)
				case v > 1 && u.OneIn(6):
					entry += fmt.Sprintf(" replaces=%s.v%d range=1.0.0-%d.0.0", name, v-1, v)
				case v > 1:
					entry += fmt.Sprintf(" replaces=%s.v%d", name, v-1)
				}
				u.lines = append(u.lines, shelfLine{v, entry})
			}
		}
		for v := 1; v <= versions; v++ {
			bundle := fmt.Sprintf("bundle %s.v%d provides=(K%s/v1", name, v, name)
			if u.OneIn(5) {
				bundle += fmt.Sprintf(",Shared/v%d", 1+u.IntN(2))
			}
			bundle += ")"
			if other := u.IntN(3); other != i && u.OneIn(3) {
				bundle += fmt.Sprintf(" requires=(%s/v1)", []string{"K" + string(rune('a'+other)), "Shared", "Kx"}[min(2, u.IntN(12)/5)])
			}
			u.lines = append(u.lines, shelfLine{v, bundle})
		}
	}
}

// show lets the catalogs have what was published, or less.
func (u *users) show() {
	gone := ""
	if u.OneIn(4) {
		gone = string(rune('a' + u.IntN(3)))
	}
	var shown []string
	for _, line := range u.lines {
		name := strings.TrimPrefix(line.text, "bundle ")
		if line.version <= u.shown && (gone == "" || !strings.HasPrefix(name, gone)) {
			shown = append(shown, line.text)
		}
	}
	u.Note("catalogs up to version %d, without %q", u.shown, gone)
	all := parseShelf(strings.Join(shown, "\n")).sources(u.t)
	if u.OneIn(3) {
		second := all[0]
		second.Name = "second"
		all = append(all, second)
	}
	u.backend.Sources = all
	var err error
	if u.asked, err = olm.NewResolver(all, &u.opts); err != nil {
		u.t.Fatal(err)
	}
}

func (u *users) edit(team string, f func(w *install.World)) {
	if err := u.backend.Edit(team, func(w *install.World) error { f(w); return nil }); err != nil {
		u.t.Fatal(err)
	}
}

func (u *users) run() error {
	for range 25 {
		for range 1 + u.IntN(2) {
			u.event(teams[min(1, u.IntN(4)/3)])
		}
		if err := u.rest(false); err != nil {
			return err
		}
	}
	clear(u.health)
	u.Note("all pods are ready")
	return u.rest(true)
}

// event lets a user of a namespace do one thing.
func (u *users) event(team string) {
	switch u.IntN(20) {
	case 0, 1, 2:
		u.subscribe(team)
	case 3:
		u.unsubscribe(team)
	case 4, 5:
		u.again(team)
	case 6, 7:
		u.change(team)
	case 8, 9, 10:
		u.approve(team)
	case 11:
		u.deleteCSV(team)
	case 12:
		u.editCSV(team)
	case 13:
		u.deletePlan(team)
	case 14, 15:
		u.Reach("catalog changed")
		u.shown = 1 + u.IntN(versions)
		u.show()
	case 16:
		u.regroup(team)
	case 17:
		u.remove(team)
	case 18:
		u.deleteCRD(team)
	case 19:
		u.ail(team)
	}
}

func (u *users) subscribe(team string) {
	var sub install.Subscription
	pkg := string(rune('a' + u.IntN(3)))
	if u.OneIn(25) {
		pkg = "nothing"
	}
	sub.Name, sub.Spec.Package = pkg, pkg
	if u.OneIn(6) {
		sub.Name += "-2"
	}
	u.alter(&sub)
	u.edit(team, func(w *install.World) {
		if !slices.ContainsFunc(w.Subscriptions, func(s install.Subscription) bool { return s.Name == sub.Name }) {
			u.Note("%s: subscribe %+v", team, sub.Spec)
			w.Subscriptions = append(w.Subscriptions, sub)
		}
	})
}

// alter draws what a subscription asks for.
func (u *users) alter(s *install.Subscription) {
	switch u.IntN(5) {
	case 0:
		s.Spec.Channel = []string{"", "stable", "fast"}[u.IntN(3)]
		u.Reach("moved")
	case 1:
		s.Spec.Source = []string{"", "shelf", "second"}[u.IntN(3)]
		u.Reach("moved")
	case 2:
		s.Spec.InstallPlanApproval = []olm.Approval{"", olm.ApprovalManual}[u.IntN(2)]
	case 3:
		s.Spec.StartingCSV = ""
		if u.OneIn(2) {
			s.Spec.StartingCSV = fmt.Sprintf("%s.v%d", s.Spec.Package, 1+u.IntN(versions))
			u.Reach("pinned")
		}
	}
}

func (u *users) unsubscribe(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.Subscriptions); n > 0 {
			i := u.IntN(n)
			u.Note("%s: unsubscribe %s", team, w.Subscriptions[i].Name)
			u.deleted = append(u.deleted, w.Subscriptions[i].Subscription)
			w.Subscriptions = slices.Delete(w.Subscriptions, i, i+1)
		}
	})
}

// again deletes a subscription and makes it again unchanged, or makes one again
// that was deleted before.
func (u *users) again(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(u.deleted); n > 0 && u.OneIn(2) {
			old := u.deleted[u.IntN(n)]
			old.Status = olm.SubscriptionStatus{}
			if old.Namespace == team && !slices.ContainsFunc(w.Subscriptions, func(s install.Subscription) bool { return s.Name == old.Name }) {
				u.Reach("made again")
				u.Note("%s: make %s again %+v", team, old.Name, old.Spec)
				w.Subscriptions = append(w.Subscriptions, install.Subscription{Subscription: old})
			}
			return
		}
		if n := len(w.Subscriptions); n > 0 {
			s := &w.Subscriptions[u.IntN(n)]
			u.Reach("made again")
			u.Note("%s: delete %s and make it again %+v", team, s.Name, s.Spec)
			s.Status = olm.SubscriptionStatus{}
		}
	})
}

func (u *users) change(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.Subscriptions); n > 0 {
			s := &w.Subscriptions[u.IntN(n)]
			u.alter(s)
			u.Note("%s: %s is %+v", team, s.Name, s.Spec)
		}
	})
}

func (u *users) approve(team string) {
	u.edit(team, func(w *install.World) {
		for i := range w.Plans {
			p := &w.Plans[i]
			if names := p.Spec.ClusterServiceVersionNames; !p.Spec.Approved && len(names) > 1 && u.IntN(4) > 0 {
				u.Reach("approved in part")
				part := names[u.IntN(len(names))]
				u.Note("%s: approve %s of %s", team, part, p.Name)
				p.Annotations = map[string]string{install.ApproveAnnotation: part}
				continue
			}
			if !p.Spec.Approved {
				u.Reach("approved")
				u.Note("%s: approve %s", team, p.Name)
				p.Spec.Approved = true
			}
		}
	})
}

func (u *users) deleteCSV(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.CSVs); n > 0 {
			i := u.IntN(n)
			u.Reach("csv deleted")
			u.Note("%s: delete csv %s", team, w.CSVs[i].Name)
			w.CSVs = slices.Delete(w.CSVs, i, i+1)
		}
	})
}

func (u *users) editCSV(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.CSVs); n > 0 {
			c := &w.CSVs[u.IntN(n)]
			u.Reach("csv edited")
			switch u.IntN(4) {
			case 0:
				c.Annotations = nil
			case 1:
				c.Status.Phase, c.Status.Reason = []olm.Phase{"", install.PhasePending, olm.PhaseFailed, olm.PhaseReplacing, "Odd"}[u.IntN(5)], ""
			case 2:
				c.Spec.Replaces = fmt.Sprintf("%s.v%d", c.Name[:1], u.IntN(versions+1))
			case 3:
				c.Labels = maps.Clone(c.Labels)
				c.Spec.MinKubeVersion = []string{"", "v9.0.0"}[u.IntN(2)]
			}
			u.Note("%s: edit csv %s: %s, replaces %s", team, c.Name, c.Status.Phase, c.Spec.Replaces)
		}
	})
}

func (u *users) deletePlan(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.Plans); n > 0 {
			i := u.IntN(n)
			u.Reach("plan deleted")
			u.Note("%s: delete plan %s", team, w.Plans[i].Name)
			w.Plans = slices.Delete(w.Plans, i, i+1)
		}
	})
}

func (u *users) regroup(team string) {
	u.Reach("group changed")
	u.edit(team, func(w *install.World) {
		w.Groups = slices.DeleteFunc(w.Groups, func(g install.OperatorGroup) bool { return g.Namespace == team })
		for i := range []int{0, 1, 1, 1, 1, 2}[u.IntN(6)] {
			var g install.OperatorGroup
			g.Name, g.Namespace = []string{"g", "h"}[i], team
			g.Spec.TargetNamespaces = [][]string{nil, {team}, {ns, "team"}, {"third"}}[u.IntN(4)]
			if u.OneIn(2) {
				g.Spec.UpgradeStrategy = group.UpgradeFailForward
			}
			u.Note("%s: group %s of %v %s", team, g.Name, g.Spec.TargetNamespaces, g.Spec.UpgradeStrategy)
			w.Groups = append(w.Groups, g)
		}
	})
}

func (u *users) remove(team string) {
	kind := []string{install.RemovalUninstall, install.RemovalRefresh, "odd", ""}[u.IntN(4)]
	u.edit(team, func(w *install.World) {
		if n := len(w.Subscriptions); n > 0 {
			s := &w.Subscriptions[u.IntN(n)]
			u.Reach("uninstall")
			u.Note("%s: %s %s", team, kind, s.Name)
			s.Annotations = map[string]string{install.RemovalAnnotation: kind}
		}
	})
}

func (u *users) deleteCRD(team string) {
	u.edit(team, func(w *install.World) {
		if n := len(w.CRDs); n > 0 {
			i := u.IntN(n)
			u.Reach("crd deleted")
			u.Note("delete crd %s", w.CRDs[i].Name)
			w.CRDs = slices.Delete(w.CRDs, i, i+1)
		}
	})
}

// ail lets the pods of an operator break, or become ready.
func (u *users) ail(team string) {
	if w := u.backend.World(team); len(w.CSVs) > 0 {
		c := w.CSVs[u.IntN(len(w.CSVs))].Name
		u.health[c] = []install.Health{install.Ready, install.Progressing, install.Broken}[u.IntN(3)]
		u.Note("%s is %s", c, u.health[c])
	}
}
