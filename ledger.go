package fairlead

import (
	"slices"
	"time"
)

// Pending is what a State keeps about what is under way. Engines embed it in their
// State; [Ledger] reads and writes it.
type Pending struct {
	Waits   []Block `json:"waits,omitempty"`   // since when each Block has been reported, without words, in the order of the decision
	Retries []Retry `json:"retries,omitempty"` // actions whose effect is not yet visible, in the order of the decision
}

// IsZero reports whether nothing is under way.
func (p Pending) IsZero() bool { return len(p.Waits) == 0 && len(p.Retries) == 0 }

// Retry is an action that was decided on and whose effect is not yet visible.
type Retry struct {
	Key      Key       `json:"key"`      // the action's
	Attempts int       `json:"attempts"` // how often it was decided on
	Since    time.Time `json:"since"`    // when it was first decided on
	Last     time.Time `json:"last"`     // when it was last decided on
}

// Ledger tracks the attempts and waits of one Step: which actions are due
// again, how they failed, what the engine is waiting for and since when, and
// when to look again. An engine embeds one in the struct that makes its
// decision:
//
//	l := fairlead.NewLedger(state.Pending, world.Outcomes, now, policy.backoff())
//	if l.Due(evict.Key()) {
//		actions = append(actions, evict)
//	}
//	l.Block(fairlead.Block{Subject: "pod a/b", Reason: "Evicting", ...})
//	...
//	state.Pending = l.Pending()
//	return Decision{State: state, Actions: actions, Blocked: l.Blocked(), Wake: l.Wake()}
//
// What this Step asks for is kept for the next; the rest is forgotten, such as an
// action whose effect was observed or a wait that is over. Times later than now are
// handled as in [Past]. If nothing has changed since the previous Step, and all Blocks
// are data without words, it allocates nothing. Goroutines must not share it.
type Ledger struct {
	now      time.Time
	backoff  Backoff
	outcomes []Outcome
	retries  Unchanged[Retry]
	waits    Unchanged[Block]
	blocked  []Block // if apart
	apart    bool    // the Blocks differ from waits
	last     int     // the index in waits.Old after the one that was found last
	wake     time.Time
}

// NewLedger returns the ledger of a Step at now, given what the previous one left
// pending and the outcomes of its actions.
func NewLedger(pending Pending, outcomes []Outcome, now time.Time, backoff Backoff) Ledger {
	return Ledger{
		now: now, backoff: backoff, outcomes: outcomes,
		retries: Unchanged[Retry]{Old: pending.Retries}, waits: Unchanged[Block]{Old: pending.Waits},
	}
}

// Now returns the instant of the Step.
func (l *Ledger) Now() time.Time { return l.now }

// Due reports whether an action is to be done now. It is, unless it was decided on a
// short time ago and its effect is still awaited. If it is due, that counts as an
// attempt. In both cases the action is remembered, and a Step is scheduled for the
// time when it is due next. A second call in the same Step reports false.
func (l *Ledger) Due(key Key) bool { return l.DueWith(key, l.backoff) }

// DueWith is Due with another backoff.
func (l *Ledger) DueWith(key Key, b Backoff) bool {
	if find(l.retries.All(), key, 0) != nil {
		return false
	}
	old := l.known(key)
	if old != nil {
		if next := l.next(old, b); next.After(l.now) {
			l.remember(old)
			l.At(next)
			return false
		}
	}
	r := Retry{Key: key, Attempts: 1, Since: l.now, Last: l.now}
	if old != nil {
		r.Attempts, r.Since = old.Attempts+1, Past(old.Since, l.now)
	}
	l.retries.Add(r)
	l.At(l.next(&r, b))
	return true
}

// Keep remembers an action that is not repeated now, although it is unknown whether it
// took effect. It does nothing for an action that was never decided on.
func (l *Ledger) Keep(key Key) {
	if old := l.known(key); old != nil && old.Attempts > 0 && find(l.retries.All(), key, 0) == nil {
		l.remember(old)
	}
}

// KeepAll is Keep for every action, for a Step that changes nothing.
func (l *Ledger) KeepAll() {
	for i := range l.retries.Old {
		l.Keep(l.retries.Old[i].Key)
	}
}

// Awaited reports whether an action that an earlier Step decided on may still take
// effect: its last attempt is not known to have failed, and it is not due again.
func (l *Ledger) Awaited(key Key, b Backoff) bool {
	old := l.known(key)
	if old == nil {
		return false
	}
	if o := l.Outcome(key); o != nil && o.Failed && !o.At.Before(Past(old.Last, l.now)) {
		return false
	}
	return l.next(old, b).After(l.now)
}

// remember adds what the previous Step remembered, with its time corrected.
func (l *Ledger) remember(old *Retry) {
	if !old.Since.After(l.now) {
		l.retries.keep(old)
		return
	}
	r := *old
	r.Since = l.now
	l.retries.Add(r)
}

// known returns the retry of a key as the previous Step left it, or nil. It must not
// be changed.
func (l *Ledger) known(key Key) *Retry { return find(l.retries.Old, key, l.retries.n) }

// find returns the retry of a key, or nil. The search begins at the index begin.
func find(list []Retry, key Key, begin int) *Retry {
	begin = min(begin, len(list))
	for i := begin; i < len(list); i++ {
		if list[i].Key == key {
			return &list[i]
		}
	}
	for i := range begin {
		if list[i].Key == key {
			return &list[i]
		}
	}
	return nil
}

// DueAt returns when an action is due again of which an engine keeps the attempts
// itself, because each has a key of its own: that of the last one is in r.
func (l *Ledger) DueAt(r Retry, b Backoff) time.Time { return l.next(&r, b) }

