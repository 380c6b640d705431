package olm

import (
	"context"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// future contains what the operators of a namespace may become in any number of
// hops, in independent groups.
type future struct {
	*query
	group map[*entry]*entry // another entry of the same group, toward its root
	order []*entry          // in the order reached
	chain map[*channel]bool // channels whose entries are in one group
	apart bool              // false if a bundle excludes others: then all entries are one group
}

// foresee follows the channels of subscriptions, and of the operators that
// theirs may require.
func (q *query) foresee(ctx context.Context) (*future, error) {
	f := &future{query: q, group: make(map[*entry]*entry), chain: make(map[*channel]bool), apart: true}
	for _, e := range q.installed {
		f.reach(e)
	}
	for _, s := range q.subs {
		options := s.options()
		for _, ch := range q.channelsOf(s) {
			options = append(options, ch.chain...)
		}
		f.join(options)
	}
	for i := 0; i < len(f.order); i++ { // grows during the loop
		e := f.order[i]
		for _, n := range e.facts().needs {
			if n.banned != nil {
				f.apart = false
				continue
			}
			candidates, err := q.candidatesFor(ctx, e, n)
			if err != nil {
				return nil, err
			}
			f.join(append([]*entry{e}, candidates...))
			for _, c := range candidates {
				f.follow(c)
			}
		}
	}
	f.joinRivals()
	return f, nil
}

func (f *future) reach(e *entry) {
	if _, ok := f.group[e]; !ok {
		f.group[e] = e
		f.order = append(f.order, e)
	}
}

// join puts entries into one group.
func (f *future) join(entries []*entry) {
	for _, e := range entries {
		f.reach(e)
		f.group[f.root(e)] = f.root(entries[0])
	}
}

func (f *future) root(e *entry) *entry {
	for f.group[e] != e {
		f.group[e] = f.group[f.group[e]]
		e = f.group[e]
	}
	return e
}

// follow puts an entry into the group of its channel.
func (f *future) follow(e *entry) {
	if e.channel == nil || len(e.channel.chain) == 0 {
		return
	}
	if !f.chain[e.channel] {
		f.chain[e.channel] = true
		f.join(e.channel.chain)
	}
	f.join([]*entry{e.channel.chain[0], e})
}

// joinRivals joins entries that are of one package or provide one API.
func (f *future) joinRivals() {
	packages := make(map[string]*entry)
	apis := make(map[catalog.GVK]*entry)
	for _, e := range f.order {
		for _, p := range e.facts().packages {
			if packages[p.name] == nil {
				packages[p.name] = e
			}
			f.join([]*entry{packages[p.name], e})
		}
		for _, g := range e.facts().gvks {
			if apis[g] == nil {
				apis[g] = e
			}
			f.join([]*entry{apis[g], e})
		}
		if !f.apart {
			f.join([]*entry{f.order[0], e})
		}
	}
}

// groups divides the query: each part has subscriptions and installed operators
// that are independent of those of the others, now and later.
func (f *future) groups() []*query {
	parts := make(map[*entry]*query)
	var all []*query
	part := func(e *entry) *query {
		p := parts[f.root(e)]
		if p == nil {
			clone := *f.query
			clone.subs, clone.installed = nil, nil
			p = &clone
			parts[f.root(e)] = p
			all = append(all, p)
		}
		return p
	}
	for _, s := range f.subs {
		options := s.options()
		for _, ch := range f.channelsOf(s) {
			options = append(options, ch.chain...)
		}
		if len(options) == 0 { // nothing can serve it
			clone := *f.query
			clone.subs, clone.installed = []*subscription{s}, nil
			all = append(all, &clone)
			continue
		}
		p := part(options[0])
		p.subs = append(p.subs, s)
	}
	for _, e := range f.installed {
		p := part(e)
		p.installed = append(p.installed, e)
	}
	for _, p := range all {
		p.known = maps.Clone(p.known)
		p.installed = slices.Clip(p.installed)
	}
	return all
}
