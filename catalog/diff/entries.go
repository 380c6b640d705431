package diff

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/look"
)

// diffEntries returns the entries and the updates in which two channels differ, each nil if
// there are none. Either channel may be nil. The error is that of ctx.
func diffEntries(ctx context.Context, x, y *catalog.Channel) (names, edges *Lists, err error) {
	old, now, at := entriesOf(x), entriesOf(y), look.At(ctx)
	names = &Lists{}
	var added, removed updates
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, ok := old[name]
		if !ok {
			names.Added = append(names.Added, name)
		}
		if !slices.EqualFunc(was, now[name], sameEntry) {
			a, b := updatesTo(was), updatesTo(now[name])
			added, removed = append(added, b.without(a)...), append(removed, a.without(b)...)
			err = at.After(len(a) + len(b))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, ok := now[name]; ok {
			continue
		}
		names.Removed = append(names.Removed, name)
		gone := updatesTo(old[name])
		removed = append(removed, gone...)
		if err := at.After(len(gone)); err != nil {
			return nil, nil, err
		}
	}
	edges = &Lists{}
	if edges.Added, err = added.words(at); err != nil {
		return nil, nil, err
	}
	if edges.Removed, err = removed.words(at); err != nil {
		return nil, nil, err
	}
	orNil := func(l *Lists) *Lists {
		if len(l.Added)+len(l.Removed) == 0 {
			return nil
		}
		return l
	}
	return orNil(names), orNil(edges), nil
}

// entriesOf returns the entries of a channel by name: several in an invalid one.
func entriesOf(ch *catalog.Channel) map[string][]catalog.Entry {
	entries := map[string][]catalog.Entry{}
	if ch != nil {
		for _, e := range ch.Entries() {
			entries[e.Name] = append(entries[e.Name], e)
		}
	}
	return entries
}

func sameEntry(a, b catalog.Entry) bool {
	return a.Replaces == b.Replaces && a.SkipRange == b.SkipRange && slices.Equal(a.Skips, b.Skips)
}

// updates are updates that entries state.
type updates []update

type update struct{ from, to, field string }

// updatesTo returns the updates that entries of one name state.
func updatesTo(entries []catalog.Entry) updates {
	most := 0
	for _, e := range entries {
		most += 2 + len(e.Skips)
	}
	list := make(updates, 0, most)
	for _, e := range entries {
		if e.Replaces != "" {
			list = append(list, update{e.Replaces, e.Name, "replaces"})
		}
		for _, s := range e.Skips {
			list = append(list, update{s, e.Name, "skips"})
		}
		if e.SkipRange != "" {
			list = append(list, update{e.SkipRange, e.Name, "skipRange"})
		}
	}
	return list
}

// without returns the updates that are not in another list.
func (u updates) without(others updates) (list updates) {
	known := make(map[update]bool, len(others))
	for _, o := range others {
		known[o] = true
	}
	for _, o := range u {
		if !known[o] {
			list = append(list, o)
		}
	}
	return list
}

// words returns the updates in words, sorted, each once. There may be very many between few
// bundles, so those from one bundle are brought together, and are parts of one text.
func (u updates) words(at *look.Look) ([]string, error) {
	if len(u) == 0 {
		return nil, nil
	}
	byFrom := map[string]updates{}
	for _, o := range u {
		byFrom[o.from] = append(byFrom[o.from], o)
	}
	list := make([]string, 0, len(u))
	for _, from := range slices.Sorted(maps.Keys(byFrom)) {
		some := byFrom[from]
		var text strings.Builder
		for _, o := range some {
			for _, part := range []string{o.from, " -> ", o.to, " (", o.field, ")"} {
				text.WriteString(part)
			}
		}
		first, all := len(list), text.String()
		for _, o := range some {
			n := len(o.from) + len(" -> ") + len(o.to) + len(" (") + len(o.field) + len(")")
			list, all = append(list, all[:n]), all[n:]
		}
		slices.Sort(list[first:])
		if err := at.After(len(some)); err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
