package solver

// A partial is a selection in progress. It follows the documented order: it
// starts with the demands that nothing triggers, in the order of addition, and
// each pick appends the demands that it completes.
//
// It is a question's overlay on the index: the cost of making, filling and
// emptying it depends on what is changed and picked, not on the size of the
// problem. An index keeps the ones that are not in use.
type partial struct {
	x *index

	// The question.
	off      []bool  // by constraint: dropped; nil if none is
	required []Lit   // demanded after the constraints of the problem
	banned   []int32 // by variable: how many constraints of one denial there are; nil if there are none
	own      bool    // banned is not the index's

	picked  []bool  // by variable
	count   []int32 // by constraint: for several denials, how many are picked; for a limitation, how many variables are
	counted []int32 // the constraints whose count is, or was, not 0
	queue   []int32 // demands, by constraint
	head    int
	log     []decision
	dead    []int32 // demands without a candidate
	// passed is how many of the first candidates of long demands can never be
	// picked, if a search found that out.
	passed map[int32]int
}

// A decision is one choice that was made.
type decision struct {
	con  int32 // the demand
	pick Var
}

// ask returns a partial selection for the problem with a change made. It must
// be given back with done.
func (x *index) ask(w *change) *partial {
	s := x.idle.take()
	if s == nil {
		s = &partial{x: x, picked: make([]bool, x.size), count: make([]int32, len(x.cons)), banned: x.banned}
		s.queue, s.log = make([]int32, 0, len(x.roots)+32), make([]decision, 0, len(x.roots)+32)
	}
	if w == nil {
		return s
	}
	if len(w.drop) > 0 && s.off == nil {
		s.off = make([]bool, len(x.cons))
	}
	if len(w.drop)+len(w.forbid) > 0 && !s.own {
		s.banned, s.own = make([]int32, x.size), true
		copy(s.banned, x.banned)
	}
	for _, id := range w.drop {
		if k := &x.cons[id]; k.role == ban {
			s.banned[x.denials(k)[0].Var()]--
		}
		s.off[id] = true
	}
	for _, v := range w.forbid {
		s.banned[v]++
	}
	for _, v := range w.require {
		s.required = append(s.required, v.Yes())
	}
	return s
}

// done empties s for the next question.
func (s *partial) done(w *change) {
	for _, d := range s.log {
		s.picked[d.pick] = false
	}
	for _, id := range s.counted {
		s.count[id] = 0
	}
	if w != nil {
		for _, v := range w.forbid {
			s.banned[v]--
		}
		for _, id := range w.drop {
			if k := &s.x.cons[id]; k.role == ban {
				s.banned[s.x.denials(k)[0].Var()]++
			}
			s.off[id] = false
		}
	}
	s.counted, s.queue, s.head = s.counted[:0], s.queue[:0], 0
	s.log, s.dead, s.required, s.passed = s.log[:0], s.dead[:0], s.required[:0], nil
	s.x.idle.put(s)
}

func (s *partial) dropped(con int32) bool { return s.off != nil && s.off[con] }

// begin queues the demands that nothing triggers.
func (s *partial) begin() {
	if s.off == nil {
		s.queue = append(s.queue, s.x.roots...)
	} else {
		for _, id := range s.x.roots {
			if !s.off[id] {
				s.queue = append(s.queue, id)
			}
		}
	}
	for i := range s.required {
		s.queue = append(s.queue, int32(len(s.x.cons)+i))
	}
}

// candidates returns the candidates of a demand.
func (s *partial) candidates(con int32) []Lit {
	if n := len(s.x.cons); int(con) >= n {
		return s.required[int(con)-n:][:1]
	}
	return s.x.candidates(&s.x.cons[con])
}

