package machine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// simulate is the command of that name.
func simulate(c *args.Call) error {
	form := c.Choice("o", "text", "json", "svg", "mermaid")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	f, err := c.Open(c.Arg(0))
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := readScenario(f, c.Arg(0))
	if err != nil {
		return err
	}
	t, err := s.play(c.Context)
	if err != nil {
		return err
	}
	if *form == "json" {
		return findings(c.JSON(t), len(t.Stuck) > 0)
	}
	write := map[string]func(*timeline, io.Writer) error{
		"text": (*timeline).text, "svg": (*timeline).svg, "mermaid": (*timeline).mermaid,
	}[*form]
	return findings(write(t, c.Stdout), len(t.Stuck) > 0)
}

// stage is a running scenario: a cluster in memory, and everything that acts in it.
type stage struct {
	*scenario
	*timeline
	clock    *fairlead.ManualClock
	cluster  *lifecycle.MemBackend
	etcd     *quorum.MemBackend
	machines *lifecycle.Runner
	guard    *quorum.Runner
	wakes    map[string]time.Time             // of machines; "" is the guard's
	work     map[string]time.Time             // when owners are done, by machine, point and hook
	shown    map[string][]lifecycle.Condition // of each machine, as they were last shown
	phases   map[string]lifecycle.Phase       // of each machine, as it was last shown
	waits    map[string]string                // why something waits, as last shown
	news     []moment                         // why something waits now
}

// play plays the scenario to its end, or until nothing is left to happen.
func (s *scenario) play(ctx context.Context) (*timeline, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(s.start)
	p := &stage{
		scenario: s, timeline: &timeline{Title: s.title, Start: s.start}, clock: clock,
		cluster: &lifecycle.MemBackend{Clock: clock, InstanceDelay: s.delay},
		wakes:   map[string]time.Time{}, work: map[string]time.Time{}, shown: map[string][]lifecycle.Condition{}, waits: map[string]string{},
		phases: map[string]lifecycle.Phase{},
	}
	p.cluster.Changed = p.acted
	opts := &fairlead.RunnerOptions{Clock: clock}
	var err error
	if p.machines, err = lifecycle.NewRunner(p.cluster, s.policy, opts); err != nil {
		return nil, fmt.Errorf("spec.policy: %w", err)
	}
	for _, o := range s.objects {
		if err := p.put(o.JSON); err != nil {
			return nil, fmt.Errorf("%s: %w", o.At, err)
		}
	}
	if s.desired > 0 {
		p.etcd = &quorum.MemBackend{Machines: p.cluster, Clock: clock, Desired: s.desired, CatchUp: s.catchUp, Changed: p.guarded}
		if p.guard, err = quorum.NewRunner(p.etcd, nil, opts); err != nil {
			return nil, err
		}
		for _, m := range p.cluster.List() {
			if m.Labels[quorum.RoleLabel] == "master" {
				if err := p.etcd.AddVoter(m.String()); err != nil {
					return nil, err
				}
			}
		}
	}
	for {
		if err := p.now(ctx); err != nil {
			return nil, err
		}
		next, ok := p.next()
		if !ok || next.After(s.end) {
			break
		}
		clock.Set(next)
	}
	p.finish()
	return p.timeline, nil
}

// maxRounds limits the passes at one instant.
const maxRounds = 100

// now runs everything that acts at this instant.
func (p *stage) now(ctx context.Context) error {
	for len(p.events) > 0 && !p.events[0].at.After(p.clock.Now()) {
		e := p.events[0]
		p.events = p.events[1:]
		if err := p.happen(&e); err != nil {
			return fmt.Errorf("event at %s: %w", e.at.Sub(p.start), err)
		}
	}
	for range maxRounds {
		p.news = nil
		acted, err := p.pass(ctx)
		if err != nil {
			return err
		}
		if acted {
			continue
		}
		for _, n := range p.news { // what still waits when nothing acts any more
			if p.waits[n.Machine+" "+n.Actor] != n.Text {
				p.waits[n.Machine+" "+n.Actor] = n.Text
				p.tell(n.Actor, n.Machine, "waits: "+n.Text)
			}
		}
		return nil
	}
	return fmt.Errorf("%s: the simulation does not end", p.clock.Now())
}

