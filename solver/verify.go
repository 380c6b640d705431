package solver

import (
	"context"
	"fmt"
	"slices"
)

// This file and judge.go verify what is claimed. They read the constraints as
// they were given, and share no code with the search.

// Check verifies that the selection of the certificate meets all constraints of
// p and is the best one by the rule of [Solve]. It shares no code with the
// search: it follows the rule, reads the constraints as they were given, and
// goes through the reasons hint by hint.
//
// Cost: linear in the size of the problem and of the constraints that the hints
// name. The error is [*CertificateError] if something is wrong, [*ProblemError]
// if p is malformed, or that of ctx.
func Check(ctx context.Context, p *Problem, cert *Certificate) error {
	if err := p.malformed(); err != nil {
		return err
	}
	if cert == nil {
		return &CertificateError{-1, -1, "there is none"}
	}
	if err := checkSelection(ctx, p, cert); err != nil {
		return err
	}
	v := newVerifier(ctx, p)
	if err := v.lemmas(cert.Lemmas); err != nil {
		return err
	}
	return v.choices(cert)
}

// checkSelection verifies that the steps are a selection that meets all
// constraints, and that they are for the demands that arise.
func checkSelection(ctx context.Context, p *Problem, cert *Certificate) error {
	var picks []decision
	for i, step := range cert.Steps {
		if !p.has(step.Pick) || step.Demand < 0 || step.Demand >= len(p.cons) {
			return &CertificateError{-1, i, "it names what is not in the problem"}
		}
		picks = append(picks, decision{pick: step.Pick})
	}
	if bad := examine(ctx, p, nil, nil, picks); bad != "" {
		return &CertificateError{-1, -1, "the selection breaks " + bad}
	}
	return checkOrder(ctx, p, cert)
}

// CheckRefutation verifies that a refutation shows that constraints of p cannot
// be met together: those of its [Refutation.Core]. Cost and errors are as for
// [Check].
func CheckRefutation(ctx context.Context, p *Problem, r *Refutation) error {
	if err := p.malformed(); err != nil {
		return err
	}
	if r == nil || len(r.Lemmas) == 0 || len(r.Lemmas[len(r.Lemmas)-1].Lits) > 0 {
		return &CertificateError{-1, -1, "it does not end with a contradiction"}
	}
	if err := newVerifier(ctx, p).lemmas(r.Lemmas); err != nil {
		return err
	}
	return ctx.Err()
}

// checkOrder verifies that the steps are for the demands that arise, in order.
func checkOrder(ctx context.Context, p *Problem, cert *Certificate) error {
	j := newJudge(ctx, p)
	if j == nil {
		return ctx.Err()
	}
	picked := make([]bool, p.vars+1)
	met := func(l Lit) bool { return l.Selects() && picked[l] }
	selects := func(id int32) bool { // it has a candidate
		c := &p.cons[id]
		return c.kind != Limitation && slices.ContainsFunc(p.lits[c.start:c.end], Lit.Selects)
	}
	var queue []int32
	poll := poll{ctx: ctx}
	for _, id := range j.always {
		if poll.over() {
			return ctx.Err()
		}
		if selects(id) {
			queue = append(queue, id)
		}
	}
	next := 0
	for at := 0; at < len(queue); at++ {
		c := &p.cons[queue[at]]
		lits := p.lits[c.start:c.end]
		if poll.spend(1 + len(lits)) {
			return ctx.Err()
		}
		if slices.ContainsFunc(lits, met) {
			continue
		}
		if next == len(cert.Steps) || cert.Steps[next].Demand != int(queue[at]) {
			return &CertificateError{-1, next, fmt.Sprintf("the next choice is that of constraint %d (%s)", queue[at], p.Constraint(int(queue[at])).Demand())}
		}
		pick := cert.Steps[next].Pick
		if !slices.Contains(lits, pick.Yes()) {
			return &CertificateError{-1, next, p.Name(pick) + " is not a candidate"}
		}
		picked[pick] = true
		next++
		before := int32(-1)
		for _, id := range j.touched[j.start[pick]:j.start[pick+1]] {
			c := &p.cons[id]
			poll.over()
			if id != before && selects(id) && (c.subject != 0 || !slices.ContainsFunc(p.lits[c.start:c.end], func(l Lit) bool {
				return !l.Selects() && !picked[l.Var()]
			})) {
				queue = append(queue, id)
			}
			before = id
		}
	}
	if next < len(cert.Steps) {
		return &CertificateError{-1, next, "there is no choice left"}
	}
	return nil
}

