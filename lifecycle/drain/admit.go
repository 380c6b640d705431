package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// Admit decides which of the members that should go may be drained. A member needs
// a slot of every limit that applies to it, and gets all of them or none.
//
//  1. A member keeps its slots until it no longer should go, that is, until it is
//     back in service or gone: a slot is never taken away. A member that has begun
//     gets its slots back if they were lost. Slots of a deleted limit do not
//     count.
//  2. Every member that is down counts against Max, for any reason. Draining a
//     member that is down makes nothing worse: it comes first, and waits only for
//     those that hold slots, not for others that are down.
//  3. The others take turns by priority, then by the time of the request, then by
//     name.
//  4. For the first in turn of those that wait for a full limit, a slot of each
//     other limit that it needs is reserved. So no member starves while later ones
//     of the same priority arrive, and those after it hold up nobody else.
//  5. If a replacement can come first, and the limit has a Surge, the slot is one
//     of Surge. Its holder is replaced first, and then admitted.
//
// Members must be all that the limits count: percentages refer to them, and a
// missing member gives its slots back. The result does not depend on their order.
// The error is of type fairlead.FieldErrors; then nothing is decided. The run time
// is proportional to members times limits.
func Admit(slots []Slot, members []Member, limits []Limit, now time.Time) (*Admission, error) {
	var errs fairlead.FieldErrors
	checkLimits(limits, &errs)
	checkMembers(members, &errs)
	if errs != nil {
		return nil, errs
	}
	q := newTurns(slots, members, limits, now)
	for _, c := range q.queue {
		if c.Begun || len(q.held[c.UID]) > 0 {
			q.keep(c)
		}
	}
	for i := range members {
		q.countDown(&members[i])
	}
	for _, c := range q.queue {
		if !q.in[c.UID] {
			q.next(c)
		}
	}
	a := q.Admission
	for _, l := range q.late {
		a.Blocked[l.at] = q.block(l.member, l.full)
	}
	slices.Sort(a.Admitted)
	slices.SortFunc(a.Slots, func(x, y Slot) int {
		return cmp.Or(strings.Compare(x.Limit, y.Limit), strings.Compare(x.Domain, y.Domain), strings.Compare(x.Holder, y.Holder))
	})
	return a, nil
}

// turns is one call of Admit.
type turns struct {
	*Admission
	now    time.Time
	limits []Limit
	queue  []*Member
	held   map[string][]Slot // from before, by UID
	in     map[string]bool   // by UID: members that have their slots
	names  map[string]*Member
	groups map[[2]string]*group
	late   []late
}

// late is a Block whose text is written after all decisions.
type late struct {
	at     int // in Blocked
	member *Member
	full   *group
}

// group is a set of members that a limit counts together.
type group struct {
	*Limit
	domain     string
	total      int
	max, surge int
	slots      [2][]Slot // of Max, and of Surge
	down       []*Member // that hold no slot of Max
	kept       [2]int    // free slots that are reserved for the first in turn of full limits
	headed     [2]bool   // that first member was found
	told       [3]*holders
}

// holders describes who holds slots.
type holders struct {
	count int
	text  string
	held  bool // something holds one of them up
}

func newTurns(slots []Slot, members []Member, limits []Limit, now time.Time) *turns {
	q := &turns{Admission: &Admission{}, now: now, limits: limits, held: map[string][]Slot{}, in: map[string]bool{}, names: map[string]*Member{}, groups: map[[2]string]*group{}}
	for _, s := range slots {
		if slices.ContainsFunc(limits, func(l Limit) bool { return l.Name == s.Limit }) {
			q.held[s.UID] = append(q.held[s.UID], s)
		}
	}
	for i := range members {
		m := &members[i]
		q.names[m.Name] = m
		for _, g := range q.of(m) {
			g.total++
		}
		if !m.Asked.IsZero() {
			q.queue = append(q.queue, m)
		}
	}
	for _, g := range q.groups {
		g.max, g.surge = scale(g.Max, g.total), scale(g.Surge, g.total)
	}
	slices.SortFunc(q.queue, func(a, b *Member) int {
		if (a.Down == "") != (b.Down == "") {
			return cmp.Compare(len(b.Down), len(a.Down))
		}
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Asked.Compare(b.Asked), strings.Compare(a.Name, b.Name))
	})
	return q
}