// pass runs the guard, the machines and the owners of hooks once.
func (p *stage) pass(ctx context.Context) (acted bool, err error) {
	if p.guard != nil {
		d, err := p.guard.Reconcile(ctx, "etcd")
		if err != nil {
			return false, err
		}
		acted, p.wakes[""] = acted || len(d.Actions) > 0, d.Wake
		for _, b := range d.Blocked {
			p.wait(quorum.HookOwner, strings.TrimPrefix(b.Subject, "machine "), b.Message)
		}
	}
	for _, m := range p.cluster.List() {
		name := m.String()
		d, err := p.machines.Reconcile(ctx, name)
		if err != nil && !refused(err) {
			return false, err
		}
		acted, p.wakes[name] = acted || len(d.Actions) > 0, d.Wake
		p.span(name, d.State.Began)
		p.look(name, &d)
	}
	return acted || p.ownersAct(), nil
}

// refused reports whether an API has refused an action, which is part of the
// simulation.
func refused(err error) bool {
	var r *fairlead.RefusedError
	return errors.As(err, &r)
}

// look reports what has changed about a machine, and why it waits.
func (p *stage) look(name string, d *lifecycle.Decision) {
	m := p.cluster.Machine(name)
	if m == nil {
		delete(p.wakes, name)
		return
	}
	if phase := m.Status.Phase; m.Deleting() && p.phases[name] != phase {
		p.phases[name] = phase
		p.tell(name, name, "is "+string(phase))
	}
	for _, c := range m.Status.Conditions {
		old := lifecycle.FindCondition(p.shown[name], c.Type)
		if old != nil && old.Status == c.Status || old == nil && !m.Deleting() {
			continue
		}
		text := c.Type + " is " + string(c.Status)
		if c.Message != "" {
			text += ": " + c.Message
		}
		p.tell(name, name, text)
	}
	p.shown[name] = m.Status.Conditions
	var why []string
	for _, b := range d.Blocks() {
		owner := b.Message
		if b.Owner != "" {
			owner += " (owner " + b.Owner + ")"
		}
		why = append(why, owner)
	}
	if len(why) > 0 {
		p.wait(name, name, strings.Join(why, "; "))
	}
}

// wait records why something waits.
func (p *stage) wait(actor, machine, why string) {
	p.news = append(p.news, moment{Actor: actor, Machine: machine, Text: why})
}

// ownersAct lets the owners of hooks begin and end their work.
func (p *stage) ownersAct() (acted bool) {
	for _, m := range p.cluster.List() {
		for _, point := range [...]lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
			if !p.reached(m, point) {
				continue
			}
			for _, h := range p.policy.InTurn(m, point) {
				acted = p.own(m.String(), point, h) || acted
			}
		}
	}
	return acted
}

// reached reports whether a machine waits for the hooks of a point.
func (p *stage) reached(m *lifecycle.Machine, point lifecycle.Point) bool {
	c := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
	drained := c != nil && c.Status == "True"
	return m.Status.Phase == lifecycle.PhaseDeleting && drained == (point == lifecycle.PreTerminate)
}

// own lets the owner of one hook act.
func (p *stage) own(machine string, point lifecycle.Point, h lifecycle.Hook) (acted bool) {
	takes, known := p.owners[h.Owner]
	if !known || takes == nil {
		return false
	}
	key := machine + "/" + string(point) + "/" + h.Name
	done, begun := p.work[key]
	if !begun {
		done = p.clock.Now().Add(*takes)
		p.work[key] = done
		p.tell(h.Owner, machine, "begins the work of hook "+h.Name)
	}
	if done.After(p.clock.Now()) {
		return false
	}
	if err := p.cluster.Release(machine, point, h.Name, h.Owner); err != nil {
		p.tell(h.Owner, machine, "cannot remove hook "+h.Name+": "+err.Error())
		return false
	}
	delete(p.work, key)
	p.tell(h.Owner, machine, "is done and removes hook "+h.Name)
	return true
}

