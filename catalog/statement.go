package catalog

import (
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// statement is what one or more channels say of an entry.
type statement struct {
	Entry
	span *semverx.Range // of the skipRange, if there is one that can be read
	bad  error          // why it cannot
	by   int            // how many entries of the package say so
}

func newStatement(e Entry) *statement {
	s := &statement{Entry: e, by: 1}
	if e.SkipRange != "" {
		s.span, s.bad = semverx.ParseRange(e.SkipRange)
	}
	return s
}

func (s *statement) same(e *Entry) bool {
	return s.Replaces == e.Replaces && s.SkipRange == e.SkipRange && slices.Equal(s.Skips, e.Skips)
}

// statements returns what the channels of the package say of each entry. Many say the
// same, which is kept once.
func (p *Package) statements() map[string][]*statement {
	p.sayOnce.Do(func() {
		p.say = map[string][]*statement{}
		for _, ch := range p.channels {
			for i := range ch.doc.record.entries {
				e := &ch.doc.record.entries[i]
				list := p.say[e.Name]
				if at := slices.IndexFunc(list, func(s *statement) bool { return s.same(e) }); at >= 0 {
					list[at].by++
				} else {
					p.say[e.Name] = append(list, newStatement(*e))
				}
			}
		}
	})
	return p.say
}

// statement returns what an entry of the channel says. The graphs of a package share it.
func (ch *Channel) statement(e *Entry) *statement {
	for _, s := range ch.pkg.statements()[e.Name] {
		if s.same(e) {
			return s
		}
	}
	return newStatement(*e)
}

// others calls visit with what the other channels of the package say of the entries of this
// one.
func (ch *Channel) others(index map[string]int, visit func(entry int, s *statement)) {
	if len(ch.pkg.channels) < 2 {
		return
	}
	origin := ch
	if ch.origin != nil {
		origin = ch.origin
	}
	own := map[string][]*Entry{}
	for i := range origin.doc.record.entries {
		e := &origin.doc.record.entries[i]
		own[e.Name] = append(own[e.Name], e)
	}
	said := ch.pkg.statements()
	passed := map[string]bool{}
	for _, e := range ch.Entries() {
		if passed[e.Name] {
			continue
		}
		passed[e.Name] = true
		for _, s := range said[e.Name] {
			by := s.by
			for _, o := range own[e.Name] {
				if s.same(o) {
					by--
				}
			}
			if by > 0 {
				visit(index[e.Name], s)
			}
		}
	}
}
