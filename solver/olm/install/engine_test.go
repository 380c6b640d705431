package install_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// TestEngine lets operators be published, subscribed to, approved, broken
// and fixed, with faults of all kinds, and checks at the backend, after
// each change, what always holds. At last all is well again, and everything
// must come to rest where it should.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	var at *play
	open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[*install.World, install.Action] {
		at = newPlay(t, r, seen)
		return at
	}
	engine, err := install.NewEngine(&install.MemBackend{}, func(context.Context, *olm.Request) (*olm.Resolution, error) { return nil, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.Step = func(state install.State, w *install.World, now time.Time) install.Decision {
		d := install.Step(state, w, now, &at.policy) // each play has its own
		at.decided(&d)
		return d
	}
	n := long.N(40, 10_000)
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: n, Names: []string{ns}}); err != nil {
		t.Fatal(err)
	}
	t.Log(seen) // what came of it
	must := []string{
		"update", "several at once", "manual plan", "plan dropped", "failed", "too late", "plan failed", "failed plan deleted",
		"repaired", "uninstalled", "refreshed", "object deleted", "redeployed", "copied", "refused for the account",
		"refused for a CRD", "cluster held up", "strike", "written as the account",
	}
	if n >= 1000 {
		must = append(must, "failed is replaced", "unsatisfiable at rest", "refused for a CRD at rest", "undeployed")
	}
	for _, what := range must {
		if seen[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
}

// play is one simulation.
type play struct {
	*rand.Rand
	t         *testing.T
	backend   *install.MemBackend
	resolvers []*olm.Resolver // with ever more published
	packages  int
	published int // how many versions, less one
	health    map[string]install.Health
	seen      map[string]int   // what came of it
	last      install.Decision // that was made
	applied   map[string]int   // changes by step
	approved  map[string]bool  // plans that were approved
	manual    map[string]bool  // plans made while a subscription was manual
	succeeded map[string]bool  // CSVs that once have
	before    *install.World   // before the change that is checked
	policy    install.Policy
	may       bool                      // the group's account may do everything, or nothing
	might     map[string]bool           // plans that the account might make at some time
	deployed  map[string]install.Deploy // the last of each CSV
	lost      map[string]bool           // CRDs that somebody has deleted
	level     map[string]int            // the config of each subscription
	strike    string                    // objects of this kind cannot be written
	healed    bool
	wrong     error // the first violation
}

const versions = 4

func newPlay(t *testing.T, r *rand.Rand, seen map[string]int) *play {
	p := &play{
		Rand: r, t: t, seen: seen, health: map[string]install.Health{},
		applied: map[string]int{}, approved: map[string]bool{}, manual: map[string]bool{}, succeeded: map[string]bool{},
		may: true, might: map[string]bool{}, deployed: map[string]install.Deploy{}, lost: map[string]bool{}, level: map[string]int{},
	}
	p.policy.PlanTimeout = []time.Duration{0, 5 * time.Second, -1}[p.IntN(3)]
	p.policy.StepAttempts = []int{0, 2, 2}[p.IntN(3)]
	p.backend = &install.MemBackend{
		Health: func(_, csv string) (install.Health, string) {
			if h, ok := p.health[csv]; ok {
				return h, "simulated"
			}
			return install.Ready, ""
		},
		Changed: p.check,
	}
	lines := p.shelf()
	for n := 1; n <= versions; n++ {
		var shown []string
		for _, line := range lines {
			if line.version <= n {
				shown = append(shown, line.text)
			}
		}
		p.backend.Sources = parseShelf(strings.Join(shown, "\n")).sources(t)
		r, err := olm.NewResolver(p.backend.Sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.resolvers = append(p.resolvers, r)
	}
	p.edit(func(w *install.World) {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Groups[0].Name = "g"
		if p.OneIn(2) {
			w.Groups[0].Spec.UpgradeStrategy = group.UpgradeFailForward
		}
		if p.OneIn(3) {
			w.Groups[0].Spec.ServiceAccountName = "scoped"
		}
		w.Version = "4.18.1"
		w.Namespaces = []olm.ObjectMeta{{Name: ns}, {Name: "other"}}
		w.Accounts = []scope.Account{{Namespace: ns, Name: "scoped"}}
		w.Access = everything()
	})
	return p
}

// OneIn is true once in n times.
func (p *play) OneIn(n int) bool { return p.IntN(n) == 0 }

// Reach counts something that happens.
func (p *play) Reach(what string) { p.seen[what]++ }

type shelfLine struct {
	version int
	text    string
}

// shelf draws packages whose APIs change from version to version, and which
// require those of each other.
func (p *play) shelf() []shelfLine {
	var lines []shelfLine
	p.packages = 2 + p.IntN(2)
	epoch := make([][versions + 1]int, p.packages)
	for i := range epoch {
		for v := 1; v <= versions; v++ {
			epoch[i][v] = epoch[i][v-1]
			if v == 1 || p.OneIn(3) {
				epoch[i][v]++
			}
		}
	}
	for i := range p.packages {
		name := string(rune('a' + i))
		served := []int{1}
		for v := 1; v <= versions; v++ {
			entry := fmt.Sprintf("%s/stable %s.v%d", name, name, v)
			if v > 1 {
				entry += fmt.Sprintf(" replaces=%s.v%d", name, v-1)
			}
			if v > 2 && p.OneIn(4) {
				entry = fmt.Sprintf("%s/stable %s.v%d replaces=%s.v%d skips=(%s.v%d)", name, name, v, name, v-2, name, v-1)
			}
			bundle := fmt.Sprintf("bundle %s.v%d provides=(K%s%d/v1%s)", name, v, name, epoch[i][v], p.stored(name, &served))
			if p.OneIn(4) {
				bundle += []string{" max=4.18", " max=4.19"}[p.IntN(2)]
			}
			if other := p.IntN(p.packages); other != i && p.OneIn(2) {
				bundle += fmt.Sprintf(" requires=(K%c%d/v1)", 'a'+other, epoch[other][v])
			}
			lines = append(lines, shelfLine{v, entry}, shelfLine{v, bundle})
		}
	}
	return lines
}

func (p *play) edit(f func(w *install.World)) {
	if err := p.backend.Edit(ns, func(w *install.World) error { f(w); return nil }); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
	}
}

// Change implements fairlead.Trial.
func (p *play) Change() {
	switch p.IntN(7) {
	case 0, 1:
		p.subscribe()
	case 2:
		if p.OneIn(4) {
			p.published = min(p.published+1, versions-1)
		}
	case 3:
		p.approve()
	case 4:
		p.changeHealth()
	case 5:
		p.touch()
	case 6:
		p.user()
	}
}

// Check implements fairlead.Trial.
func (p *play) Check() error { return p.wrong }

func (p *play) subscribe() {
	w := p.backend.World(ns)
	name := string(rune('a' + p.IntN(p.packages)))
	if p.OneIn(20) {
		name = "nothing"
	}
	if slices.ContainsFunc(w.Subscriptions, func(s install.Subscription) bool { return s.Spec.Package == name }) {
		return
	}
	var sub install.Subscription
	sub.Name, sub.Spec.Package = name, name
	if p.OneIn(3) {
		sub.Spec.InstallPlanApproval = olm.ApprovalManual
	}
	p.edit(func(w *install.World) { w.Subscriptions = append(w.Subscriptions, sub) })
}

func (p *play) approve() {
	waits := func(x install.InstallPlan) bool { return !x.Spec.Approved }
	if !slices.ContainsFunc(p.backend.World(ns).Plans, waits) {
		return
	}
	p.edit(func(w *install.World) {
		for i := range w.Plans {
			if !w.Plans[i].Spec.Approved {
				w.Plans[i].Spec.Approved = true
				p.approved[w.Plans[i].Name] = true
			}
		}
	})
}

// fix deletes plans that have failed, as one does to have what remains planned
// again.
func (p *play) fix() {
	failed := func(x install.InstallPlan) bool { return x.Status.Phase == install.PlanFailed }
	if slices.ContainsFunc(p.backend.World(ns).Plans, failed) {
		p.Reach("failed plan deleted")
		p.edit(func(w *install.World) { w.Plans = slices.DeleteFunc(w.Plans, failed) })
	}
}

func (p *play) changeHealth() {
	w := p.backend.World(ns)
	if len(w.CSVs) == 0 {
		return
	}
	c := w.CSVs[p.IntN(len(w.CSVs))].Name
	p.health[c] = []install.Health{install.Ready, install.Ready, install.Progressing, install.Broken}[p.IntN(4)]
}

// touch changes objects behind the back of the engine.
func (p *play) touch() {
	p.edit(func(w *install.World) {
		if n := len(w.CSVs); n > 0 {
			c := &w.CSVs[p.IntN(n)]
			setCondition(w, c.Name, []string{"", "", "busy"}[p.IntN(3)])
			c.Annotations = map[string]string{olm.PropertiesAnnotation: c.Annotations[olm.PropertiesAnnotation], "touched": fmt.Sprint(p.IntN(1000))}
		}
		if n := len(w.Subscriptions); n > 0 {
			w.Subscriptions[p.IntN(n)].Annotations = map[string]string{"touched": fmt.Sprint(p.IntN(1000))}
		}
	})
}

// decided checks that whoever waits says why, and when it looks again.
func (p *play) decided(d *install.Decision) {
	p.last = *d
	if len(d.Actions) > 0 {
		return
	}
	for _, b := range d.Blocked {
		switch b.Reason {
		case install.ReasonNotPermitted:
			p.Reach("refused for the account")
		case install.ReasonUnsafeCRD:
			p.Reach("refused for a CRD")
		}
	}
	if (d.State.Plan != nil || d.State.Removal != nil) && len(d.Blocked) == 0 {
		p.fail("something is under way, and nothing is blocked: %+v", d.State)
	}
	for _, b := range d.Blocked {
		if b.Reason == install.ReasonActionPending && d.Wake.IsZero() {
			p.fail("%s, and never looked at again", b)
		}
		if b.Since.IsZero() || b.Owner == "" || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" {
			p.fail("a block says too little: %+v", b)
		}
	}
}

// Observe implements install.Backend.
func (p *play) Observe(context.Context, string) (*install.World, error) {
	return install.Look(p.backend, func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		return p.resolvers[p.published].Resolve(ctx, req)
	}, ns)
}

// Apply implements install.Backend.
func (p *play) Apply(ctx context.Context, _ string, a install.Action) error {
	if step, ok := a.(install.ApplyStep); ok {
		if !p.approved[step.Plan] {
			p.fail("%s is to be applied before %s is approved", step.Ref, step.Plan)
		}
		if !p.might[step.Plan] && step.Ref.Kind != "CustomResourceDefinition" { // those are the administrator's
			p.fail("%s is to be applied, and the account never might", step.Ref)
		}
		if step.Ref.Kind == p.strike {
			p.Reach("strike")
			return fmt.Errorf("%s: the server is on strike", step.Ref)
		}
	}
	p.before = p.backend.World(ns)
	err := p.backend.Apply(ctx, ns, a)
	if err != nil {
		p.Reach("too late")
	}
	return err
}
