package taints

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/fairlead/fairlead/internal/object"
)

// members are the nodes, or the pods, of a Matcher.
type members struct {
	of      []int32 // the class of each member; 0 of those that were removed
	free    []int32 // removed members, the greatest number first
	classes []class // by number; that of what was removed is 0
	unused  []int32 // numbers of classes without members
	named   map[string]int32
	key     classKey
}

// class is the members that nothing tells apart.
type class struct {
	name          string // its key in named
	size          int    // so many members; 0 if the number is unused
	tolerations   []Toleration
	taints        []Taint
	unschedulable bool
}

func (m *members) init() {
	m.classes = make([]class, 1)
	m.named = make(map[string]int32)
}

// add returns the least number that is free, without a class.
func (m *members) add() int32 {
	if last := len(m.free) - 1; last >= 0 {
		id := m.free[last]
		m.free = m.free[:last]
		return id
	}
	m.of = append(m.of, 0)
	return int32(len(m.of) - 1)
}

// assign puts a member into the class that m.key names, and reports whether that
// has just come to be.
func (m *members) assign(id int32) (number int32, fresh bool) {
	number, there := m.named[string(m.key.bytes)]
	if there && number == m.of[id] {
		return number, false
	}
	if !there {
		number = m.unusedClass()
		name := string(m.key.bytes)
		m.classes[number] = class{name: name}
		m.named[name] = number
	}
	m.classes[number].size++
	if m.of[id] == 0 {
		m.taken(id)
	}
	m.leave(id)
	m.of[id] = number
	return number, !there
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

// leave takes a member out of its class.
func (m *members) leave(id int32) {
	number := m.of[id]
	m.of[id] = 0
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

// remove takes a member out. Removing it again does nothing.
func (m *members) remove(id int32) {
	if m.of[id] == 0 {
		return
	}
	m.leave(id)
	at, _ := slices.BinarySearchFunc(m.free, id, descending)
	m.free = slices.Insert(m.free, at, id)
}

// taken says that a number is not free any more.
func (m *members) taken(id int32) {
	if at, found := slices.BinarySearchFunc(m.free, id, descending); found {
		m.free = slices.Delete(m.free, at, at+1)
	}
}

func descending(a, b int32) int { return int(b - a) }

// classKey writes what tells classes apart: the parts of a list that matter, in
// an order that does not depend on the list's.
type classKey struct {
	bytes   []byte // the key
	scratch []byte // the parts, in the order of the list
	parts   [][2]int
}

func (k *classKey) reset() {
	k.bytes, k.scratch, k.parts = k.bytes[:0], k.scratch[:0], k.parts[:0]
}

// tolerations writes the key of a pod: of its tolerations those that can match
// something, each once, without their seconds.
func (k *classKey) tolerations(list []Toleration, numbers bool) {
	k.reset()
	for i := range list {
		t := &list[i]
		value, operator := t.Value, byte('=')
		switch t.Operator {
		case "", Equal:
		case Exists:
			value, operator = "", '*'
		case Lt, Gt:
			if _, err := object.ParseNumber(value); err != nil || !numbers {
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

// taints writes the key of a node: its taints of known effects, without the time
// since when they are there.
func (k *classKey) taints(n *Node) {
	k.reset()
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if (AllEffects &^ onUnknown).Has(t.Effect) {
			k.part(t.Effect[2], t.Key, t.Value)
		}
	}
	if n.Spec.Unschedulable {
		k.part('u')
	}
	k.finish(false)
}

// part writes one element of the list: a letter and texts with their lengths, so
// that no two elements read the same.
func (k *classKey) part(kind byte, texts ...string) {
	start := len(k.scratch)
	k.scratch = append(k.scratch, kind)
	for _, s := range texts {
		k.scratch = binary.AppendUvarint(k.scratch, uint64(len(s)))
		k.scratch = append(k.scratch, s...)
	}
	k.parts = append(k.parts, [2]int{start, len(k.scratch)})
}

// finish puts the parts in order.
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
