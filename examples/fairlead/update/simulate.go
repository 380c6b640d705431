package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/internal/args"
	memory "github.com/fairlead/fairlead/internal/cluster"
)

func simulateCommand() *args.Command {
	return &args.Command{
		Name:  "simulate",
		Usage: "SCENARIO [-o text|json|yaml|svg|mermaid]",
		About: "simulate the update of a whole cluster, with operators, nodes and pods, in virtual time; examples are in examples/fairlead/update/scenarios",
		Help: `SCENARIO is a YAML file, documented in examples/fairlead/update/scenarios/README.md.
  -o text            one line per event; anything unfinished is a finding
  -o json            the same as data; -o svg and -o mermaid draw a timeline`,
		Run: simulate,
	}
}

func simulate(c *args.Call) error {
	form := c.Choice("o", "text", "json", "svg", "mermaid")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	s, err := readScenario(c.Args[0])
	if err != nil {
		return err
	}
	c.Doing("playing " + c.Args[0])
	t, err := s.play(c.Context)
	if err != nil {
		return err
	}
	write := map[string]func(io.Writer) error{"text": t.text, "json": t.json, "svg": t.svg, "mermaid": t.mermaid}[*form]
	if err := write(c.Stdout); err != nil {
		return err
	}
	if len(t.Unfinished) > 0 {
		return args.ErrFindings
	}
	return nil
}

// The names of objects that are not in the scenario.
const (
	cluster = "cluster"
	oldOne  = "registry/release@sha256:from"
	newOne  = "registry/release@sha256:to"
)

// play is a running scenario: the version engine, and on one cluster in memory the rollout
// engine, which drains nodes, and the taint engine.
type play struct {
	*scenario
	*timeline
	clock    *fairlead.ManualClock
	versions *cvo.MemBackend
	update   *cvo.Runner
	shared   *fairlead.MemCluster
	all      *memory.Cluster // that is shared
	timed    view            // of pools whose nodes specify how long a drain takes
	drained  view            // of the others
	agents   *agents
	wakes    map[string]time.Time            // by pool, or by what else is waited for; "" is the cluster's
	due      []change                        // by instant
	said     map[string]string               // what was last shown, by subject
	begun    bool                            // nodes were assigned the new release
	operates map[string]*cvo.ClusterOperator // by name: what the new release requires of operators that have not reached it
}

// change is something that happens at a given time.
type change struct {
	at time.Time
	do func()
}

// play plays the scenario to its end, or until its time is over.
func (s *scenario) play(ctx context.Context) (*timeline, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(s.start)
	p := &play{
		scenario: s, clock: clock, versions: cvo.NewMemBackend(clock), shared: memory.Own(clock, &memory.Options{PodStartup: s.startup}),
		timeline: &timeline{Title: s.title, From: s.from.Release.Version, To: s.to.Release.Version, Start: s.start},
		wakes:    map[string]time.Time{}, said: map[string]string{}, operates: map[string]*cvo.ClusterOperator{},
	}
	p.all = memory.Of(p.shared, nil, nil)
	p.versions.SetRelease(oldOne, s.from, true, 0)
	p.versions.SetRelease(newOne, s.to, true, s.retrieve)
	if err := p.install(ctx); err != nil {
		return nil, err
	}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	for {
		if err := p.settle(ctx); err != nil {
			return nil, err
		}
		next := p.next()
		if p.over() || next.IsZero() || next.After(s.start.Add(s.limit)) {
			break
		}
		clock.Set(next)
	}
	p.finish()
	return p.timeline, nil
}

// install installs the old release before the simulation begins.
func (p *play) install(ctx context.Context) error {
	p.versions.SetCluster(cluster, cvo.Spec{}, cvo.Release{Version: p.From, Image: oldOne})
	var err error
	if p.update, err = cvo.NewRunner(p.versions, nil, &fairlead.RunnerOptions{Clock: p.clock}); err != nil {
		return err
	}
	for range maxRounds {
		d, err := p.update.Reconcile(ctx, cluster)
		if err != nil {
			return err
		}
		if h := p.versions.Version(cluster).Status.History; len(d.Actions) == 0 && len(h) > 0 && h[0].State == cvo.Completed {
			return nil
		}
	}
	return fmt.Errorf("release %s cannot be installed: %s", p.From, condition(p.versions.Version(cluster).Status.Conditions, "Progressing").Message)
}

// prepare sets how long everything takes, and requests the update.
func (p *play) prepare() error {
	for _, o := range p.operators {
		if p.versions.Operators[o.name] = o.takes; o.never {
			p.versions.Operators[o.name] = never
		}
	}
	if len(p.pools) > 0 {
		p.versions.Operators[machineConfig] = never // until the pools are there
	}
	for name, d := range p.rollouts {
		p.versions.Rollouts[name] = d
	}
	if err := p.stage(); err != nil {
		return err
	}
	var err error
	if p.agents, err = newAgents(p); err != nil {
		return err
	}
	p.outages()
	if p.update, err = cvo.NewRunner(&watched{p.versions, p}, nil, &fairlead.RunnerOptions{Clock: p.clock}); err != nil {
		return err
	}
	p.versions.SetCluster(cluster, cvo.Spec{DesiredUpdate: &cvo.Update{Version: p.To, Image: newOne}}, cvo.Release{Version: p.From, Image: oldOne})
	p.tell("administrator", "requests release "+p.To)
	return nil
}

