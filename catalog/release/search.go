package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/internal/look"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Bounds of a search. They count work, not time, so that the result is the same everywhere.
const (
	maxWork  = 500_000 // names in entries that trials read
	manySkip = 64      // so many names to skip are written as a range
)

// search looks for the edits of a channel that help its stranded users.
type search struct {
	base     *diff.Base
	was, ch  *catalog.Channel
	stranded []string        // bundles that users have
	v0       map[string]bool // those of them that are stranded by the rules of v0
	work     int             // done so far
}

// best returns the edits, one for each entry: entries get back what they lost, or the head
// skips what the users have, whichever leaves fewer of them stranded, and then whichever
// changes less. It returns none if neither helps.
func (s *search) best(ctx context.Context) ([]Fix, error) {
	back, most, err := s.smallest(ctx, s.lost())
	if err != nil {
		return nil, err
	}
	skips, left, err := s.smallest(ctx, s.skipped())
	if err != nil {
		return nil, err
	}
	if len(skips) > manySkip {
		if skips, left, err = s.ranged(ctx, skips, left); err != nil {
			return nil, err
		}
	}
	right, some, err := s.corrected(ctx)
	if err != nil {
		return nil, err
	}
	if right != nil && some <= left && (back == nil || some < most) {
		return right, nil
	}
	best := back
	if back == nil || skips != nil && (left < most || left == most && len(skips) < len(back)) {
		best = skips
	}
	var fixes []Fix // one for each entry
	for _, f := range best {
		if at := slices.IndexFunc(fixes, func(x Fix) bool { return x.Entry == f.Entry }); at >= 0 {
			fixes[at].add(f)
		} else {
			fixes = append(fixes, f)
		}
	}
	return fixes, nil
}

// corrected returns the change of what an entry replaces that validation advises where a
// channel has several heads, and how many users are stranded then; nil if it advises none.
func (s *search) corrected(ctx context.Context) ([]Fix, int, error) {
	fault := s.ch.HeadFault(catalog.AsWritten)
	if fault == nil || fault.Field != "replaces" || cmp.Or(fault.Meant, fault.Other) == "" {
		return nil, 0, nil
	}
	was := s.ch.Entries()[find(s.ch, fault.Entry)].Replaces
	fix := Fix{Package: s.ch.Package().Name(), Channel: s.ch.Name(), Entry: fault.Entry, Replaces: cmp.Or(fault.Meant, fault.Other), Instead: was, fresh: was == ""}
	left, err := s.left(ctx, []Fix{fix})
	if err != nil || left >= len(s.stranded) {
		return nil, 0, err
	}
	return []Fix{fix}, left, nil
}

// lost returns what each entry of the channel has lost since the old catalog.
func (s *search) lost() (list []Fix) {
	if s.was == nil {
		return nil
	}
	old := map[string]catalog.Entry{}
	for _, e := range s.was.Entries() {
		if _, ok := old[e.Name]; !ok {
			old[e.Name] = e
		}
	}
	for _, e := range s.ch.Entries() {
		was, ok := old[e.Name]
		if !ok {
			continue
		}
		delete(old, e.Name) // of entries of one name the first
		add := func(f Fix) {
			f.Package, f.Channel, f.Entry = s.ch.Package().Name(), s.ch.Name(), e.Name
			list = append(list, f)
		}
		if e.Replaces != was.Replaces && was.Replaces != "" && !s.known(e.Replaces) && (e.Replaces == "" || find(s.ch, was.Replaces) >= 0) {
			add(Fix{Replaces: was.Replaces, Instead: e.Replaces})
		}
		if e.SkipRange == "" && was.SkipRange != "" {
			add(Fix{SkipRange: was.SkipRange})
		}
		has := set(e.Skips)
		for _, name := range was.Skips {
			if !has[name] {
				add(Fix{Skips: []string{name}})
			}
		}
	}
	return list
}

// known reports whether a bundle of the package or an entry of the channel has a name.
func (s *search) known(name string) bool {
	_, ok := s.ch.Package().Bundle(name)
	return ok || find(s.ch, name) >= 0
}