// next returns the next instant at which something happens.
func (p *stage) next() (next time.Time, ok bool) {
	at := func(t time.Time) {
		if t.After(p.clock.Now()) && (!ok || t.Before(next)) {
			next, ok = t, true
		}
	}
	if len(p.events) > 0 {
		at(p.events[0].at)
	}
	busy := len(p.events) > 0
	for _, m := range p.cluster.List() {
		busy = busy || m.Deleting()
	}
	for name, t := range p.wakes {
		if name != "" || busy { // the guard alone would run forever
			at(t)
		}
	}
	for _, t := range p.work {
		at(t)
	}
	if t, any := p.cluster.Next(); any {
		at(t)
	}
	return next, ok
}

// happen carries out an event.
func (p *stage) happen(e *event) error {
	if e.Delete != "" {
		p.tell("administrator", e.Delete, "deletes machine "+e.Delete)
		if err := p.cluster.Delete(e.Delete); err != nil {
			return err
		}
	}
	for _, o := range e.Put {
		if err := p.put(o); err != nil {
			return err
		}
	}
	for _, s := range []struct{ node, status, text string }{{e.Silence, "Unknown", "stops reporting"}, {e.Hear, "True", "reports again"}} {
		if s.node == "" {
			continue
		}
		n := p.cluster.Node(s.node)
		if n == nil {
			return fmt.Errorf("there is no node %s", s.node)
		}
		p.tell("node "+s.node, "", s.text)
		p.cluster.PutNode(ready(*n, s.status))
	}
	if namespace, name, ok := strings.Cut(e.DropBudget, "/"); ok {
		p.tell("administrator", "", "removes disruption budget "+e.DropBudget)
		p.cluster.RemoveBudget(namespace, name)
	}
	if e.Skip != nil {
		p.tell("administrator", e.Skip.Machine, "skips hook "+e.Skip.Hook)
		return p.cluster.Edit(e.Skip.Machine, func(m *lifecycle.Machine) {
			m.Annotations = map[string]string{lifecycle.SkipHookAnnotation: e.Skip.Hook}
		})
	}
	return nil
}

// ready returns a node whose condition Ready has a status.
func ready(n lifecycle.Node, status string) lifecycle.Node {
	n.Status.Conditions = slices.Clone(n.Status.Conditions)
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == "Ready" {
			n.Status.Conditions[i].Status = lifecycle.ConditionStatus(status)
			return n
		}
	}
	one := slices.Grow(n.Status.Conditions, 1)[:len(n.Status.Conditions)+1]
	one[len(one)-1].Type, one[len(one)-1].Status = "Ready", lifecycle.ConditionStatus(status)
	n.Status.Conditions = one
	return n
}

// put puts an object into the cluster.
func (p *stage) put(object json.RawMessage) error {
	var head struct {
		Kind     string               `json:"kind"`
		Metadata lifecycle.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(object, &head); err != nil {
		return err
	}
	fail := func(err error) error {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", head.Kind, head.Metadata, err)
		}
		return err
	}
	late := p.clock.Now().After(p.start)
	switch head.Kind {
	case "Machine":
		d, err := lifecycle.ReadDocument(object)
		if err != nil {
			return fail(err)
		}
		m := d.Machine
		if err := m.Spec.LifecycleHooks.Check(); err != nil {
			return fail(err)
		}
		if !slices.Contains(m.Finalizers, lifecycle.Finalizer) {
			m.Finalizers = append(m.Finalizers, lifecycle.Finalizer)
		}
		m.Status.Phase = cmp.Or(m.Status.Phase, lifecycle.PhaseRunning)
		if late {
			p.tell("administrator", m.String(), "adds machine "+m.String())
		}
		p.cluster.Restore(m, false)
	case "Node":
		var n lifecycle.Node
		if err := json.Unmarshal(object, &n); err != nil {
			return fail(err)
		}
		if late {
			p.tell("node "+n.Name, "", "joins the cluster")
		}
		p.cluster.PutNode(n)
	case "Pod":
		var x lifecycle.Pod
		if err := json.Unmarshal(object, &x); err != nil {
			return fail(err)
		}
		p.cluster.PutPod(x)
	case "PodDisruptionBudget":
		var b lifecycle.PodDisruptionBudget
		if err := json.Unmarshal(object, &b); err != nil {
			return fail(err)
		}
		return fail(p.cluster.PutBudget(b))
	default:
		return fmt.Errorf("%s %s: this kind cannot be simulated; give machines, nodes, pods and disruption budgets", head.Kind, head.Metadata)
	}
	return nil
}
