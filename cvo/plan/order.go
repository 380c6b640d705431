package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/words"
)

// order puts the choices into the order that Make documents, and fills in each step. The
// facts are about steps that fit into no window.
func (m *model) order(parts []*part) (*Plan, []*fact) {
	p := &Plan{From: m.start, To: m.target}
	var early, moves, rest, last []choice
	for _, x := range parts {
		for _, c := range x.chosen {
			switch c.kind {
			case ReplaceMember, FixBudget, FreeRoom:
				early = append(early, c)
			case OutOfService:
				last = append(last, c)
			case MoveCluster:
				moves = append(moves, c)
			default:
				rest = append(rest, c)
			}
		}
		p.Cost.Unknown += int(x.best.Costs[slices.Index(m.Policy.order(), byUnknown)])
	}
	before := []Kind{ReplaceMember, FixBudget, FreeRoom}
	slices.SortFunc(early, func(a, b choice) int {
		return cmp.Or(cmp.Compare(slices.Index(before, a.kind), slices.Index(before, b.kind)), strings.Compare(a.subject, b.subject))
	})
	slices.SortFunc(moves, func(a, b choice) int { return cmp.Compare(a.release, b.release) })
	w := &writer{m: m, p: p, release: m.start, e: m.Policy.Estimates.complete()}
	for i := range m.operators {
		w.where = append(w.where, m.operators[i].installed)
	}
	for _, c := range early {
		w.add(c)
	}
	w.stay(rest, m.releases[w.place()].stage, len(moves) == 0 || m.releases[moves[0].release].stage > 0)
	for i, c := range moves {
		w.add(c)
		w.release = c.to
		stage := m.releases[c.release].stage
		w.stay(rest, stage, i+1 == len(moves) || m.releases[moves[i+1].release].stage > stage)
	}
	slices.SortFunc(last, func(a, b choice) int { return strings.Compare(a.subject, b.subject) })
	for _, c := range last { // a cordoned node counts as down while its pool restarts
		w.add(c)
	}
	p.Cost.Steps = len(p.Steps)
	w.prepare()
	if r := cvo.RulesOf(m.start); !r.Known && len(moves) > 0 {
		p.Rules = r.Minor
	}
	if len(p.Steps) == 0 && m.Goal.moves() {
		w.overlooked()
	}
	w.times()
	return p, w.late
}

// overlooked marks what was not observed of nodes that may still have to restart.
func (w *writer) overlooked() {
	mark := func(is bool, what, command string) {
		if is {
			w.p.Unseen = append(w.p.Unseen, Unseen{What: what, Command: command})
		}
	}
	sit := w.m.Situation
	pools := "which pools there are, and whether their nodes run " + w.m.target
	mark(sit.Pools == nil, pools, "oc get machineconfigpools -o yaml")
	for _, kind := range [...]string{"MachineConfigPool", "Node", "MachineConfig"} {
		g, is := sit.Partly[kind]
		mark(is, pools+" (not known: "+g.What+")", g.How)
	}
	for i := range w.m.pools {
		mark(w.m.pools[i].unknown, "which release the nodes of pool "+w.m.pools[i].name+" run", "oc get machineconfigs -o yaml")
	}
}

// writer writes the steps of a plan.
type writer struct {
	m       *model
	p       *Plan
	release string
	e       Estimates
	late    []*fact // why a step fits into no window
	where   []int   // the version of each operator
}

func (w *writer) place() int {
	for i, r := range w.m.releases {
		if r.name == w.release {
			return i
		}
	}
	return 0
}

// stay writes what is done at a release; operators move and gates are acknowledged
// at the last release of a minor version.
func (w *writer) stay(rest []choice, stage int, last bool) {
	control := func(c choice) int {
		if w.m.pools[c.index].control {
			return 0
		}
		return 1
	}
	at := func(kinds ...Kind) []choice {
		var list []choice
		for _, c := range rest {
			if slices.Contains(kinds, c.kind) && c.name == w.release {
				list = append(list, c)
			}
		}
		slices.SortFunc(list, func(a, b choice) int {
			return cmp.Or(cmp.Compare(control(a), control(b)), strings.Compare(a.subject, b.subject), cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)))
		})
		return list
	}
	for _, c := range at(Unpause, Roll) {
		w.add(c)
	}
	if last {
		var hops []choice
		for _, c := range rest {
			if c.kind == MoveOperator && c.stage == stage {
				hops = append(hops, c)
			}
		}
		w.hops(hops)
		for _, kind := range []Kind{ChangeClients, Acknowledge} {
			for _, c := range rest {
				if c.kind == kind && c.stage == stage {
					w.add(c)
				}
			}
		}
	}
	for _, c := range at(Pause) {
		w.add(c)
	}
}

// hops writes the hops of operators: group by group, and turn by turn.
func (w *writer) hops(hops []choice) {
	group := func(c choice) int {
		return slices.IndexFunc(w.m.groups, func(g []int) bool { return slices.Contains(g, c.index) })
	}
	slices.SortStableFunc(hops, func(a, b choice) int {
		return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(a.turn, b.turn), cmp.Compare(a.index, b.index), w.m.version(a).Compare(w.m.version(b)))
	})
	for len(hops) > 0 {
		n := 1
		for n < len(hops) && len(w.m.groups[group(hops[0])]) > 1 && group(hops[n]) == group(hops[0]) && hops[n].turn == hops[0].turn {
			n++
		}
		for _, together := range w.m.untie(hops[:n], w.where) {
			for i, c := range together {
				for k, other := range together {
					if k != i {
						c.with = append(c.with, other.to)
					}
				}
				w.add(c)
			}
		}
		hops = hops[n:]
	}
}

// times computes when steps begin: one after the other, except for pools, which are
// updated at the same time, and each in a window that it fits into.
func (w *writer) times() {
	steps := w.p.Steps
	for i := range steps {
		s := &steps[i]
		s.Offset = w.p.Takes
		if first := firstBeside(steps, i); first < i {
			s.Offset = steps[first].Offset
		}
		w.p.Takes = max(w.p.Takes, s.Offset+s.Takes)
	}
	ends := w.m.Situation.At
	if ends.IsZero() {
		return
	}
	for i := range steps {
		s, from := &steps[i], ends
		if first := firstBeside(steps, i); first < i {
			from = steps[first].Begins
		}
		s.Begins = w.m.Policy.next(from, s.Takes)
		if s.Begins.IsZero() {
			rest := w.p.Takes - s.Offset
			clock := from.UTC().Format("2006-01-02 15:04")
			w.late = append(w.late, w.m.once(FactNoWindow, string(s.Kind), fmt.Sprintf("no window after %s is long enough to %s, which takes %s", clock, s, words.About(s.Takes)),
				fix{"AddWindow", "", "add a window of " + words.Span(rest) + " after " + clock, func(in *input) {
					in.Policy.Windows = append(in.Policy.Windows, Window{from, from.Add(rest)})
				}, costLeave}))
			return
		}
		if end := s.Begins.Add(s.Takes); end.After(ends) {
			ends = end
		}
	}
	if len(steps) > 0 {
		w.p.Ends = ends
	}
}

// next returns when a step of the given duration can begin, at or after a time; zero if
// it fits into no window.
func (p *Policy) next(at time.Time, takes time.Duration) time.Time {
	if len(p.Windows) == 0 {
		return at
	}
	var best time.Time
	for _, w := range p.Windows {
		from := w.From
		if from.Before(at) {
			from = at
		}
		if !from.Add(takes).After(w.Until) && (best.IsZero() || from.Before(best)) {
			best = from
		}
	}
	return best
}