// rendered returns the name of the configuration of a pool for a release.
func rendered(pool, version string) string { return "rendered-" + pool + "-" + version }

func (p *play) node(name string) *node {
	for i := range p.pools {
		for k := range p.pools[i].nodes {
			if n := &p.pools[i].nodes[k]; n.name == name {
				return n
			}
		}
	}
	return &node{}
}

// suffer plans the troubles of an operator.
func (p *play) suffer(o *operator) {
	subject := "operator " + o.name
	for _, t := range o.troubles {
		report := p.versions.Degrade
		if t.what == unavailable {
			report = p.versions.Interrupt
		}
		p.at(t.after, func() {
			report(cluster, o.name, t.message)
			p.tell(subject, "is "+t.what+": "+t.message)
			p.open(subject, t.what)
		})
		if t.last == 0 {
			continue
		}
		p.at(t.after+t.last, func() {
			report(cluster, o.name, "")
			p.tell(subject, "is not "+t.what+" any longer")
			p.end(subject)
			if p.operates[o.name] != nil {
				p.open(subject, "updates")
			}
		})
	}
}

// at plans a change.
func (p *play) at(after time.Duration, do func()) {
	p.due = append(p.due, change{p.clock.Now().Add(after), do})
	slices.SortStableFunc(p.due, func(a, b change) int { return a.at.Compare(b.at) })
}

// maxRounds limits the passes at one instant.
const maxRounds = 10_000

// settle runs everything that acts at this instant.
func (p *play) settle(ctx context.Context) error {
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		acted := p.happen()
		if err := p.arrive(ctx); err != nil {
			return err
		}
		d, err := p.update.Reconcile(ctx, cluster)
		if err != nil {
			return err
		}
		acted, p.wakes[""] = acted || len(d.Actions) > 0, d.Wake
		blocked := d.Blocked
		more, why, err := p.agents.pass(ctx)
		if err != nil {
			return err
		}
		acted, blocked = acted || more, append(blocked, why...)
		for i := range p.pools {
			name := p.pools[i].name
			r, err := p.view(&p.pools[i]).runner.Reconcile(ctx, name)
			var refused *fairlead.RefusedError // by a disruption budget
			if err != nil && !errors.As(err, &refused) {
				return err
			}
			acted, p.wakes[name] = acted || len(r.Actions) > 0, r.Wake
			blocked = append(blocked, r.Blocked...)
		}
		if acted {
			continue
		}
		p.look(&d, blocked)
		if !p.poolsDone() {
			return nil
		}
	}
	return fmt.Errorf("at %s the simulation does not end", p.clock.Now().Format(time.RFC3339))
}

// happen carries out the changes that are due.
func (p *play) happen() (any bool) {
	for len(p.due) > 0 && !p.due[0].at.After(p.clock.Now()) {
		do := p.due[0].do
		p.due, any = p.due[1:], true
		do()
	}
	return any
}

// poolsDone lets the machine-config operator reach its version when all pools
// that it waits for are updated and its own time has passed. It reports whether
// that happens now.
func (p *play) poolsDone() bool {
	if len(p.pools) == 0 || p.operates[machineConfig] == nil || p.said["done "+machineConfig] != "" {
		return false
	}
	for _, o := range p.operators {
		if o.name == machineConfig && (o.never || p.clock.Now().Before(p.opened("operator "+machineConfig).Add(o.takes))) {
			return false
		}
	}
	for _, q := range p.pools {
		if q.required && p.updated(&q) < len(q.nodes) {
			return false
		}
	}
	p.said["done "+machineConfig] = "yes"
	p.versions.Finish(cluster, machineConfig)
	return true
}

// updated returns how many nodes of a pool run the new release and accept pods.
func (p *play) updated(q *pool) (n int) {
	w := p.view(q).World(q.name)
	for i := range w.Nodes {
		if rollout.Updated(&w.Pool, &w.Nodes[i]) && rollout.Ready(&w.Nodes[i]) && w.Pool.Spec.Configuration.Name == rendered(q.name, p.To) {
			n++
		}
	}
	return n
}

// completed reports whether the cluster is at the new release.
func (p *play) completed() bool {
	h := p.versions.Version(cluster).Status.History
	return len(h) > 0 && h[0].Version == p.To && h[0].State == cvo.Completed
}

// over reports whether nothing is left to happen: the release is reached, and no
// node is being updated or will be.
func (p *play) over() bool {
	return p.completed() && len(p.due) == 0 && !p.agents.waiting() && !p.working()
}

// next returns the next instant at which something happens; zero for none.
func (p *play) next() time.Time {
	var next time.Time
	at := func(t time.Time) {
		if t.After(p.clock.Now()) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, t := range p.wakes {
		at(t)
	}
	if len(p.due) > 0 {
		at(p.due[0].at)
	}
	at(p.versions.Next(cluster))
	for _, v := range []*view{&p.timed, &p.drained} {
		if t, ok := v.Next(); ok {
			at(t)
		}
	}
	for _, o := range p.operators {
		if o.name == machineConfig && p.operates[machineConfig] != nil {
			at(p.opened("operator " + machineConfig).Add(o.takes))
		}
	}
	return next
}
