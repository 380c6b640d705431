package eviction

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
)

// ZoneStep decides which nodes get their NoExecute taint for not being ready,
// and when: the zone limiter.
//
//  1. A zone with no ready node is in FullDisruption; one in which at least the
//     share NodeLifecycle.UnhealthyZoneThreshold, and at least three nodes, are
//     not ready is in PartialDisruption. Nodes with the label
//     LabelExcludeDisruption do not count; a node without condition Ready is not
//     ready.
//  2. The mode of its zone says how many nodes per second may be tainted, one at a
//     time; see NodeLifecycle. If a zone has no token when its rate changes, it
//     begins the new rate without one.
//  3. A token goes to the node that has not been ready for longest, by the time in
//     its condition. Nodes that are ready or have the taint get none. One token is
//     enough, however often the taint must be written until it is seen.
//  4. When no node of any zone is ready, the control plane itself is cut off
//     (Disruption.Disrupted): the taints are removed from all nodes, and no pod is
//     evicted because of them. When that ends, all nodes get a new grace period.
//
// It is a pure function; a nil policy, and a nil NodeLifecycle, mean the defaults.
// World must not be nil.
func ZoneStep(state ZoneState, world *ZoneWorld, now time.Time, policy *Policy) ZoneDecision {
	p := policy.complete()
	if p.NodeLifecycle == nil {
		p.NodeLifecycle = new(NodeLifecycle)
		p = p.complete()
	}
	s := &zoneStepper{
		ZoneWorld: world, old: state, policy: p, state: ZoneState{Disruption: state.Disruption},
		Ledger: fairlead.NewLedger(state.Pending, world.Outcomes, now, p.backoff()),
	}
	s.state.Since = fairlead.Past(s.state.Disruption.Since, now)
	s.survey()
	s.modes()
	if s.state.Disrupted {
		s.release()
	} else {
		s.keepGranted()
		for _, z := range s.zones {
			s.grant(z)
		}
		slices.SortFunc(s.state.Granted, func(a, b Grant) int { return strings.Compare(a.Node, b.Node) })
	}
	s.keepZones()
	s.state.Pending = s.Pending()
	return ZoneDecision{State: s.state, Actions: s.actions, Blocked: s.blocked, Wake: s.Wake()}
}

// keepZones notes the zones. One without nodes is kept for as long as it would
// have no token if its nodes came back.
func (s *zoneStepper) keepZones() {
	there := make(map[string]bool)
	for _, z := range s.zones {
		there[z.Name] = true
		s.state.Zones = append(s.state.Zones, z.Zone)
	}
	for _, z := range s.old.Zones {
		if z.Empty = fairlead.Past(z.Empty, s.Now()); !there[z.Name] && z.Rate > 0 && z.next().After(s.Now()) {
			s.state.Zones = append(s.state.Zones, z)
		}
	}
	slices.SortFunc(s.state.Zones, func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
}

// maxGranted is how many nodes of a zone may have a token and no taint yet. While
// so many writes fail, more tokens would be useless.
const maxGranted = 100

// zoneStepper is one call of ZoneStep.
type zoneStepper struct {
	*ZoneWorld
	fairlead.Ledger
	old     ZoneState
	policy  Policy
	zones   []*zone // by name
	size    int     // of all zones
	state   ZoneState
	actions []Action
	blocked []fairlead.Block
}

// zone is a zone as observed.
type zone struct {
	Zone
	ready, unready int
	known          bool             // it is in the state
	seen           bool             // it has nodes
	waiting        []*fairlead.Node // nodes that are not ready and lack the taint, longest first
	granted        int
}

// survey counts the nodes of each zone.
func (s *zoneStepper) survey() {
	byName := make(map[string]*zone)
	for _, z := range s.old.Zones {
		z.Since, z.Empty = fairlead.Past(z.Since, s.Now()), fairlead.Past(z.Empty, s.Now())
		byName[z.Name] = &zone{Zone: z, known: true}
	}
	listed := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if listed[n.Name] {
			continue
		}
		listed[n.Name] = true
		name := ZoneOf(n)
		z := byName[name]
		if z == nil {
			z = &zone{Zone: Zone{Name: name, Since: s.Now()}}
			byName[name] = z
		}
		if !z.seen {
			z.seen = true
			s.zones = append(s.zones, z)
		}
		ready := n.Condition(nodeReady)
		if _, excluded := n.Labels[LabelExcludeDisruption]; !excluded {
			s.size++
			if ready != nil && ready.Status == fairlead.ConditionTrue {
				z.ready++
			} else {
				z.unready++
			}
		}
		if want := readyTaint(n); want != "" && !hasTaint(n, want) {
			z.waiting = append(z.waiting, n)
		}
	}
	slices.SortFunc(s.zones, func(a, b *zone) int { return strings.Compare(a.Name, b.Name) })
	for _, z := range s.zones {
		slices.SortFunc(z.waiting, func(a, b *fairlead.Node) int {
			return cmp.Or(unreadySince(a).Compare(unreadySince(b)), strings.Compare(a.Name, b.Name))
		})
	}
}

