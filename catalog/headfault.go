package catalog

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// HeadFault is why a channel has no head or several, so that OLM v0 offers nothing from it.
type HeadFault struct {
	Heads []string // none or several, as they are listed
	// Entry is the entry that likely makes it so, and Field and Index what of it: "replaces",
	// or one of its "skips". Entry is "" if none can be told from the others.
	Entry, Field string
	Index        int    // of the name in skips, from 0
	Meant        string // the entry that is likely meant instead of what Field names, or ""
	Other        string // the other head, if Entry replaces nothing of the channel and should replace this; or ""
	Why          string // names the cause; "" without an Entry
	Hint         string // what would leave one head
}

// String says what is wrong, and why.
func (f *HeadFault) String() string {
	text := fmt.Sprintf("it has %d heads, entries that no other replaces or skips: %s", len(f.Heads), words.First(f.Heads, most))
	if len(f.Heads) == 0 {
		text = "it has no head: every entry is replaced or skipped"
	}
	if f.Why != "" {
		text += "; " + f.Why
	}
	return text
}

// closes says the same of the channel as a reason.
func (f *HeadFault) closes() string {
	why := "the channel has no head"
	if len(f.Heads) > 0 {
		why = fmt.Sprintf("the channel has %d heads (%s), but must have one", len(f.Heads), words.First(f.Heads, 4))
	}
	if f.Why != "" {
		why += ": " + f.Why
	}
	return why
}

// HeadFault returns why the channel has not exactly one head by a set of rules: by those of
// OLM, entries without a bundle do not count. It returns nil if there is one, or no entry.
func (ch *Channel) HeadFault(rules Rules) *HeadFault {
	h := &headSearch{ch: ch, at: map[string]int{}}
	for _, e := range ch.Entries() {
		if _, twice := h.at[e.Name]; !twice && (rules == AsWritten || ch.pkg.edition(e.Name) != nil) {
			h.at[e.Name] = len(h.entries)
			h.entries = append(h.entries, e)
		}
	}
	heads := Heads(h.entries)
	if len(heads) == 1 || len(h.entries) == 0 {
		return nil
	}
	h.fault = &HeadFault{Heads: heads}
	switch {
	case len(heads) == 0:
		h.hidden()
	case !h.misnamed():
		h.forked()
	}
	return h.fault
}

// headSearch looks for what makes a channel have no head, or several.
type headSearch struct {
	ch      *Channel
	entries []Entry // that count, each name once
	at      map[string]int
	fault   *HeadFault
}

// version returns the version of an entry, zero if it is not known.
func (h *headSearch) version(name string) semverx.Version {
	if e := h.ch.pkg.edition(name); e != nil {
		return e.version
	}
	return semverx.Version{}
}

// newest returns the entry with the highest version, "" if one of them has none.
func (h *headSearch) newest(among []string) string {
	best := ""
	for _, name := range among {
		v := h.version(name)
		if v.IsZero() {
			return ""
		}
		if best == "" || v.Compare(h.version(best)) > 0 {
			best = name
		}
	}
	return best
}

// blame names an entry, and what of it is the cause.
func (h *headSearch) blame(entry, field string, index int, why string) {
	h.fault.Entry, h.fault.Field, h.fault.Index, h.fault.Why = entry, field, index, why
}

// hidden names what hides the entry that would be the head of a channel without one: the
// newest.
func (h *headSearch) hidden() {
	h.fault.Hint = "make the newest entry one that nothing replaces or skips"
	var all []string
	for i := range h.entries {
		all = append(all, h.entries[i].Name)
	}
	head := h.newest(all)
	if head == "" {
		return
	}
	would := head + ", the newest, "
	for i := range h.entries {
		e := &h.entries[i]
		if k := slices.Index(e.Skips, head); k >= 0 {
			if e.Name == head {
				h.blame(head, "skips", k, would+"skips itself")
				h.fault.Hint = "remove " + head + " from its own skips"
			} else {
				h.blame(e.Name, "skips", k, would+"is skipped by "+e.Name)
				h.fault.Hint = fmt.Sprintf("remove %s from the skips of %s", head, e.Name)
			}
			return
		}
	}
	for i := range h.entries {
		switch e := &h.entries[i]; {
		case e.Replaces != head:
		case e.Name == head:
			h.blame(head, "replaces", 0, would+"replaces itself")
			h.fault.Hint = "make " + head + " replace the version before it"
			return
		default:
			h.blame(e.Name, "replaces", 0, would+"is replaced by "+e.Name)
			h.fault.Hint = "make " + e.Name + " replace the version before it, or nothing if it is the oldest"
			return
		}
	}
}

