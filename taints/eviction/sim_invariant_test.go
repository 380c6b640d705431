package eviction_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

const (
	notReady    = "node.kubernetes.io/not-ready"
	unreachable = "node.kubernetes.io/unreachable"
)

// saved reads a state as it is in the store, whatever the runners think.
func saved[S any](p *fleetPlay, engine, name string) (state S) {
	rec, err := p.store.Get(p.t.Context(), fairlead.StateKey(engine, name))
	if err != nil {
		return state
	}
	held := struct{ State *S }{&state}
	if err := json.Unmarshal(rec.Value, &held); err != nil {
		p.t.Fatal(err)
	}
	return state
}

func (p *fleetPlay) zones() eviction.ZoneState {
	return saved[eviction.ZoneState](p, "taintzones", eviction.AllZones)
}

// began is when a taint began, and what it came in place of.
type began struct {
	since, first time.Time
	before       []fairlead.Taint
}

// deadline is the plain reading of the rules: the earliest instant at which any
// taint makes the pod leave, and false if none ever does. Of several tolerations
// the first counts.
func deadline(pod *fairlead.Pod, all []fairlead.Taint, start func(t *fairlead.Taint) began) (time.Time, bool) {
	var first time.Time
	found := false
	for _, t := range all {
		if t.Effect != fairlead.NoExecute {
			continue
		}
		b := start(&t)
		at := latest(b.since, pod.CreationTimestamp)
		seconds, forGood := tolerated(pod, &t)
		if forGood {
			continue
		}
		if seconds >= 0 {
			at = at.Add(time.Duration(seconds) * time.Second)
			for _, o := range b.before {
				more, never := tolerated(pod, &o)
				forGood, seconds = forGood || never, max(seconds, more)
			}
			if end := latest(b.first, pod.CreationTimestamp).Add(time.Duration(seconds) * time.Second); len(b.before) > 0 && !forGood && end.Before(at) {
				at = end
			}
		}
		if !found || at.Before(first) {
			first, found = at, true
		}
	}
	return first, found
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// tolerated returns for how many seconds a pod tolerates a taint: -1 if it does
// not.
func tolerated(pod *fairlead.Pod, t *fairlead.Taint) (seconds int64, forGood bool) {
	for _, o := range pod.Spec.Tolerations {
		switch {
		case o.Key != t.Key, o.Operator == fairlead.TolerationEqual && o.Value != t.Value:
		case o.TolerationSeconds == nil:
			return 0, true
		default:
			return *o.TolerationSeconds, false
		}
	}
	return -1, false
}

// mustLeaveNow reports whether the pod does not tolerate one of the taints at all.
func mustLeaveNow(pod *fairlead.Pod, all []fairlead.Taint) bool {
	return slices.ContainsFunc(all, func(t fairlead.Taint) bool {
		seconds, forGood := tolerated(pod, &t)
		return t.Effect == fairlead.NoExecute && seconds < 0 && !forGood
	})
}

// checkDecision: a pod is evicted only if, by what the pass has seen, it is there,
// has not finished, and is due.
func (p *fleetPlay) checkDecision(node string, a *eviction.Evict) {
	v := p.seen[node]
	if v == nil || v.world.Node == nil {
		p.fail("%s is evicted, and its node was not seen", a.Pod)
		return
	}
	i := slices.IndexFunc(v.world.Pods, func(o fairlead.Pod) bool { return o.UID == a.Pod.UID })
	if i < 0 || a.Pod.UID == "" {
		p.fail("%s (%s) is evicted, and was not seen on %s", a.Pod, a.Pod.UID, node)
		return
	}
	seen := v.world.Pods[i]
	pod := &seen
	for _, w := range v.state.Waits {
		if w.Reason == eviction.ReasonClock && pod.CreationTimestamp.After(p.Clock.Now()) {
			pod.CreationTimestamp = w.Since // the clock was set back
		}
	}
	if pod.DeletionTimestamp != nil || pod.Finished() {
		p.fail("%s is evicted, and was seen to be over", a.Pod)
	}
	causes := v.world.Node.Spec.Taints
	if v.disrupted && p.policy.NodeLifecycle != nil {
		causes = slices.DeleteFunc(slices.Clone(causes), func(t fairlead.Taint) bool { return t.Key == notReady || t.Key == unreachable })
	}
	if mustLeaveNow(pod, causes) {
		return
	}
	at, due := deadline(pod, causes, func(t *fairlead.Taint) began {
		for _, s := range v.state.Taints {
			if s.Key == t.Key {
				b := began{since: s.Since, first: s.First}
				for _, k := range s.Before {
					b.before = append(b.before, fairlead.Taint{Key: k.Key, Value: k.Value})
				}
				return b
			}
		}
		return began{since: time.Unix(math.MaxInt32*2, 0)} // it is not known when it began
	})
	if !due {
		p.fail("%s is evicted, and nothing that was seen makes it leave (disrupted: %v)", a.Pod, v.disrupted)
	} else if at.After(p.Clock.Now()) {
		p.fail("%s is evicted at %s, and is due at %s", a.Pod, p.Clock.Now(), at)
	}
	p.checkTruth(node, pod)
}

// checkTruth: where views are not stale, a pod leaves no earlier than the taints
// themselves allow, by when they were put on the node.
func (p *fleetPlay) checkTruth(node string, pod *fairlead.Pod) {
	n, ok := p.backend.Node(node)
	if !p.clean || !ok {
		return
	}
	at, due := deadline(pod, n.Spec.Taints, func(t *fairlead.Taint) began { return p.truth(node, t) })
	if !due || at.After(p.Clock.Now()) {
		p.fail("%s is evicted at %s, and by its taints it is due at %s (%v)", pod.Name, p.Clock.Now(), at, due)
	}
}

// truth returns when a taint was put on a node, as far as anybody has seen.
func (p *fleetPlay) truth(node string, t *fairlead.Taint) began {
	low, known := p.lowest[node+" "+t.Key+"="+t.Value]
	if t.TimeAdded != nil && (!known || t.TimeAdded.Before(low)) {
		low = *t.TimeAdded
	}
	b := began{since: low}
	if r := p.chains[node+" "+place(t)]; r != nil && len(r.before) > 0 {
		b.first, b.before = r.since, r.before
	}
	return b
}

// place is the same for taints that can come in each other's place.
func place(t *fairlead.Taint) string {
	if t.Key == notReady || t.Key == unreachable {
		return "ready"
	}
	return t.Key
}

// follow keeps account of taints that come in place of others: where one was seen
// all along, since when, and all that were seen.
func (p *fleetPlay) follow(n *fairlead.Node) {
	there := map[string]bool{}
	for _, t := range n.Spec.Taints {
		if t.Effect != fairlead.NoExecute {
			continue
		}
		key := n.Name + " " + place(&t)
		there[key] = true
		r, t := p.chains[key], fairlead.Taint{Key: t.Key, Value: t.Value, TimeAdded: t.TimeAdded}
		if r == nil {
			p.chains[key] = &began{since: p.truth(n.Name, &t).since, before: []fairlead.Taint{t}}
			continue
		}
		if !slices.ContainsFunc(r.before, func(o fairlead.Taint) bool { return o.Key == t.Key && o.Value == t.Value }) {
			r.before = append(r.before, t)
		}
	}
	for key := range p.chains {
		if strings.HasPrefix(key, n.Name+" ") && !there[key] {
			delete(p.chains, key)
		}
	}
}

// countTokens: of the tokens of a zone no more are spent than its rate allows.
func (p *fleetPlay) countTokens() {
	held := map[string]time.Time{}
	for _, g := range p.zones().Granted {
		// A clock that was set back moves the time of a token back, and makes no other.
		key := g.Zone + " " + g.Node + " " + g.UID
		if since, held := p.held[key]; !held || g.Since.After(since) {
			p.spent[g.Zone]++
			p.Reach("token")
		}
		held[key] = g.Since
	}
	p.held = held
	most := 1 + int(0.1*p.forward.Seconds()+0.001)
	for zone, n := range p.spent {
		if n > most {
			p.fail("zone %s has spent %d tokens in %s", zone, n, p.forward)
		}
	}
}

// check is told of each change at the backend.
func (p *fleetPlay) check(a eviction.Action) {
	switch a := a.(type) {
	case eviction.Evict:
		p.Reach("eviction")
		if p.lateNow {
			p.Reach("late eviction")
		}
		if p.evicted[a.Pod.UID]++; p.evicted[a.Pod.UID] > 1 {
			p.fail("%s (%s) was evicted %d times", a.Pod, a.Pod.UID, p.evicted[a.Pod.UID])
		}
		if p.policy.RespectBudgets && !a.Budget {
			p.Reach("evicted against budget")
			if end := a.At.Add(p.policy.BudgetTimeout); end.After(p.Clock.Now()) && p.clean {
				p.fail("%s is evicted against its budget at %s, and not before %s", a.Pod, p.Clock.Now(), end)
			}
		}
	case eviction.EditTaints:
		if len(a.Add) > 0 && len(a.Remove) > 0 && !slices.ContainsFunc(a.Add, func(t fairlead.Taint) bool { return t.Effect != fairlead.NoExecute }) {
			p.Reach("swap")
		}
		p.dirty = append(p.dirty, a.Node)
	}
}

// exclusive: no node has both taints of nodes that are not ready.
func (p *fleetPlay) exclusive() {
	for _, name := range p.dirty {
		n, _ := p.backend.Node(name)
		had := 0
		for _, t := range n.Spec.Taints {
			if t.Effect == fairlead.NoExecute && (t.Key == notReady || t.Key == unreachable) {
				had++
			}
		}
		if had > 1 {
			p.fail("%s has taints %v", name, n.Spec.Taints)
		}
	}
	p.dirty = p.dirty[:0]
}

// silent: whoever waits says why, and when it looks again.
func (p *fleetPlay) silent(name string, d *eviction.Decision) {
	for _, b := range d.Blocked {
		if b.Since.IsZero() || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" {
			p.fail("a block says too little: %+v", b)
		}
		switch b.Reason {
		case eviction.ReasonBudget:
			p.Reach("held by budget")
		case eviction.ReasonTolerating, eviction.ReasonEvicting, eviction.ReasonWrite:
			if d.Wake.IsZero() {
				p.fail("%s, and never looked at again", b)
			}
		}
	}
	if _, err := json.Marshal(d.State); err != nil {
		p.fail("the state cannot be written: %v", err)
	}
}

