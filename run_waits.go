package fairlead

import "slices"

// Waits are the differences between the Blocks of two passes over an object, for
// [Trace]. Blocks are of the same wait if subject and reason are equal. Each list is
// in the order of the decision; it must not be changed.
type Waits struct {
	Begun   []Block // waits that the pass before did not have
	Changed []Block // waits whose message, owner, start or remedy has changed, as they are now
	Ended   []Block // waits that are over, as they were
}

// compare returns what has changed between two lists of Blocks.
func compare(old, now []Block) (w Waits) {
	same := func(b Block) func(Block) bool {
		return func(o Block) bool { return o.Subject == b.Subject && o.Reason == b.Reason }
	}
	for _, b := range now {
		switch i := slices.IndexFunc(old, same(b)); {
		case i < 0:
			w.Begun = append(w.Begun, b)
		case old[i] != b:
			w.Changed = append(w.Changed, b)
		}
	}
	for _, b := range old {
		if !slices.ContainsFunc(now, same(b)) {
			w.Ended = append(w.Ended, b)
		}
	}
	return w
}

// traceWaits reports how the waits of an object have changed. Those of the last
// pass are kept only if somebody wants to know.
func (r *Runner[S, W, A]) traceWaits(name string, now []Block) {
	f := r.options.Trace.Waits
	if f == nil {
		return
	}
	r.mu.Lock()
	w := compare(r.waits[name], now)
	if len(now) == 0 {
		delete(r.waits, name)
	} else {
		r.waits[name] = now
	}
	r.mu.Unlock()
	if w.Begun != nil || w.Changed != nil || w.Ended != nil {
		f(name, w)
	}
}