func unreadySince(n *fairlead.Node) time.Time { return n.Condition(nodeReady).LastTransitionTime }

// modes gives every zone its mode and its rate.
func (s *zoneStepper) modes() {
	counted, full := 0, 0
	for _, z := range s.zones {
		mode := s.mode(z)
		if mode != z.Mode {
			z.Mode, z.Since = mode, s.Now()
		}
		if z.ready+z.unready > 0 {
			counted++
		}
		if mode == ZoneFullDisruption {
			full++
		}
	}
	if disrupted := counted > 0 && full == counted; disrupted != s.old.Disrupted {
		s.state.Disruption = Disruption{Disrupted: disrupted, Since: s.Now()}
	}
	for _, z := range s.zones {
		s.setRate(z, s.rate(z))
	}
}

func (s *zoneStepper) mode(z *zone) ZoneMode {
	l := s.policy.NodeLifecycle
	threshold := l.UnhealthyZoneThreshold
	if z.Mode == ZonePartialDisruption {
		threshold = l.RecoveryThreshold
	}
	all := z.ready + z.unready
	switch {
	case z.ready == 0 && z.unready > 0:
		return ZoneFullDisruption
	case z.unready > 2 && float32(z.unready)/float32(all) >= float32(threshold):
		return ZonePartialDisruption
	}
	return ZoneNormal
}

// rate returns how many nodes per second may be tainted.
func (s *zoneStepper) rate(z *zone) float64 {
	l := s.policy.NodeLifecycle
	rate := l.NodeEvictionRate
	size := z.ready + z.unready
	if l.SizeOf == SizeOfCluster {
		size = s.size
	}
	switch {
	case s.state.Disrupted:
		return 0
	case z.Mode == ZoneFullDisruption:
		rate = *l.FullDisruptionRate
	case z.Mode == ZonePartialDisruption && size > l.LargeClusterSize:
		rate = l.SecondaryNodeEvictionRate
	case z.Mode == ZonePartialDisruption:
		return 0
	}
	return max(rate, 0)
}

// setRate changes the rate of a zone. A bucket that is not full becomes empty.
func (s *zoneStepper) setRate(z *zone, rate float64) {
	if rate == z.Rate {
		return
	}
	if empty := z.known && (z.Rate == 0 || z.next().After(s.Now())); empty {
		z.Empty = s.Now()
	} else {
		z.Empty = time.Time{}
	}
	z.Rate = rate
}

// next returns when the zone has a token; zero if it has one.
func (z *Zone) next() time.Time {
	if z.Empty.IsZero() {
		return time.Time{}
	}
	return z.Empty.Add(interval(z.Rate))
}

// interval returns the time between two tokens.
func interval(rate float64) time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	if rate*longest.Seconds() <= 1 { // also if there never is another
		return longest
	}
	return time.Duration(math.Ceil(float64(time.Second) / rate))
}