// subject names a member to people.
func (m *Member) subject() string { return cmp.Or(m.Kind, "node") + " " + m.Name }

// of returns the groups of a member, one for each limit that applies to it.
func (q *turns) of(m *Member) []*group {
	var all []*group
	for i := range q.limits {
		l := &q.limits[i]
		if !l.Selector.Matches(m.Labels) {
			continue
		}
		key := [2]string{l.Name}
		if l.Per != "" {
			key[1] = m.Labels[l.Per]
		}
		g := q.groups[key]
		if g == nil {
			g = &group{Limit: l, domain: key[1]}
			q.groups[key] = g
		}
		all = append(all, g)
	}
	return all
}

// kind returns which slot of a limit a member needs: 0 for one of Max, 1 for one
// of Surge.
func (g *group) kind(m *Member) int {
	if g.surge > 0 && m.Replacement != "" {
		return 1
	}
	return 0
}

// full reports whether there is no slot for a member that holds none.
func (g *group) full(m *Member, kind int) bool {
	taken := len(g.slots[kind]) + g.kept[kind]
	if kind == 1 {
		return taken >= g.surge
	}
	if m.Down == "" {
		taken += len(g.down)
	}
	return taken >= g.max
}

// keep gives a member the slots that it had or must have.
func (q *turns) keep(m *Member) {
	held := q.held[m.UID]
	since := q.now
	for _, s := range held {
		if s.Since.Before(since) {
			since = s.Since
		}
	}
	for _, g := range q.of(m) {
		kind := g.kind(m)
		if i := slices.IndexFunc(held, func(s Slot) bool { return s.Limit == g.Name }); i >= 0 {
			kind = 0
			if held[i].Surge {
				kind = 1
			}
		} else if m.Begun {
			kind = 0
		}
		q.take(g, m, kind, since)
	}
	q.admit(m)
}

// take gives a member a slot.
func (q *turns) take(g *group, m *Member, kind int, since time.Time) {
	s := Slot{Limit: g.Name, Domain: g.domain, Holder: m.Name, UID: m.UID, Since: since, Surge: kind == 1}
	g.slots[kind] = append(g.slots[kind], s)
	q.Slots = append(q.Slots, s)
	if kind == 0 {
		g.down = slices.DeleteFunc(g.down, func(o *Member) bool { return o == m })
	}
}

// admit admits a member that has its slots, or makes its replacement come first.
func (q *turns) admit(m *Member) {
	q.in[m.UID] = true
	w := Waiting{Name: m.Name}
	for _, g := range q.of(m) {
		if slices.ContainsFunc(g.slots[1], func(s Slot) bool { return s.UID == m.UID }) && !m.Begun && (m.Replacement == ReplacementPossible || m.Replacement == ReplacementComing) {
			w.Slots = append(w.Slots, TakenSlot{Limit: g.Name, Replacement: true})
		}
	}
	if len(w.Slots) == 0 {
		q.Admitted = append(q.Admitted, m.Name)
		return
	}
	b := fairlead.Block{
		Subject: m.subject(), Reason: ReasonReplacementDue, Message: "its replacement must come first, by limit " + w.Slots[0].Limit,
		Unblock: "wait until a node takes its place and is ready",
	}
	if m.Replacement == ReplacementPossible {
		q.Replace = append(q.Replace, m.Name)
	} else {
		b.Message = "its replacement has been created, but is not in service yet"
	}
	q.Waiting, q.Blocked = append(q.Waiting, w), append(q.Blocked, b)
}

// countDown counts a member that is out of service without a slot of Max.
func (q *turns) countDown(m *Member) {
	if m.Down == "" {
		return
	}
	for _, g := range q.of(m) {
		if !slices.ContainsFunc(g.slots[0], func(s Slot) bool { return s.UID == m.UID }) {
			g.down = append(g.down, m)
		}
	}
}