// settle ends all faults, and checks that everything comes to rest: pods that
// must leave have left, the others have not, and the taints of nodes are those
// of their conditions.
func (p *fleetPlay) settle() error {
	p.Heal()
	p.lateNow = true
	for _, l := range p.late {
		_ = p.backend.Apply(p.t.Context(), l.node, l.action)
	}
	p.lateNow = false
	p.late = nil
	if before := p.Clock.Now(); p.highest.After(before) {
		p.Clock.Set(p.highest) // the clock is corrected
		p.moved(before)
	}
	p.rest(p.Clock.Now().Add(12 * time.Minute))
	if p.wrong == nil {
		p.atRest()
	}
	return p.wrong
}

// rest lets everybody look when it is time to, until the end, or as long again
// after the last node of a large fleet was tainted at the rate that is allowed.
func (p *fleetPlay) rest(end time.Time) {
	least := end.Sub(p.Clock.Now())
	wakes := make([]time.Time, len(p.nodes)) // when to look at a node; zero for now
	looked := func(name string, actions int, err error) (acted bool) {
		if err != nil && !strings.Contains(err.Error(), "budget") {
			p.fail("%s: %v, and nothing fails any more", name, err)
		}
		return actions > 0
	}
	disrupted := p.zones().Disrupted
	for p.Clock.Now().Before(end) && p.wrong == nil {
		next, acted := end, false
		for i, n := range p.nodes {
			if wakes[i].After(p.Clock.Now()) {
				next = earlier(next, wakes[i])
				continue
			}
			d, err := p.runners[0].Reconcile(p.t.Context(), n)
			again := looked(n, len(d.Actions), err)
			acted = acted || again
			switch {
			case again:
				wakes[i] = time.Time{}
			case d.Wake.IsZero():
				wakes[i] = end
			default:
				wakes[i] = d.Wake
			}
			next = earlier(next, wakes[i])
		}
		d, err := p.runners[0].ReconcileZones(p.t.Context())
		if looked("zones", len(d.Actions), err) {
			acted, end = true, later(end, p.Clock.Now().Add(least))
		}
		if !d.Wake.IsZero() {
			next = earlier(next, d.Wake)
		}
		if d.State.Disrupted != disrupted {
			disrupted, acted = d.State.Disrupted, true
			clear(wakes)
		}
		for _, name := range p.dirty {
			wakes[slices.Index(p.nodes, name)] = time.Time{}
		}
		p.exclusive()
		if !acted {
			before := p.Clock.Now()
			p.Clock.Set(next)
			p.moved(before)
			for _, name := range p.dirty {
				wakes[slices.Index(p.nodes, name)] = time.Time{}
			}
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (p *fleetPlay) atRest() {
	disrupted := p.zones().Disrupted
	for _, name := range p.nodes {
		n, ok := p.backend.Node(name)
		if !ok {
			continue
		}
		if p.policy.NodeLifecycle != nil {
			p.conditionsAtRest(&n, disrupted)
		}
		for _, pod := range p.backend.Pods(name) {
			_, due := deadline(&pod, n.Spec.Taints, func(*fairlead.Taint) began { return began{} })
			over := pod.DeletionTimestamp != nil || pod.Finished()
			if due && !over {
				p.fail("at rest, %s is on %s with %v", pod.Name, name, n.Spec.Taints)
			}
		}
	}
}

func (p *fleetPlay) conditionsAtRest(n *fairlead.Node, disrupted bool) {
	want := map[string]fairlead.ConditionStatus{"reports": fairlead.ConditionTrue, "unready": fairlead.ConditionFalse, "silent": fairlead.ConditionUnknown}[p.agents[n.Name]]
	ready := p.readiness(n.Name)
	if ready != want {
		p.fail("at rest, %s is %q and its Ready is %s", n.Name, p.agents[n.Name], ready)
	}
	for key, status := range map[string]fairlead.ConditionStatus{notReady: fairlead.ConditionFalse, unreachable: fairlead.ConditionUnknown} {
		for _, effect := range []fairlead.TaintEffect{fairlead.NoSchedule, fairlead.NoExecute} {
			has := slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == key && t.Effect == effect })
			should := ready == status && (effect == fairlead.NoSchedule || !disrupted)
			if has && !should || should && !has && effect == fairlead.NoSchedule {
				p.fail("at rest, %s has Ready %s, and %v (disrupted: %v)", n.Name, ready, n.Spec.Taints, disrupted)
			}
		}
	}
}