// A verifier follows hints.
type verifier struct {
	p     *Problem
	sums  []Sum   // variables and constraints after those of p
	known []Lemma // the verified ones
	value []int8  // by variable: 1 selected, -1 not; 0 open
	trail []Var
	poll  poll
}

func newVerifier(ctx context.Context, p *Problem) *verifier {
	return &verifier{p: p, value: make([]int8, p.vars+1), poll: poll{ctx: ctx}}
}

// lemmas verifies lemmas, one after the other. It is called once.
func (v *verifier) lemmas(all []Lemma) error {
	for i, m := range all {
		what := v.refutes(func() string {
			for _, l := range m.Lits {
				if l == -l || int(l.Var()) >= len(v.value) { // 0 and the least integer are their own denials
					return "it names what is not in the problem"
				}
				v.set(-l)
			}
			return ""
		}, m.Hints, m.Counts)
		if v.poll.ended {
			return v.poll.ctx.Err()
		}
		if what != "" {
			return &CertificateError{i, -1, what}
		}
		v.known = all[:i+1]
	}
	return nil
}

// choices verifies all refusals.
func (v *verifier) choices(cert *Certificate) error {
	for i, step := range cert.Steps {
		v.poll.spend(1)
		if err := v.refusals(cert, i, step); err != nil {
			return err
		}
	}
	return v.poll.ctx.Err()
}

// refusals verifies that each better candidate is impossible.
func (v *verifier) refusals(cert *Certificate, i int, step CertifiedStep) error {
	c := &v.p.cons[step.Demand]
	refused := 0
	for _, l := range v.p.lits[c.start:c.end] {
		if l == step.Pick.Yes() {
			break
		}
		if !l.Selects() {
			continue
		}
		if refused == len(step.Refused) || step.Refused[refused].Var != l.Var() {
			return &CertificateError{-1, i, fmt.Sprintf("refusal %d is not of candidate %s", refused, v.p.Name(l.Var()))}
		}
		r := &step.Refused[refused]
		refused++
		if v.state(l) < 0 { // it is in no optimal selection
			continue
		}
		what := v.refutes(func() string {
			v.set(l)
			for _, at := range r.Given {
				if at < 0 || at >= i {
					return "it rests on a step that is not before it"
				}
				v.set(cert.Steps[at].Pick.Yes())
			}
			return ""
		}, r.Hints, false)
		if v.poll.ended {
			return v.poll.ctx.Err()
		}
		if what != "" {
			return &CertificateError{-1, i, fmt.Sprintf("refusal %d, of %s: %s", refused-1, v.p.Name(l.Var()), what)}
		}
	}
	if refused < len(step.Refused) {
		return &CertificateError{-1, i, fmt.Sprintf("%d better candidates, %d refusals", refused, len(step.Refused))}
	}
	return nil
}

// refutes follows the hints from the assumptions to a contradiction, or adds them
// up. It returns what is wrong, or "".
func (v *verifier) refutes(assume func() string, hints []int, counts bool) (what string) {
	defer func() {
		for _, x := range v.trail {
			v.poll.spend(1)
			v.value[x] = 0
		}
		v.trail = v.trail[:0]
	}()
	if what := assume(); what != "" {
		return what
	}
	if counts {
		return v.sumUp(hints)
	}
	for i, h := range hints {
		if v.poll.ended {
			return ""
		}
		if h >= len(v.p.cons)+len(v.sums) || h < -len(v.known) {
			return fmt.Sprintf("hint %d (%d) names nothing", i, h)
		}
		if v.follow(h) {
			return ""
		}
	}
	return "the hints do not lead to a contradiction"
}

