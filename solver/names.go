package solver

import (
	"slices"
	"strconv"
	"sync"
)

// A nameTable holds the names of variables. Names are hashed once somebody asks
// for a variable by its name.
type nameTable struct {
	names []string // by variable, from 0; shorter where the rest has no name

	mu     sync.Mutex // Lookup reads, but hashes
	byName map[string]Var
	hashed int // how many of names are in byName
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

func (t *nameTable) lookup(name string) (Var, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = make(map[string]Var, max(cap(t.names), 16))
	}
	for ; t.hashed < len(t.names); t.hashed++ {
		own := t.names[t.hashed]
		if _, known := t.byName[own]; !known && own != "" {
			t.byName[own] = Var(t.hashed + 1)
		}
	}
	v, ok := t.byName[name]
	return v, ok
}

// put enters the name of the variable that was made last, and is not known yet.
func (t *nameTable) put(name string, v Var) {
	t.byName[name] = v
	t.hashed = len(t.names)
}

// copyTo gives another table the same names. It hashes them once it is asked.
func (t *nameTable) copyTo(u *nameTable) {
	u.names = slices.Clip(t.names)
}
