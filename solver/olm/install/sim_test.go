package install_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// TestSimulation lets operators be published, subscribed to, approved, broken
// and fixed, while whatever can go wrong does, and checks at the backend, after
// each change, what always holds. At last all is well again, and everything
// must come to rest where it should.
func TestSimulation(t *testing.T) {
	n := long.N(30, 10_000)
	counts := sim.Run(t, n, func(s *sim.Sim) error { return newPlay(t, s).run() })
	t.Log(counts) // what was injected, and what came of it
	if os.Getenv(sim.SeedVariable) != "" {
		return // one seed need not come by everything
	}
	must := []string{
		"crash", "delay", "again", "stale", "observe fails", "unconfirmed", "other runner", "touch", "put is not confirmed",
		"update", "several at once", "manual plan", "plan dropped", "failed", "too late", "plan failed", "failed plan deleted",
		"repaired", "uninstalled", "refreshed", "object deleted", "redeployed", "copied", "refused for the account",
		"refused for a CRD", "cluster held up", "strike", "written as the account",
	}
	if n >= 1000 {
		must = append(must, "clock jumps back", "failed is replaced", "unsatisfiable at rest", "refused for a CRD at rest", "undeployed")
	}
	sim.Reached(t, counts, must...)
}

// play is one simulation.
type play struct {
	*sim.Sim
	t         *testing.T
	store     *fairlead.MemStore
	backend   *install.MemBackend
	runners   []*install.Runner
	resolvers []*olm.Resolver // with ever more published
	packages  int
	published int // how many versions, less one
	health    map[string]install.Health
	crashed   bool             // the runner at work is gone
	nested    bool             // another runner is at work inside of a call
	past      []*install.World // what was to be seen lately
	late      []install.Action // what is on its way to the backend
	two       bool             // whether there are two runners
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
	wrong     error                     // the first violation
}

const versions = 4

func newPlay(t *testing.T, s *sim.Sim) *play {
	p := &play{
		Sim: s, t: t, store: new(fairlead.MemStore), health: map[string]install.Health{}, two: s.OneIn(3),
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
	p.runners = []*install.Runner{p.runner(), p.runner()}
	return p
}

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

func (p *play) runner() *install.Runner {
	r, err := install.NewRunner(p, func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		return p.resolvers[p.published].Resolve(ctx, req)
	}, &p.policy, &fairlead.RunnerOptions{Store: p.Store(p.store), Clock: p.Clock})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *play) edit(f func(w *install.World)) {
	if err := p.backend.Edit(ns, func(w *install.World) error { f(w); return nil }); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
		p.Note("WRONG: %v", p.wrong)
	}
}

func (p *play) run() error {
	for range 110 {
		p.event()
		if p.wrong != nil {
			return p.wrong
		}
	}
	return p.settle()
}

// event lets one thing happen.
func (p *play) event() {
	switch p.IntN(17) {
	case 0:
		p.subscribe()
	case 1:
		if p.OneIn(4) {
			p.published = min(p.published+1, versions-1)
			p.Note("published up to version %d", p.published+1)
		}
	case 2:
		p.approve()
	case 3:
		p.changeHealth()
	case 4:
		p.touch()
	case 5:
		p.Pass()
	case 6:
		p.deliver()
	case 7:
		p.user()
	default:
		p.pass(p.IntN(2))
	}
}

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
	p.Note("subscribe to %s %s", name, sub.Spec.InstallPlanApproval)
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
				p.Note("approve %s", w.Plans[i].Name)
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
		p.Note("delete plans that have failed")
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
	p.Note("%s is %s", c, p.health[c])
}

// touch changes objects behind the back of the engine.
func (p *play) touch() {
	if !p.Fault("touch", 2) {
		return
	}
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

// deliver lets what is on its way arrive, in any order.
func (p *play) deliver() {
	for len(p.late) > 0 && p.OneIn(2) {
		i := p.IntN(len(p.late))
		a := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.Note("late: %s", a)
		if err := p.put(a); err != nil {
			p.Reach("too late")
			p.Note("  refused: %v", err)
		}
	}
}

// pass lets one runner look once, and kills it if it crashed.
func (p *play) pass(i int) {
	if !p.two {
		i = 0
	}
	d, err := p.runners[i].Reconcile(p.t.Context(), ns)
	p.Note("runner %d: %d actions, %d blocks, wake %s, %v", i, len(d.Actions), len(d.Blocked), d.Wake.Format(time.TimeOnly), err)
	if err == nil && len(d.Actions) == 0 {
		p.silent(&d)
	}
	if p.crashed {
		p.crashed = false
		p.runners[i] = p.runner()
	}
}

// silent checks that whoever waits says why, and when it looks again.
func (p *play) silent(d *install.Decision) {
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
func (p *play) Observe(ctx context.Context, _ string) (*install.World, error) {
	if p.Fault("observe fails", 30) {
		return nil, sim.ErrFault
	}
	w := p.backend.World(ns)
	p.past = append(p.past, p.backend.World(ns))
	if len(p.past) > 6 {
		p.past = p.past[1:]
	}
	if p.Fault("stale", 10) {
		old := *p.past[p.IntN(len(p.past))]
		w = &old
	}
	p.other()
	return w, nil
}

// other lets the other runner work in the middle of a pass.
func (p *play) other() {
	if !p.two || p.nested || !p.Fault("other runner", 8) {
		return
	}
	p.nested = true
	crashed := p.crashed
	p.crashed = false
	fresh := p.runner()
	for range 1 + p.IntN(12) {
		_, err := fresh.Reconcile(p.t.Context(), ns)
		p.Note("  meanwhile: %v", err)
	}
	p.nested, p.crashed = false, crashed
}

// Apply implements install.Backend.
func (p *play) Apply(ctx context.Context, _ string, a install.Action) error {
	if p.crashed {
		return sim.ErrFault
	}
	p.Note("  %s", describe(a))
	if step, ok := a.(install.ApplyStep); ok {
		if !p.approved[step.Plan] {
			p.fail("%s is to be applied before %s is approved", step.Ref, step.Plan)
		}
		if !p.might[step.Plan] && step.Ref.Kind != "CustomResourceDefinition" { // those are the administrator's
			p.fail("%s is to be applied, and the account never might", step.Ref)
		}
	}
	p.other()
	switch {
	case p.Fault("crash", 20):
		p.crashed = true
		return sim.ErrFault
	case p.Fault("delay", 20):
		p.late = append(p.late, a)
		return sim.ErrFault
	case p.Fault("again", 20):
		p.late = append(p.late, a)
	}
	if err := p.put(a); err != nil {
		p.Note("    refused: %v", err)
		return err
	}
	if p.Fault("unconfirmed", 20) {
		return sim.ErrFault
	}
	return nil
}

// put lets an action reach the backend.
func (p *play) put(a install.Action) error {
	if step, ok := a.(install.ApplyStep); ok && step.Ref.Kind == p.strike {
		p.Reach("strike")
		return fmt.Errorf("%s: the server is on strike", step.Ref)
	}
	p.before = p.backend.World(ns)
	return p.backend.Apply(context.Background(), ns, a)
}