// misnamed looks for an entry that replaces or skips what is no bundle, where an entry of the
// channel is meant.
func (h *headSearch) misnamed() bool {
	for i := range h.entries {
		e := &h.entries[i]
		named := append([]string{e.Replaces}, e.Skips...)
		for k, name := range named {
			meant := h.ch.meant(name)
			if _, ok := h.at[meant]; !ok || meant == e.Name {
				continue
			}
			verb, field := "replaces", "replaces"
			if k > 0 {
				verb, field = "skips", "skips"
			}
			h.blame(e.Name, field, max(0, k-1), fmt.Sprintf("%s %s %s", e.Name, verb, h.ch.absent(name)))
			h.fault.Meant, h.fault.Hint = meant, "write "+meant
			return true
		}
	}
	return false
}

// forked looks, on the chain of the newest head, for the entry that should lead on to another
// head: the last one with a higher version.
func (h *headSearch) forked() {
	heads := h.fault.Heads
	best := h.newest(heads)
	if best == "" {
		h.fault.Hint = "make the newest of them replace or skip the others"
		return
	}
	others := slices.DeleteFunc(slices.Clone(heads), func(name string) bool { return name == best })
	h.fault.Hint = fmt.Sprintf("add %s to the skips of %s", others[0], best)
	if len(others) > 1 {
		h.fault.Hint = fmt.Sprintf("add the others to the skips of %s, or make the chain of replaces below it include them", best)
	}
	for _, w := range others {
		e := h.above(best, w)
		if e == nil {
			continue
		}
		_, listed := h.at[e.Replaces]
		var why string
		switch {
		case e.Replaces == "":
			why = e.Name + " replaces nothing"
			if e.SkipRange != "" {
				why += ", and its skipRange does not make it the only head"
			}
		case !listed:
			why = e.Name + " replaces " + h.ch.absent(e.Replaces)
		default:
			if by := h.above(w, e.Replaces); by != nil && by.Replaces == e.Replaces {
				why = fmt.Sprintf("both %s and %s replace %s", by.Name, e.Name, e.Replaces)
			} else {
				why = fmt.Sprintf("%s replaces %s, which %s does not lead to", e.Name, e.Replaces, w)
				h.blame(e.Name, "replaces", 0, why)
				return
			}
		}
		h.blame(e.Name, "replaces", 0, why)
		if len(others) > 1 {
			return
		}
		h.fault.Hint = fmt.Sprintf("make %s replace %s, or ", e.Name, w) + h.fault.Hint
		switch {
		case listed:
		case len(h.ch.pkg.listing(e.Replaces, h.ch.Name())) > 0:
			h.fault.Hint = fmt.Sprintf("add the entry %s to this channel, ", e.Replaces) + h.fault.Hint
		default:
			h.fault.Other = w
		}
		return
	}
}

// above returns the last entry on the chain of replaces from a head whose version is above
// that of another entry; nil if there is none.
func (h *headSearch) above(head, other string) *Entry {
	var last *Entry
	than := h.version(other)
	for passed, name := map[string]bool{}, head; !passed[name]; {
		i, ok := h.at[name]
		if !ok || h.version(name).Compare(than) <= 0 {
			break
		}
		passed[name] = true
		last = &h.entries[i]
		name = last.Replaces
	}
	return last
}

// meant returns the entry that is meant by a name that no bundle has, or "".
func (ch *Channel) meant(name string) string {
	if _, ok := ch.pkg.Bundle(name); ok || name == "" {
		return ""
	}
	return names.Meant(ch.pkg.Name(), name, func(s string) bool { _, ok := ch.pkg.Bundle(s); return ok })
}

// absent names a bundle that is not in the channel, and says where it is.
func (ch *Channel) absent(name string) string {
	if others := ch.pkg.listing(name, ch.Name()); len(others) > 0 {
		return name + " (not in the channel, but in " + words.First(others, 3) + ")"
	}
	if meant := ch.meant(name); meant != "" {
		return fmt.Sprintf("%s (which is no bundle: did you mean %s?)", name, meant)
	}
	return name + " (not in the channel)"
}
