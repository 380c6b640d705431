package solver

// A known is what a Lazy knows about some needs, as a problem.
type known struct {
	poll *poll
	p    *Problem
	vars []*offered // by variable, from 1
	by   map[*offered]Var
	sets map[*need]Set

	stated  []bool          // by variable, from 1: its requirements are in the problem
	barred  int             // how many of vars have been looked at for bars
	barring map[*need][]Var // what excludes a need
	slots   map[string]*slot
	filled  []*slot // those with more than was stated, in order
}

// A slot is what takes up one slot.
type slot struct {
	vars  []Var
	dirty bool // there is more than was stated
}

// state states what is known, breadth first: what needs something comes before
// what it needs. It states less if the poll is over.
func (l *Lazy) state(poll *poll, roots []*need) *known {
	k := &known{poll: poll, p: &Problem{}, by: make(map[*offered]Var), sets: make(map[*need]Set), barring: make(map[*need][]Var), slots: make(map[string]*slot)}
	for _, n := range roots {
		if poll.ended {
			break
		}
		var lits []Lit
		for _, v := range k.meeting(n) {
			lits = append(lits, v.Yes())
		}
		k.p.Any(lits, wanted(n.text))
	}
	k.grow()
	return k
}

// grow adds what has become known: it only adds constraints, so that a slot may
// be stated again with more candidates. It adds less if the poll is over.
func (k *known) grow() {
	for at := 0; at < len(k.vars); at++ {
		o := k.vars[at]
		if k.poll.spend(4 + len(o.needs) + len(o.excludes)) {
			return
		}
		if k.stated[at] || !o.complete() {
			continue
		}
		k.stated[at] = true
		for _, n := range o.needs {
			if k.sets[n] == 0 {
				k.sets[n] = k.p.Set(k.meeting(n))
			}
			k.p.DependOn(Var(at+1), k.sets[n], sourced{o, n})
		}
		for _, n := range o.excludes {
			k.barring[n] = append(k.barring[n], Var(at+1))
			for _, other := range n.meets {
				if k.poll.spend(textSteps) {
					return
				}
				if v := k.by[other]; v != 0 && int(v) <= k.barred {
					k.exclude(Var(at+1), v)
				}
			}
		}
	}
	for ; k.barred < len(k.vars); k.barred++ {
		o, v := k.vars[k.barred], Var(k.barred+1)
		if k.poll.spend(textSteps * (1 + len(o.meets))) {
			return
		}
		for _, n := range o.meets {
			for _, by := range k.barring[n] {
				if k.poll.spend(textSteps) {
					return
				}
				k.exclude(by, v)
			}
		}
		if o.Slot == "" {
			continue
		}
		s := k.slots[o.Slot]
		if s == nil {
			s = &slot{}
			k.slots[o.Slot] = s
		}
		if s.vars = append(s.vars, v); len(s.vars) > 1 && !s.dirty {
			s.dirty = true
			k.filled = append(k.filled, s)
		}
	}
	for _, s := range k.filled {
		if k.poll.spend(textSteps + len(s.vars)) {
			return
		}
		k.p.Limit(1, s.vars, nil)
		s.dirty = false
	}
	k.filled = k.filled[:0]
}

// exclude states that one candidate excludes another.
func (k *known) exclude(by, v Var) {
	if by != v {
		k.p.Exclude(by, v, nil)
	}
}

// meeting returns the variables of the candidates that meet a need, and creates
// those that do not exist yet.
func (k *known) meeting(n *need) []Var {
	vars := make([]Var, len(n.meets))
	for i, o := range n.meets {
		if k.poll.spend(textSteps) {
			return nil
		}
		if k.by[o] == 0 {
			k.by[o] = k.p.NewVar(o.Name)
			k.vars, k.stated = append(k.vars, o), append(k.stated, false)
		}
		vars[i] = k.by[o]
	}
	return vars
}

// open returns the candidates of a selection to ask about: those that are sure,
// and that many others; none if all of them are known. They are not all if the poll is
// over.
func (k *known) open(s *Solution, most int) []*offered {
	var open []*offered
	sure := make([]bool, len(k.vars)+1) // in every answer to the known part
	for _, d := range s.log {
		if k.poll.spend(textSteps) {
			break
		}
		lits := k.p.litsOf(&k.p.cons[d.con])
		if !lits[0].Selects() {
			sure[d.pick] = len(lits) == 2 && sure[lits[0].Var()]
		} else {
			sure[d.pick] = len(lits) == 1
		}
		o := k.vars[d.pick-1]
		switch {
		case o.complete():
		case sure[d.pick]:
			open = append(open, o)
		case most > 0:
			most--
			open = append(open, o)
		}
	}
	return open
}
