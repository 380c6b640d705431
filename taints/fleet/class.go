package fleet

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/decimal"
)

// members are the nodes, or the pods, of a Matcher.
type members struct {
	view
	lent    struct{ of, names bool } // in use by a Row: copied before a change
	free    []int32                  // places of members that were removed
	classes []class                  // by number; 0 is the class of no member
	unused  []int32                  // numbers of classes without members
	named   map[string]int32
	key     classKey
}

// view is what a Row sees of the nodes.
type view struct {
	at    map[string]int32 // the place of each member, by name
	names []string         // by place; empty for those that were removed
	of    []int32          // the class of each, by place; 0 for those that were removed
}

// class is a set of members that are equivalent.
type class struct {
	name          string // its key in named
	size          int    // how many members; 0 if the number is unused
	tolerations   []fairlead.Toleration
	taints        []fairlead.Taint
	unschedulable bool
}

func (m *members) init() {
	m.classes = make([]class, 1)
	m.named = make(map[string]int32)
	m.at = make(map[string]int32)
}

// class returns the class of a member, 0 if it is not known.
func (m *members) class(name string) int32 {
	at, ok := m.at[name]
	if !ok {
		return 0
	}
	return m.of[at]
}

// lend returns the view, which stays as it is from then on.
func (m *members) lend() view {
	m.lent.of, m.lent.names = true, true
	return m.view
}

// own makes the classes of the view the members' own, if they were lent.
func (m *members) own() {
	if m.lent.of {
		m.of, m.lent.of = slices.Clone(m.of), false
	}
}

// ownNames does the same for the names.
func (m *members) ownNames() {
	if m.lent.names {
		m.at, m.names, m.lent.names = maps.Clone(m.at), slices.Clone(m.names), false
	}
}

// assign puts a member into the class that m.key names, and reports whether that
// class is new.
func (m *members) assign(name string) (number int32, fresh bool) {
	at, member := m.at[name]
	number, there := m.named[string(m.key.bytes)]
	if member && there && number == m.of[at] {
		return number, false
	}
	m.own()
	if !there {
		number = m.unusedClass()
		key := string(m.key.bytes)
		m.classes[number] = class{name: key}
		m.named[key] = number
	}
	m.classes[number].size++
	if !member {
		at = m.place(name)
	}
	m.leave(at)
	m.of[at] = number
	return number, !there
}

// place returns a free place for another member.
func (m *members) place(name string) int32 {
	m.ownNames()
	at := int32(len(m.of))
	if last := len(m.free) - 1; last >= 0 {
		at = m.free[last]
		m.free = m.free[:last]
	} else {
		m.of, m.names = append(m.of, 0), append(m.names, "")
	}
	m.at[name], m.names[at] = at, name
	return at
}

func (m *members) unusedClass() int32 {
	if last := len(m.unused) - 1; last >= 0 {
		number := m.unused[last]
		m.unused = m.unused[:last]
		return number
	}
	m.classes = append(m.classes, class{})
	return int32(len(m.classes) - 1)
}

// leave removes a member from its class.
func (m *members) leave(at int32) {
	number := m.of[at]
	m.of[at] = 0
	if number == 0 {
		return
	}
	c := &m.classes[number]
	if c.size--; c.size == 0 {
		delete(m.named, c.name)
		*c = class{}
		m.unused = append(m.unused, number)
	}
}

// remove removes a member.
func (m *members) remove(name string) {
	at, ok := m.at[name]
	if !ok {
		return
	}
	m.own()
	m.ownNames()
	m.leave(at)
	delete(m.at, name)
	m.names[at] = ""
	m.free = append(m.free, at)
}

// classKey writes what distinguishes classes: the relevant parts of a list, in
// an order that does not depend on the list's.
type classKey struct {
	bytes   []byte // the key
	scratch []byte // the parts, in the order of the list
	parts   [][2]int
}

func (k *classKey) reset() {
	k.bytes, k.scratch, k.parts = k.bytes[:0], k.scratch[:0], k.parts[:0]
}

// tolerations writes the key of a pod: those of its tolerations that can match
// something, each once, without their seconds.
func (k *classKey) tolerations(list []fairlead.Toleration, numbers bool) {
	k.reset()
	for i := range list {
		t := &list[i]
		value, operator := t.Value, byte('=')
		switch t.Operator {
		case "", fairlead.TolerationEqual:
		case fairlead.TolerationExists:
			value, operator = "", '*'
		case fairlead.TolerationLt, fairlead.TolerationGt:
			if _, err := decimal.Parse(value); err != nil || !numbers {
				continue
			}
			operator = t.Operator[0]
		default:
			continue
		}
		k.part(operator, string(t.Effect), t.Key, value)
	}
	k.finish(true)
}

// taints writes the key of a node: its taints of known effects, without
// TimeAdded.
func (k *classKey) taints(list []fairlead.Taint, unschedulable bool) {
	k.reset()
	for i := range list {
		t := &list[i]
		switch t.Effect {
		case fairlead.NoSchedule, fairlead.NoExecute, fairlead.PreferNoSchedule:
			k.part(t.Effect[2], t.Key, t.Value)
		}
	}
	if unschedulable {
		k.part('u')
	}
	k.finish(false)
}

// part writes one element of the list: a letter and texts with their lengths, so
// that no two elements have the same key.
func (k *classKey) part(kind byte, texts ...string) {
	start := len(k.scratch)
	k.scratch = append(k.scratch, kind)
	for _, s := range texts {
		k.scratch = binary.AppendUvarint(k.scratch, uint64(len(s)))
		k.scratch = append(k.scratch, s...)
	}
	k.parts = append(k.parts, [2]int{start, len(k.scratch)})
}

// finish sorts the parts.
func (k *classKey) finish(once bool) {
	compare := func(a, b [2]int) int {
		return bytes.Compare(k.scratch[a[0]:a[1]], k.scratch[b[0]:b[1]])
	}
	slices.SortFunc(k.parts, compare)
	for i, p := range k.parts {
		if once && i > 0 && compare(k.parts[i-1], p) == 0 {
			continue
		}
		k.bytes = append(k.bytes, k.scratch[p[0]:p[1]]...)
	}
}