// next admits a member, or makes it wait.
func (q *turns) next(m *Member) {
	groups := q.of(m)
	var full *group
	first := false
	w := Waiting{Name: m.Name}
	for _, g := range groups {
		kind := g.kind(m)
		if !g.full(m, kind) {
			continue
		}
		if full == nil {
			full = g
		}
		first = first || !g.headed[kind]
		g.headed[kind] = true
		w.Slots = append(w.Slots, g.taken(m, kind))
	}
	if full == nil {
		for _, g := range groups {
			q.take(g, m, g.kind(m), q.now)
		}
		q.admit(m)
		return
	}
	if first {
		for _, g := range groups {
			if kind := g.kind(m); !g.full(m, kind) {
				g.kept[kind]++
			}
		}
	}
	q.Waiting = append(q.Waiting, w)
	q.late = append(q.late, late{len(q.Blocked), m, full})
	q.Blocked = append(q.Blocked, fairlead.Block{})
}

// taken returns who has longest had a slot that a member needs.
func (g *group) taken(m *Member, kind int) TakenSlot {
	t := TakenSlot{Limit: g.Name}
	best := func(name string, since time.Time) {
		if t.Holder == "" || since.Before(t.Since) || since.Equal(t.Since) && name < t.Holder {
			t.Holder, t.Since = name, since
		}
	}
	for _, s := range g.slots[kind] {
		best(s.Holder, s.Since)
	}
	if kind == 0 && m.Down == "" {
		for _, d := range g.down {
			best(d.Name, d.DownSince)
		}
	}
	return t
}

// block says what holds a member up.
func (q *turns) block(m *Member, g *group) fairlead.Block {
	what := "limit " + g.Name
	if g.Per != "" {
		what += " of " + g.Per + "=" + g.domain
	}
	b := fairlead.Block{Subject: m.subject(), Reason: ReasonSlotTaken, Unblock: "wait until one of them is back in service or gone"}
	kind := g.kind(m)
	h := q.holders(m, g, kind)
	most := [2]int{g.max, g.surge}[kind]
	verb := [2]string{"be out of service", "be replaced"}[kind]
	switch t := g.taken(m, kind); {
	case g.max == 0 && kind == 0:
		b.Message, b.Unblock = what+" allows no disruption", "raise its max"
	case h.count < most:
		b.Message, b.Unblock = what+" has reserved a slot for one that has waited longer", "wait until that one has got its other slots, and is back in service or gone"
	default:
		b.Message = fmt.Sprintf("%s allows %d of %d to %s at a time: %s", what, most, g.total, verb, h.text)
		b.Owner, b.Since = t.Holder, t.Since
		if o := q.names[t.Holder]; o != nil {
			b.Owner = o.subject()
		}
		if h.held {
			b.Unblock += "; find out what holds them up"
		}
	}
	return b
}

// holders names those that hold slots which a member needs, since when they have
// them, and what holds them up.
func (q *turns) holders(m *Member, g *group, kind int) *holders {
	withDown := kind == 0 && m.Down == ""
	told := &g.told[kind]
	if withDown {
		told = &g.told[2]
	}
	if *told != nil {
		return *told
	}
	h := &holders{}
	*told = h
	slots := slices.Clone(g.slots[kind])
	slices.SortFunc(slots, func(x, y Slot) int { return cmp.Or(x.Since.Compare(y.Since), strings.Compare(x.Holder, y.Holder)) })
	var all []string
	for _, s := range slots {
		text := fmt.Sprintf("%s for %v", s.Holder, q.now.Sub(s.Since).Round(time.Second))
		if o := q.names[s.Holder]; o != nil && o.Held != "" {
			text += " (" + o.Held + ")"
			h.held = true
		}
		all = append(all, text)
	}
	if withDown {
		down := slices.Clone(g.down)
		slices.SortFunc(down, func(a, b *Member) int {
			return cmp.Or(a.DownSince.Compare(b.DownSince), strings.Compare(a.Name, b.Name))
		})
		for _, d := range down {
			text := d.Name + " (" + d.Down
			if !d.DownSince.IsZero() {
				text += fmt.Sprintf(" for %v", q.now.Sub(d.DownSince).Round(time.Second))
			}
			all = append(all, text+")")
		}
	}
	h.count, h.text = len(all), words.First(all, 5)
	return h
}