// next returns when an action is due again. One that was decided on in the future,
// because the clock was set back since, is due now.
func (l *Ledger) next(r *Retry, b Backoff) time.Time {
	if r.Last.After(l.now) {
		return l.now
	}
	next := r.Last.Add(b.For(r.Key.ID, r.Attempts))
	if o := l.Outcome(r.Key); o != nil && o.RetryAfter > 0 && !o.At.After(l.now) {
		if asked := o.At.Add(min(o.RetryAfter, MaxRetryAfter)); asked.After(next) {
			return asked
		}
	}
	return next
}

// Attempts returns how often an action was decided on, including this Step,
// since it last took effect.
func (l *Ledger) Attempts(key Key) int {
	r := find(l.retries.All(), key, 0)
	if r == nil {
		r = l.known(key)
	}
	if r == nil {
		return 0
	}
	return r.Attempts
}

// Outcome returns the result of the last attempt at an action, or nil if it is
// unknown. It points into the world.
func (l *Ledger) Outcome(key Key) *Outcome {
	for i := len(l.outcomes) - 1; i >= 0; i-- { // those that a Step asks for are mostly the latest
		if l.outcomes[i].Key == key {
			return &l.outcomes[i]
		}
	}
	return nil
}

// Because adds to a message why the last attempt at an action failed, if it did.
func (l *Ledger) Because(message string, key Key) string {
	if o := l.Outcome(key); o != nil && o.Failed {
		return message + ": the last attempt failed: " + o.Message
	}
	return message
}

// Since returns when the wait for something began, and remembers it: now, if the
// previous Step did not wait for it. It is not reported.
func (l *Ledger) Since(subject, reason string) time.Time {
	b := Block{Subject: subject, Reason: reason}
	l.split()
	b.Since = l.began(&b)
	l.waits.Add(b)
	return b.Since
}

// began returns when a wait began: now, if the previous Step did not have it.
func (l *Ledger) began(b *Block) time.Time {
	old := l.waits.Old
	for i := range old {
		at := l.last + i // mostly the one after the last
		if at >= len(old) {
			at -= len(old)
		}
		if o := &old[at]; b.same(o) {
			l.last = (at + 1) % len(old)
			return Past(o.Since, l.now)
		}
	}
	return l.now
}

// Block says why something does not happen, and returns since when. A zero Since, or
// one in the future, is replaced by the time when that wait was first reported: that
// with the same subject, reason, name, point and, if it has no words, owner.
func (l *Ledger) Block(b Block) time.Time {
	began := l.began(&b)
	if b.worded() {
		l.split()
		l.waits.Add(Block{Subject: b.Subject, Reason: b.Reason, Name: b.Name, Point: b.Point, Since: began})
	}
	if b.Since.IsZero() || b.Since.After(l.now) {
		b.Since = began
	}
	if !b.worded() {
		l.waits.Add(b)
	}
	if l.apart {
		l.blocked = append(l.blocked, b)
	}
	return b.Since
}

// split keeps the Blocks apart from the waits from now on.
func (l *Ledger) split() {
	if !l.apart {
		l.apart, l.blocked = true, slices.Clone(l.waits.All())
	}
}

// Text returns b as a string: if it can, one that the wait that comes next, as the
// previous Step left it, already has, so that nothing is allocated.
func (l *Ledger) Text(b []byte) string {
	old := l.waits.Old
	for i := l.last; i < min(l.last+4, len(old)); i++ { // some waits may have ended
		o := &old[i]
		for _, known := range [...]string{o.Subject, o.Name, o.Detail, o.Owner} {
			if known == string(b) {
				return known
			}
		}
	}
	return string(b)
}

// At requests the next Step at t, or earlier. A zero t requests nothing.
func (l *Ledger) At(t time.Time) {
	if !t.IsZero() && (l.wake.IsZero() || t.Before(l.wake)) {
		l.wake = t
	}
}

// Pending returns what the State keeps. It shares its lists with those that the ledger
// was made from if they are equal.
func (l *Ledger) Pending() Pending {
	return Pending{Waits: l.waits.All(), Retries: l.retries.All()}
}

// Blocked returns the blocks, in the order in which they were added. The list must
// not be changed.
func (l *Ledger) Blocked() []Block {
	if !l.apart {
		return l.waits.All()
	}
	return slices.Clip(l.blocked)
}

// Wake returns the earliest requested time, zero for none.
func (l *Ledger) Wake() time.Time { return l.wake }

// Unchanged builds a list again and compares it with the old one: as long as the added
// elements equal those of the old list, it makes no list of its own. So a Step in
// which nothing has changed allocates nothing. Old is not changed; the zero value is
// an empty list.
type Unchanged[T comparable] struct {
	Old  []T // the list as it was
	list []T // the new one, once it differs
	n    int // how many were added
}

// Add appends v.
func (u *Unchanged[T]) Add(v T) {
	if u.list == nil {
		if u.n < len(u.Old) && u.Old[u.n] == v {
			u.n++
			return
		}
		u.list = append(make([]T, 0, u.n+4), u.Old[:u.n]...)
	}
	u.list = append(u.list, v)
	u.n++
}

// keep appends an element of Old. If it is at the same index as before, comparing its
// address is enough.
func (u *Unchanged[T]) keep(v *T) {
	if u.list == nil && u.n < len(u.Old) && v == &u.Old[u.n] {
		u.n++
		return
	}
	u.Add(*v)
}

// All returns what was added, in order; nil if nothing was.
func (u *Unchanged[T]) All() []T {
	switch {
	case u.n == 0:
		return nil
	case u.list == nil:
		return u.Old[:u.n:u.n]
	}
	return u.list
}