func set(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// skipped returns the changes by which the head of the channel skips each of the names; of
// several heads the newest one skips also the others, because a channel must have one.
func (s *search) skipped() (list []Fix) {
	head, others, ok := s.head()
	if !ok {
		return nil
	}
	done := make(map[string]bool, len(s.stranded))
	for _, name := range slices.Concat(others, s.stranded) {
		if done[name] {
			continue
		}
		done[name] = true
		fix := Fix{Package: s.ch.Package().Name(), Channel: s.ch.Name(), Entry: head, Skips: []string{name}}
		if s.version(name).Compare(s.version(head)) > 0 {
			fix.Back = fix.Skips
		}
		list = append(list, fix)
	}
	return list
}

// head returns the head of the channel, and of several the newest one and the others.
func (s *search) head() (head string, others []string, ok bool) {
	heads := s.ch.Heads()
	if len(heads) == 0 {
		return "", nil, false
	}
	head = slices.MaxFunc(heads, func(a, b string) int { return s.version(a).Compare(s.version(b)) })
	return head, slices.DeleteFunc(slices.Clone(heads), func(name string) bool { return name == head }), true
}

// version is that of a bundle in the new catalog or, where it is gone, in the old one.
func (s *search) version(name string) semverx.Version {
	v := semverx.Tolerant(s.ch.Package().Version(name))
	if v.IsZero() && s.was != nil {
		v = semverx.Tolerant(s.was.Package().Version(name))
	}
	return v
}

// ranged returns a skipRange of the head instead of many skips, if that helps as many users
// and the head has no skipRange yet.
func (s *search) ranged(ctx context.Context, skips []Fix, left int) ([]Fix, int, error) {
	head, _, _ := s.head()
	to := semverx.Tolerant(s.ch.Package().Version(head))
	var least semverx.Version
	for _, name := range s.stranded {
		v := semverx.Tolerant(s.was.Package().Version(name))
		if !v.IsZero() && v.Compare(to) < 0 && (least.IsZero() || v.Compare(least) < 0) {
			least = v
		}
	}
	if least.IsZero() || s.ch.Entries()[find(s.ch, head)].SkipRange != "" {
		return skips, left, nil
	}
	fix := Fix{Package: s.ch.Package().Name(), Channel: s.ch.Name(), Entry: head, SkipRange: fmt.Sprintf(">=%s <%s", least, to)}
	n, err := s.left(ctx, []Fix{fix})
	if err != nil || n > left {
		return skips, left, err
	}
	return []Fix{fix}, n, nil
}

// smallest returns the changes that are needed to help users, and how many are still
// stranded; nil if all changes together help nobody. Of very many changes in large
// channels some may not be needed: trials are bounded by maxWork.
func (s *search) smallest(ctx context.Context, changes []Fix) ([]Fix, int, error) {
	if len(changes) == 0 {
		return nil, len(s.stranded), nil
	}
	fewest, err := s.left(ctx, changes)
	if err != nil || fewest >= len(s.stranded) {
		return nil, len(s.stranded), err
	}
	needed, perhaps, err := s.needed(ctx, changes)
	if err != nil {
		return nil, 0, err
	}
	for size := len(perhaps); size > 0; size /= 2 {
		for i := 0; i < len(perhaps); {
			if s.work > maxWork {
				return slices.Concat(needed, perhaps), fewest, nil
			}
			fewer := slices.Delete(slices.Clone(perhaps), i, min(i+size, len(perhaps)))
			left, err := s.left(ctx, slices.Concat(needed, fewer))
			if err != nil {
				return nil, 0, err
			}
			if left <= fewest {
				perhaps = fewer
			} else {
				i += size
			}
		}
	}
	return slices.Concat(needed, perhaps), fewest, nil
}

// needed returns the changes that help a user whom nothing else helps, and the others: those
// by which an entry skips what a user has, and no other entry of the changed channel accepts,
// or by the rules of v0 only such as are skipped for the same reason. The error is that of ctx.
func (s *search) needed(ctx context.Context, changes []Fix) (needed, others []Fix, err error) {
	users := set(s.stranded)
	var installed []catalog.Installed
	for _, name := range s.stranded {
		installed = append(installed, catalog.Installed{Name: name, Version: s.was.Package().Version(name)})
	}
	ch := s.with(changes)
	graphs := []*catalog.Graph{ch.GraphWith(catalog.AsWritten, installed...), ch.GraphWith(catalog.OLMv1, installed...)}
	twice := map[string]int{} // how many changes skip a name
	for _, f := range changes {
		for _, name := range f.Skips {
			twice[name]++
		}
	}
	byName := map[string]Fix{} // those that can be told to be needed
	for _, f := range changes {
		if f.Replaces == "" && f.SkipRange == "" && len(f.Skips) == 1 && users[f.Skips[0]] && twice[f.Skips[0]] == 1 {
			byName[f.Skips[0]] = f
		}
	}
	work := look.At(ctx)
	only := func(f Fix) bool {
		another := func(e catalog.Edge) bool {
			err = cmp.Or(err, work.After(1))
			return e.To != f.Entry || e.Kind != catalog.EdgeSkips
		}
		return !slices.ContainsFunc(graphs, func(g *catalog.Graph) bool { return g.Offers(f.Skips[0], another) })
	}
	sure := map[string]bool{}
	var news []string
	_, heads, _ := s.head() // other ones, of which a channel must have none
	for _, f := range changes {
		name := skipOf(f)
		if _, ok := byName[name]; ok && only(f) || name != "" && twice[name] == 1 && slices.Contains(heads, name) {
			sure[name] = true
			news = append(news, name)
		}
	}
	if err == nil {
		err = s.follow(work, graphs[0], byName, sure, news)
	}
	for _, f := range changes {
		if sure[skipOf(f)] {
			needed = append(needed, f)
		} else {
			others = append(others, f)
		}
	}
	return needed, others, err
}

// skipOf is the only name that a fix skips, or "".
func skipOf(f Fix) string {
	if len(f.Skips) != 1 {
		return ""
	}
	return f.Skips[0]
}

// follow adds to the names that are skipped for sure those from which v0 has no other way: it
// does not install what is skipped, so that a way through it does not count. The error is that
// of the end of the work.
func (s *search) follow(work *look.Look, g *catalog.Graph, byName map[string]Fix, sure map[string]bool, news []string) (err error) {
	for len(news) > 0 {
		name := news[len(news)-1]
		news = news[:len(news)-1]
		for edge := range g.Predecessors(name) {
			f, ok := byName[edge.From]
			if !ok || sure[edge.From] || !s.v0[edge.From] {
				continue
			}
			another := func(way catalog.Edge) bool {
				err = cmp.Or(err, work.After(1))
				return !sure[way.To] && (way.To != f.Entry || way.Kind != catalog.EdgeSkips)
			}
			if !g.Offers(edge.From, another) {
				sure[edge.From] = true
				news = append(news, edge.From)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// left counts the users who are stranded after changes.
func (s *search) left(ctx context.Context, changes []Fix) (int, error) {
	for _, e := range s.ch.Entries() {
		s.work += 1 + len(e.Skips)
	}
	lost, err := s.base.Lost(ctx, s.was, s.with(changes), nil)
	return len(lost), err
}

// with returns the channel with changes.
func (s *search) with(changes []Fix) *catalog.Channel {
	entries := slices.Clone(s.ch.Entries())
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		if _, ok := at[e.Name]; !ok {
			at[e.Name] = i
		}
	}
	byEntry := map[string]*Fix{}
	for _, f := range changes {
		if all := byEntry[f.Entry]; all == nil {
			byEntry[f.Entry] = &f
		} else {
			all.add(f)
		}
	}
	for name, f := range byEntry {
		entries[at[name]] = f.apply(entries[at[name]])
	}
	return s.ch.WithEntries(entries)
}
