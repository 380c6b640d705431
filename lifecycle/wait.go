package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Wait is a reason why a machine does not go on, as plain data, so that telling
// it costs nothing until somebody asks: [Wait.Block] puts it into words.
type Wait struct {
	Reason string    `json:"reason"`           // a stable word, see the Reason constants
	Point  Point     `json:"point,omitempty"`  // of the hook, where it is about one
	Name   string    `json:"name,omitempty"`   // of the hook, pod (namespace/name), volume or node that it is about
	Owner  string    `json:"owner,omitempty"`  // who can end it
	Detail string    `json:"detail,omitempty"` // more, for people
	Since  time.Time `json:"since"`            // when it began
}

// same reports whether two waits are about the same thing, so that the later
// has begun when the earlier did.
func (w *Wait) same(o *Wait) bool {
	return w.Reason == o.Reason && w.Point == o.Point && w.Name == o.Name && w.Owner == o.Owner
}

// waitList collects the waits of one Step. As long as they are those of the
// Step before, it makes no list of its own.
type waitList struct {
	old  []Wait // of the Step before
	now  time.Time
	list []Wait // once they differ
	n    int    // how many were added
}

// add adds a wait. Its Since is filled in: when it was first added.
func (l *waitList) add(w Wait) {
	w.Since = l.now
	if l.list == nil && l.n < len(l.old) {
		if o := &l.old[l.n]; o.same(&w) && o.Detail == w.Detail && !o.Since.After(l.now) {
			l.n++
			return
		}
	}
	for i := range l.old {
		if o := &l.old[i]; o.same(&w) && o.Since.Before(l.now) {
			w.Since = o.Since
		}
	}
	if l.list == nil {
		l.list = append(make([]Wait, 0, l.n+4), l.old[:l.n]...)
	}
	l.list = append(l.list, w)
	l.n++
}

// all returns what was added, in order.
func (l *waitList) all() []Wait {
	if l.list == nil {
		return l.old[:l.n:l.n]
	}
	return l.list
}

// Block puts the wait of a machine into words.
func (w Wait) Block(machine string) fairlead.Block {
	b := fairlead.Block{Subject: "machine " + machine, Reason: w.Reason, Owner: w.Owner, Since: w.Since}
	text := phrases[w.Reason]
	b.Message, b.Unblock = text.message(&w), text.unblock
	return b
}
