package edit

import (
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
)

// chain holds the entries of a channel as validation sees them: a chain of
// replaces from the head, and entries that others skip.
type chain struct {
	ch      *catalog.Channel
	entries map[string]*catalog.Entry
	order   []string // names of entries as they are written
	chain   []string // entries on the chain from the head, head first
}

func newChain(ch *catalog.Channel) *chain {
	l := &chain{ch: ch, entries: map[string]*catalog.Entry{}}
	for i := range ch.Entries() {
		e := &ch.Entries()[i]
		if l.entries[e.Name] == nil {
			l.entries[e.Name] = e
			l.order = append(l.order, e.Name)
		}
	}
	if heads := catalog.Heads(l.part(l.all())); len(heads) > 0 {
		l.chain, _ = l.chainOf(l.all(), heads[0])
	}
	return l
}

func (l *chain) all() map[string]bool {
	all := map[string]bool{}
	for name := range l.entries {
		all[name] = true
	}
	return all
}

// close returns the wanted entries with those that must stay with them: on
// the chain, all between the lowest wanted one and the highest, or the head
// if that is wanted; and for each skipped entry a higher one that skips it.
func (l *chain) close(wanted map[string]bool) map[string]bool {
	kept := map[string]bool{}
	first, last := -1, -1
	var keep func(name string)
	keep = func(name string) {
		if kept[name] {
			return
		}
		kept[name] = true
		if slices.Contains(l.chain, name) || !wanted[l.top()] {
			return
		}
		for _, other := range l.order {
			if slices.Contains(l.entries[other].Skips, name) && other != name {
				keep(other)
				return
			}
		}
	}
	for _, name := range l.order {
		if wanted[name] {
			keep(name)
		}
	}
	for i, name := range l.chain {
		if kept[name] {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	for i := first; i >= 0 && i <= last; i++ {
		kept[l.chain[i]] = true
	}
	return kept
}

// top returns the head of the channel.
func (l *chain) top() string {
	if len(l.chain) == 0 {
		return ""
	}
	return l.chain[0]
}

// settle removes entries from kept until it is a valid channel, and returns
// what it removed and why. Each round removes at least one entry.
func (l *chain) settle(kept map[string]bool) map[string]string {
	removed := map[string]string{}
	remove := func(name, why string) {
		delete(kept, name)
		removed[name] = why
	}
	for len(kept) > 0 {
		heads := catalog.Heads(l.part(kept))
		if len(heads) == 0 {
			for _, name := range l.order {
				if kept[name] {
					remove(name, "updates between what is left form a cycle")
				}
			}
			break
		}
		head := slices.MaxFunc(heads, l.compare)
		for _, other := range heads {
			if other != head {
				remove(other, "without the entries left out, no update leads from it to the head "+head)
			}
		}
		if len(heads) > 1 {
			continue
		}
		chain, circle := l.chainOf(kept, head)
		if circle {
			remove(head, "without the entries left out, its chain of replaces forms a cycle")
			continue
		}
		skipped := catalog.Skipped(l.part(kept))
		stranded := false
		for _, name := range l.order {
			if kept[name] && !skipped[name] && !slices.Contains(chain, name) {
				stranded = true
				remove(name, "without the entries left out, no chain of updates includes it")
			}
		}
		if !stranded {
			break
		}
	}
	return removed
}

func (l *chain) compare(a, b string) int {
	return semverx.Tolerant(l.ch.Package().Version(a)).Compare(semverx.Tolerant(l.ch.Package().Version(b)))
}

// part returns the entries in set, in their order.
func (l *chain) part(set map[string]bool) []catalog.Entry {
	var list []catalog.Entry
	for _, name := range l.order {
		if set[name] {
			list = append(list, *l.entries[name])
		}
	}
	return list
}

// chainOf returns the entries in set on the chain of replaces from head, and
// whether it is a cycle.
func (l *chain) chainOf(set map[string]bool, head string) (chain []string, circle bool) {
	names, round := catalog.Chain(l.part(set), head)
	for _, name := range names {
		if set[name] {
			chain = append(chain, name)
		}
	}
	return chain, round != nil
}

// head returns the highest of the heads in set.
func (l *chain) head(set map[string]bool) (string, semverx.Version) {
	heads := catalog.Heads(l.part(set))
	if len(heads) == 0 {
		return "", semverx.Version{}
	}
	head := slices.MaxFunc(heads, l.compare)
	return head, semverx.Tolerant(l.ch.Package().Version(head))
}