// seek advances to the next demand that no pick meets yet. It reports false if
// there is none or the poll is over.
func (s *partial) seek(poll *poll) bool {
search:
	for ; s.head < len(s.queue); s.head++ {
		con := s.queue[s.head]
		cands := s.candidates(con)
		if s.passed != nil {
			cands = cands[s.passed[con]:]
		}
		if poll.spend(1 + len(cands)/4) {
			return false
		}
		for _, l := range cands {
			if s.picked[l] {
				continue search
			}
		}
		return true
	}
	return false
}

// next returns the next demand that no pick meets yet, and its candidates.
func (s *partial) next(poll *poll) (con int32, cands []Lit, ok bool) {
	if !s.seek(poll) {
		return 0, nil, false
	}
	con = s.queue[s.head]
	s.head++
	return con, s.candidates(con), true
}

// pick selects v for the demand, and counts it wherever that matters to refuted.
func (s *partial) pick(con int32, v Var) {
	s.take(con, v)
	for _, id := range s.x.bars.of(v) {
		s.add(id)
	}
	for _, id := range s.x.limits.of(v) {
		s.add(id)
	}
}

// take selects v for the demand.
func (s *partial) take(con int32, v Var) {
	s.log = append(s.log, decision{con: con, pick: v})
	s.picked[v] = true
	for _, id := range s.x.demands.of(v) {
		if s.dropped(id) {
			continue
		}
		if n := s.x.cons[id].n; n == 1 || s.add(id) == n {
			s.queue = append(s.queue, id)
		}
	}
}

// untake undoes the last take. The arguments are what the queue was before.
func (s *partial) untake(head, queue, counted int) {
	last := len(s.log) - 1
	v := s.log[last].pick
	s.log, s.picked[v] = s.log[:last], false
	for _, id := range s.x.demands.of(v) {
		if s.x.cons[id].n > 1 && !s.dropped(id) {
			s.count[id]--
		}
	}
	s.head, s.queue, s.counted = head, s.queue[:queue], s.counted[:counted]
}

// add adds one to the count of the constraint, and returns the count.
func (s *partial) add(id int32) int32 {
	if s.count[id] == 0 {
		s.counted = append(s.counted, id)
	}
	s.count[id]++
	return s.count[id]
}

// refuted reports whether the picks so far and a single constraint rule v out.
func (s *partial) refuted(v Var) bool {
	if s.banned != nil && s.banned[v] > 0 {
		return true
	}
	for _, e := range s.x.pairs.of(v) {
		if s.picked[e.other] && !s.dropped(e.con) {
			return true
		}
	}
	for _, id := range s.x.bars.of(v) {
		if s.count[id] == s.x.cons[id].n-1 && !s.dropped(id) {
			return true
		}
	}
	for _, id := range s.x.limits.of(v) {
		if s.count[id] >= s.x.cons[id].n && !s.dropped(id) {
			return true
		}
	}
	return false
}

// greedy takes, for every demand, the first candidate that is not refuted.
// Demands without one are dead ends.
//
// A candidate that is refuted is impossible together with the earlier picks. So
// if greedy ends without a dead end, and its picks meet all constraints, the
// picks are the best answer: they are an answer, and nothing better was passed
// over.
//
// If the poll is over, it returns early.
func (s *partial) greedy(poll *poll) {
next:
	for con, cands, ok := s.next(poll); ok && !poll.ended; con, cands, ok = s.next(poll) {
		for _, l := range cands {
			v := l.Var()
			if poll.spend(1 + len(s.x.pairs.of(v)) + len(s.x.limits.of(v))) {
				break
			}
			if !s.refuted(v) {
				s.pick(con, v)
				continue next
			}
		}
		s.dead = append(s.dead, con)
	}
}

// replay takes, for every demand that is left, the first candidate that is in
// the answer. If the poll is over, it returns early.
func (s *partial) replay(poll *poll, in func(Var) bool) {
	for con, cands, ok := s.next(poll); ok; con, cands, ok = s.next(poll) {
		poll.spend(len(cands) / 4)
		for _, l := range cands {
			if in(l.Var()) {
				s.pick(con, l.Var())
				break
			}
		}
	}
}