// sumUp checks that clauses demand more than limitations allow: see Lemma.Counts.
func (v *verifier) sumUp(hints []int) (what string) {
	left := int64(0) // what the limitations allow, less the clauses
	room := make(map[Var]int)
	seen := make(map[int]bool)
	for i, h := range hints {
		if h < 0 || h >= len(v.p.cons) || seen[h] {
			return fmt.Sprintf("hint %d (%d) is not of a constraint, or counts twice", i, h)
		}
		seen[h] = true
		c := &v.p.cons[h]
		if v.poll.spend(16 * int(1+c.end-c.start)) {
			return ""
		}
		if c.kind == Limitation {
			left += int64(c.n)
			for _, l := range v.p.lits[c.start:c.end] {
				room[l.Var()]++
			}
			continue
		}
		left--
		once := make(map[Lit]bool)
		for _, l := range v.p.litsOf(c) {
			switch {
			case v.state(l) < 0 || once[l]:
			case !l.Selects():
				return fmt.Sprintf("hint %d (%d) can be met by leaving something out", i, h)
			default:
				once[l] = true
				room[l.Var()]--
			}
		}
	}
	if left >= 0 {
		return "the limitations have room for all demands that are counted"
	}
	for _, n := range room {
		if v.poll.spend(4); n < 0 {
			return "a candidate is not in the limitations that are counted"
		}
	}
	return ""
}

// follow applies what a hint forces, if anything. It reports whether the hint
// can no longer be met.
func (v *verifier) follow(h int) (over bool) {
	if h < 0 {
		return v.clause(0, v.known[-1-h].Lits)
	}
	if n := len(v.p.cons); h >= n {
		return v.sum(h - n)
	}
	c := &v.p.cons[h]
	lits := v.p.lits[c.start:c.end]
	if c.kind == Limitation {
		return v.limitation(lits, int(c.n))
	}
	return v.clause(c.subject, lits)
}

// clause applies a clause: the subject, if any, is denied, or one of the
// literals holds.
func (v *verifier) clause(subject Var, lits []Lit) (over bool) {
	v.poll.spend(1 + len(lits))
	open := Lit(0)
	if subject != 0 {
		if v.value[subject] < 0 {
			return false
		}
		if v.value[subject] == 0 {
			open = subject.No()
		}
	}
	for _, l := range lits {
		switch s := v.state(l); {
		case s > 0, s == 0 && open != 0 && l != open:
			return false
		case s == 0:
			open = l
		}
	}
	if open == 0 {
		return true
	}
	v.set(open)
	return false
}

// limitation applies a limitation: at most n of the variables hold.
func (v *verifier) limitation(vars []Lit, n int) (over bool) {
	in := 0
	for _, l := range vars { // no variable is in it twice
		if v.poll.spend(1) {
			return false
		}
		if v.state(l) > 0 {
			in++
		}
	}
	if in != n {
		return in > n
	}
	for _, l := range vars {
		if v.poll.spend(2) {
			return false
		}
		v.set(-l)
	}
	return false
}

func (v *verifier) state(l Lit) int8 {
	if l < 0 {
		return -v.value[-l]
	}
	return v.value[l]
}

// set makes l true. If two literals deny each other, the first one counts: what
// follows then follows from the first alone.
func (v *verifier) set(l Lit) {
	if v.state(l) != 0 {
		return
	}
	v.value[l.Var()] = 1
	if l < 0 {
		v.value[-l] = -1
	}
	v.trail = append(v.trail, l.Var())
}
