package solver

import (
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
)

// A nameTable contains the names of variables. Names are hashed once a variable
// is looked up by name, into a table of numbers: a table without strings grows
// without hashing again, and the garbage collector does not scan it.
type nameTable struct {
	names []string // by variable, from 0; shorter if the rest has no names

	mu     sync.Mutex // Lookup only reads a problem, but hashes
	seed   maphash.Seed
	slots  []nameSlot // none or a power of two, at most three quarters of them taken
	taken  int
	hashed int // how many of names are in slots
}

// A nameSlot is free if v is 0. A name is in the first slot that was free,
// starting at its hash.
type nameSlot struct {
	hash uint32
	v    Var
}

func (t *nameTable) grow(n int) { t.names = slices.Grow(t.names, n) }

func (t *nameTable) of(v Var) string {
	if int(v) <= len(t.names) && t.names[v-1] != "" {
		return t.names[v-1]
	}
	return "variable " + strconv.Itoa(int(v))
}

// set names a variable that has just been made.
func (t *nameTable) set(v Var, name string) {
	if missing := int(v) - 1 - len(t.names); missing > 0 {
		t.names = append(t.names, make([]string, missing)...)
	}
	t.names = append(t.names, name)
}

// lookup returns the first variable with the given name, or 0, and the hash to
// pass to put.
func (t *nameTable) lookup(name string) (Var, uint32) {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
		t.resize(max(cap(t.names), 16))
	}
	for ; t.hashed < len(t.names); t.hashed++ {
		if own := t.names[t.hashed]; own != "" {
			hash := t.hash(own)
			if at := t.find(own, hash); t.slots[at].v == 0 {
				t.enter(at, hash, Var(t.hashed+1))
			}
		}
	}
	hash := t.hash(name)
	return t.slots[t.find(name, hash)].v, hash
}

// put enters the name of the variable that was created last. The name must not
// be known yet.
func (t *nameTable) put(name string, hash uint32, v Var) {
	t.enter(t.find(name, hash), hash, v)
	t.hashed = len(t.names)
}

func (t *nameTable) hash(name string) uint32 { return uint32(maphash.String(t.seed, name)) }

// find returns the slot of the name, or the free one where it belongs.
func (t *nameTable) find(name string, hash uint32) int {
	for at := int(hash); ; at++ {
		at &= len(t.slots) - 1
		if s := t.slots[at]; s.v == 0 || s.hash == hash && t.names[s.v-1] == name {
			return at
		}
	}
}

func (t *nameTable) enter(at int, hash uint32, v Var) {
	t.slots[at] = nameSlot{hash, v}
	if t.taken++; t.taken > len(t.slots)/4*3 {
		t.resize(t.taken * 2)
	}
}

// resize makes room for that many names.
func (t *nameTable) resize(names int) {
	size := 16
	for size/4*3 < names {
		size *= 2
	}
	old := t.slots
	t.slots = make([]nameSlot, size)
	for _, s := range old {
		if s.v == 0 {
			continue
		}
		at := int(s.hash)
		for at &= size - 1; t.slots[at].v != 0; at = (at + 1) & (size - 1) {
		}
		t.slots[at] = s
	}
}

// copyTo gives another table the same names. That table hashes them on the
// first lookup.
func (t *nameTable) copyTo(u *nameTable) {
	u.names = slices.Clip(t.names)
}
