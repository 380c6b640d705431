package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// Limit bounds how many machines are drained or on their way out at the same
// time.
type Limit struct {
	Name string `json:"name"` // unique among the limits
	// Role is whose machines it bounds; empty means all.
	Role string `json:"role,omitempty"`
	// PerDomain has each failure domain counted by itself.
	PerDomain bool `json:"perDomain,omitempty"`
	// Max is how many; 0 stops them all.
	Max int `json:"max"`
}

// Candidate is a machine that is being deleted: its drain is before it, or it is
// in it, or drained and not gone. It may also be a node that is to be drained for
// any other reason, until it takes pods again.
type Candidate struct {
	Name   string    `json:"name"`             // the machine's, unique
	UID    string    `json:"uid"`              // the machine's
	Role   string    `json:"role,omitempty"`   // such as master or worker
	Domain string    `json:"domain,omitempty"` // its failure domain
	Asked  time.Time `json:"asked"`            // its deletion timestamp
	// Begun is whether it cannot be held up any more: its drain has begun, or there
	// is none. It takes its slots even beyond a limit.
	Begun bool `json:"begun,omitempty"`
}

// Slot is a place that a limit gives to one machine.
type Slot struct {
	Limit   string    `json:"limit"`            // its name
	Domain  string    `json:"domain,omitempty"` // where the limit is per domain
	Machine string    `json:"machine"`          // who holds it
	UID     string    `json:"uid"`              // the holder's
	Since   time.Time `json:"since"`            // when it got it
}

// Admission is what Admit decides.
type Admission struct {
	// Slots are those taken, by limit, domain and machine: the state, to be saved
	// before anything is drained.
	Slots []Slot `json:"slots,omitempty"`
	// Admitted names the machines that may be drained, by name.
	Admitted []string `json:"admitted,omitempty"`
	// Blocked says of each other candidate which limit holds it up, who holds the
	// slots of that, and since when. In the order of turn.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
	// Waiting are the same machines with what they wait for, in the same order: it
	// is what lifecycle.World.Slots is to hold.
	Waiting []Waiting `json:"waiting,omitempty"`
}

// Waiting is a machine that may not be drained yet.
type Waiting struct {
	Machine string                `json:"machine"` // the candidate's name
	Slots   []lifecycle.TakenSlot `json:"slots"`   // one for each limit that it waits for, in the order of the limits
}

// SlotsOf returns what a machine waits for, as lifecycle.World has it; nil for
// one that is admitted, or is no candidate.
func (a *Admission) SlotsOf(machine string) []lifecycle.TakenSlot {
	for i := range a.Waiting {
		if a.Waiting[i].Machine == machine {
			return a.Waiting[i].Slots
		}
	}
	return nil
}

// Admit decides which machines may be drained. A machine needs a slot of every
// limit that bounds it, and gets all of them or none.
//
//  1. Who has slots keeps them until it is no candidate any more: a slot is given
//     back by the machine being gone, or the node taking pods again, never taken
//     away. Who has begun gets its slots also where they were lost. Slots of a
//     limit that is gone do not count.
//  2. The others take turns by their deletion timestamps, then by name.
//  3. For the first in turn of those that wait for a full limit, a slot of each
//     other limit that it needs is kept free. So nobody waits for ever while
//     younger machines come, and those behind it hold up nobody else.
//
// The error is of type fairlead.FieldErrors; nothing is decided then.
func Admit(slots []Slot, candidates []Candidate, limits []Limit, now time.Time) (*Admission, error) {
	if err := checkAdmission(candidates, limits); err != nil {
		return nil, err
	}
	slots = slices.DeleteFunc(slices.Clone(slots), func(s Slot) bool {
		return !slices.ContainsFunc(limits, func(l Limit) bool { return l.Name == s.Limit })
	})
	queue := slices.Clone(candidates)
	slices.SortFunc(queue, func(a, b Candidate) int { return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.Name, b.Name)) })
	a := &Admission{}
	for _, c := range queue { // those that hold slots first, so that nobody loses one
		if held := holds(slots, &c); len(held) > 0 || c.Begun {
			for _, l := range limits {
				if l.bounds(&c) {
					a.take(&l, &c, held, now)
				}
			}
			a.Admitted = append(a.Admitted, c.Name)
		}
	}
	q := turn{Admission: a, limits: limits, headed: map[[2]string]bool{}, kept: map[[2]string]int{}}
	for _, c := range queue {
		if !slices.Contains(a.Admitted, c.Name) {
			q.next(&c, now)
		}
	}
	slices.Sort(a.Admitted)
	slices.SortFunc(a.Slots, func(x, y Slot) int {
		return cmp.Or(strings.Compare(x.Limit, y.Limit), strings.Compare(x.Domain, y.Domain), strings.Compare(x.Machine, y.Machine))
	})
	return a, nil
}

// turn goes through the queue of Admit.
type turn struct {
	*Admission
	limits []Limit
	headed map[[2]string]bool // full limits whose first in the queue was met
	kept   map[[2]string]int  // free slots that are kept for those
}