// release removes the taints from all nodes.
func (s *zoneStepper) release() {
	var edits []Action
	for i := range s.Nodes {
		n := &s.Nodes[i]
		a := EditTaints{Node: n.Name, UID: n.UID}
		for _, key := range []string{taints.KeyNotReady, taints.KeyUnreachable} {
			if hasTaint(n, key) {
				a.Remove = append(a.Remove, fairlead.Taint{Key: key, Effect: fairlead.NoExecute})
			}
		}
		if a.Remove != nil {
			edits = append(edits, a)
		}
	}
	message := "no node in any zone is ready: no node is tainted because of that, and the taints for it are removed"
	if len(edits) > 0 {
		// All edits are one attempt, so that State does not grow with the fleet.
		if s.Due(fairlead.Key{Kind: EditTaints{}.Key().Kind, ID: AllZones}) {
			s.actions = edits
		}
		message += fmt.Sprintf(" (%s)", words.Count(len(edits), "node still has one", "nodes still have one"))
	}
	s.blocked = append(s.blocked, fairlead.Block{
		Subject: "all zones", Reason: ReasonDisrupted, Since: s.state.Disruption.Since, Owner: "the network between nodes and control plane",
		Message: message, Unblock: "wait until one node is ready",
	})
}

// keepGranted retries taints that are not seen, and drops grants that are no
// longer useful.
func (s *zoneStepper) keepGranted() {
	for _, g := range s.old.Granted {
		for _, z := range s.zones {
			i := slices.IndexFunc(z.waiting, func(n *fairlead.Node) bool { return n.Name == g.Node && n.UID == g.UID })
			if i < 0 {
				continue
			}
			g.Since = fairlead.Past(g.Since, s.Now())
			s.taint(g, z.waiting[i])
			z.waiting = slices.Delete(z.waiting, i, i+1)
			z.granted++
		}
	}
}

// taint puts the taint on a node that has a token, unless that was tried a short
// time ago.
func (s *zoneStepper) taint(g Grant, n *fairlead.Node) {
	a := EditTaints{Node: n.Name, UID: n.UID}
	want := readyTaint(n)
	now := s.Now()
	a.Add = []fairlead.Taint{{Key: want, Effect: fairlead.NoExecute, TimeAdded: &now}}
	a.Remove = []fairlead.Taint{{Key: opposite(want), Effect: fairlead.NoExecute}}
	key := a.Key()
	if s.Due(key) {
		s.actions = append(s.actions, a)
	}
	s.state.Granted = append(s.state.Granted, g)
	s.blocked = append(s.blocked, fairlead.Block{
		Subject: "node " + n.Name, Reason: ReasonWrite, Since: g.Since,
		Message: s.Because(fmt.Sprintf("its taint %s is being written", want), key), Unblock: "wait until the taint is observed",
	})
}

// grant gives the tokens of a zone to its nodes.
func (s *zoneStepper) grant(z *zone) {
	for len(z.waiting) > 0 && z.Rate > 0 && !z.next().After(s.Now()) && z.granted < maxGranted {
		n := z.waiting[0]
		z.waiting = z.waiting[1:]
		z.granted++
		z.Empty = s.Now()
		s.taint(Grant{Node: n.Name, UID: n.UID, Zone: z.Name, Since: s.Now()}, n)
	}
	if len(z.waiting) == 0 {
		return
	}
	b := fairlead.Block{Subject: fmt.Sprintf("zone %q", z.Name), Since: fairlead.Past(unreadySince(z.waiting[0]), s.Now())}
	who := words.Count(len(z.waiting), "node waits", "nodes wait")
	switch {
	case z.Rate == 0:
		b.Reason, b.Unblock = ReasonZoneStopped, "wait until more of its nodes are ready"
		b.Message = fmt.Sprintf("%s for the NoExecute taint, which is not set in %s, with %d of %d nodes not ready", who, z.Mode, z.unready, z.ready+z.unready)
	case z.granted >= maxGranted:
		b.Reason, b.Unblock = ReasonWritesFailed, "wait until the writes succeed"
		b.Message = fmt.Sprintf("%s for their turn until some of %d taints are written", who, z.granted)
	default:
		b.Reason, b.Unblock = ReasonRateLimited, "wait: evictions of this zone are limited; they end when its nodes are ready"
		b.Message = fmt.Sprintf("%s for the NoExecute taint: %s has one every %s; the next is %s at %s",
			who, z.Mode, interval(z.Rate), z.waiting[0].Name, z.next().Format(time.RFC3339))
		s.At(writable(z.next()))
	}
	s.blocked = append(s.blocked, b)
}