// next admits a machine, or has it wait.
func (q *turn) next(c *Candidate, now time.Time) {
	var full, free []Limit
	for _, l := range q.limits {
		switch {
		case !l.bounds(c):
		case len(q.taken(&l, c))+q.kept[l.key(c)] >= l.Max:
			full = append(full, l)
		default:
			free = append(free, l)
		}
	}
	if len(full) == 0 {
		for _, l := range free {
			q.take(&l, c, nil, now)
		}
		q.Admitted = append(q.Admitted, c.Name)
		return
	}
	first := false
	w := Waiting{Machine: c.Name}
	for _, l := range full {
		first = first || !q.headed[l.key(c)]
		q.headed[l.key(c)] = true
		t := lifecycle.TakenSlot{Limit: l.Name}
		if taken := q.taken(&l, c); len(taken) > 0 {
			t.Holder, t.Since = taken[0].Machine, taken[0].Since
		}
		w.Slots = append(w.Slots, t)
	}
	if first {
		for _, l := range free {
			q.kept[l.key(c)]++
		}
	}
	q.Blocked = append(q.Blocked, q.block(c, &full[0], now))
	q.Waiting = append(q.Waiting, w)
}

// checkAdmission returns what is wrong with the arguments of Admit.
func checkAdmission(candidates []Candidate, limits []Limit) error {
	var errs fairlead.FieldErrors
	add := func(path, problem string) {
		errs = append(errs, &fairlead.FieldError{Path: path, Problem: problem})
	}
	names := map[string]bool{}
	for i, l := range limits {
		switch path := fmt.Sprintf("limits[%d]", i); {
		case l.Name == "":
			add(path+".name", "is empty; give each limit a name")
		case names[l.Name]:
			add(path+".name", fmt.Sprintf("%q is the name of another limit, too", l.Name))
		case l.Max < 0:
			add(path+".max", fmt.Sprintf("%d is negative; 0 stops all", l.Max))
		}
		names[l.Name] = true
	}
	clear(names)
	for i, c := range candidates {
		switch path := fmt.Sprintf("candidates[%d]", i); {
		case c.UID == "":
			add(path+".uid", "is empty; a machine of the same name could be taken for it")
		case names[c.Name]:
			add(path+".name", fmt.Sprintf("%q is the name of another candidate, too", c.Name))
		}
		names[c.Name] = true
	}
	if errs == nil {
		return nil
	}
	return errs
}

// bounds reports whether the limit counts a machine.
func (l *Limit) bounds(c *Candidate) bool { return l.Role == "" || l.Role == c.Role }

// key names what is counted together with a machine.
func (l *Limit) key(c *Candidate) [2]string {
	if l.PerDomain {
		return [2]string{l.Name, c.Domain}
	}
	return [2]string{l.Name}
}

// holds returns the slots of a machine.
func holds(slots []Slot, c *Candidate) []Slot {
	var held []Slot
	for _, s := range slots {
		if s.UID == c.UID {
			held = append(held, s)
		}
	}
	return held
}

// taken returns the slots that count together with a machine, those held for
// longest first.
func (a *Admission) taken(l *Limit, c *Candidate) []Slot {
	var taken []Slot
	for _, s := range a.Slots {
		if [2]string{s.Limit, s.Domain} == l.key(c) {
			taken = append(taken, s)
		}
	}
	slices.SortFunc(taken, func(x, y Slot) int { return cmp.Or(x.Since.Compare(y.Since), strings.Compare(x.Machine, y.Machine)) })
	return taken
}

// take gives a machine a slot, which it may have held already.
func (a *Admission) take(l *Limit, c *Candidate, held []Slot, now time.Time) {
	s := Slot{Limit: l.Name, Domain: l.key(c)[1], Machine: c.Name, UID: c.UID, Since: now}
	for _, h := range held {
		if h.Since.Before(s.Since) {
			s.Since = h.Since
		}
	}
	a.Slots = append(a.Slots, s)
}

// block says what holds a machine up.
func (a *Admission) block(c *Candidate, l *Limit, now time.Time) fairlead.Block {
	what := "limit " + l.Name
	if l.PerDomain {
		what += " of domain " + c.Domain
	}
	b := fairlead.Block{Subject: "machine " + c.Name, Reason: lifecycle.ReasonSlotTaken, Unblock: "a machine that holds a slot is gone"}
	taken := a.taken(l, c)
	switch {
	case l.Max == 0:
		b.Message, b.Unblock = what+" lets no machine be drained", "raise its max"
	case len(taken) < l.Max:
		b.Message = what + " has a slot for a machine that waits for longer"
	default:
		var holders []string
		for _, s := range taken {
			holders = append(holders, fmt.Sprintf("%s for %v", s.Machine, now.Sub(s.Since).Round(time.Second)))
		}
		b.Message = fmt.Sprintf("%s lets %d be drained at a time: %s", what, l.Max, words.First(holders, listed))
		b.Owner, b.Since = "machine "+taken[0].Machine, taken[0].Since
	}
	return b
}
