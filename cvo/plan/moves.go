package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/semverx"
)

// readMoves keeps the updates on a path to the target.
func (m *model) readMoves() []*fact {
	s := m.Situation
	if s.Moves == nil {
		text := "get them with: oc get clusterversion version -o yaml, or from the update service"
		if help := cvo.ChannelHelp(s.Cluster, ""); help != "" {
			text = help
		}
		return []*fact{{reason: FactUpdatesUnknown, text: "the available updates are unknown; " + text}}
	}
	applies := map[string]Risk{}
	for _, r := range s.Risks {
		applies[r.Name] = r
	}
	index := map[string]int{}
	in, out := map[string][]string{}, map[string][]string{}
	for _, x := range s.Moves {
		in[x.To] = append(in[x.To], x.From)
		out[x.From] = append(out[x.From], x.To)
	}
	reach := func(from string, next map[string][]string) map[string]bool {
		seen := map[string]bool{from: true}
		for list := []string{from}; len(list) > 0; {
			x := list[0]
			list = list[1:]
			for _, y := range next[x] {
				if !seen[y] {
					seen[y] = true
					list = append(list, y)
				}
			}
		}
		return seen
	}
	forward, back := reach(m.start, out), reach(m.target, in)
	for name := range forward {
		x, ok := parseMinor(name)
		stage := slices.Index(m.stages, x)
		if back[name] && ok && stage >= 0 {
			m.releases = append(m.releases, release{name, semverx.Tolerant(name), stage})
		}
	}
	slices.SortFunc(m.releases, func(a, b release) int { return cmp.Or(a.v.Compare(b.v), strings.Compare(a.name, b.name)) })
	for i, r := range m.releases {
		index[r.name] = i
	}
	for i := range s.Moves {
		m.readMove(&s.Moves[i], index, applies)
	}
	m.prune()
	if _, ok := index[m.target]; !ok || len(m.moves) == 0 {
		return []*fact{m.noPath(out, in, forward)}
	}
	return nil
}

// readMove adds an update, if it is on a path to the target.
func (m *model) readMove(x *Move, index map[string]int, applies map[string]Risk) {
	a, ok := index[x.From]
	b, ok2 := index[x.To]
	if !ok || !ok2 || a >= b || m.releases[b].stage > m.releases[a].stage+1 {
		return
	}
	e := move{from: a, to: b}
	for _, name := range x.Risks {
		r := applies[name]
		switch {
		case r.Applies == fairlead.ConditionFalse:
		case slices.Contains(m.Policy.Accept, name):
			e.taken = append(e.taken, name)
		case r.Applies == fairlead.ConditionTrue:
			text := "the risk " + name + " applies to this cluster and is not accepted"
			if r.Message != "" {
				text += ": " + clip(r.Message, 120)
			}
			e.risky = append(e.risky, m.once(FactRisk, name, text, acceptRisk(name)))
		default:
			e.unknown = append(e.unknown, name)
		}
	}
	m.readRefusal(x, &e)
	m.moves = append(m.moves, e)
}

// backwards says why an older patch release is no goal.
func (m *model) backwards() *fact {
	text := fmt.Sprintf("the cluster runs %s, and %s is older: OpenShift does not downgrade clusters", m.start, m.target)
	if refused := cvo.Preconditions(m.Situation.Cluster, cvo.Release{Version: m.target}); !slices.ContainsFunc(refused, func(p cvo.Precondition) bool { return p.Name == cvo.CheckRollback }) {
		text += "; as it is the previous release, the operator would accept OC_ENABLE_CMD_UPGRADE_ROLLBACK=true oc adm upgrade rollback, which is meant for tests: a newer patch release is the way"
	}
	return &fact{reason: FactOtherDirection, subject: m.target, text: text}
}

// noPath says why the graph has no path to the target, with the nearest
// reachable release.
func (m *model) noPath(out, in map[string][]string, forward map[string]bool) *fact {
	f := &fact{reason: FactNoPath, subject: m.target, text: fmt.Sprintf("there is no update path from %s to %s", m.start, m.target)}
	if in[m.target] == nil {
		f.text = fmt.Sprintf("no known release can be updated to %s", m.target)
	} else if out[m.start] == nil {
		f.text = fmt.Sprintf("no updates are available from %s, the current release", m.start)
	}
	if minor, ok := parseMinor(m.target); ok {
		if help := cvo.ChannelHelp(m.Situation.Cluster, minor.String()); help != "" {
			f.text += "; " + help
		}
	}
	var best release
	for name := range forward {
		v := semverx.Tolerant(name)
		if name != m.start && v.Compare(semverx.Tolerant(m.target)) < 0 && (best.name == "" || v.Compare(best.v) > 0) {
			best = release{name: name, v: v}
		}
	}
	if best.name != "" {
		f.fixes = append(f.fixes, fix{"SetGoal", best.name, "update to " + best.name + " instead, the closest release that can be reached", func(in *input) { in.Goal.Release, in.Goal.Minor, in.Goal.Newest = best.name, "", false }, costLoss})
	}
	return f
}

// maxMoves is the number of updates up to which all are left to the solver.
const maxMoves = 400

// prune keeps, in a large graph, the moves that are on a best path: one with
// the fewest unknown risks, and among those the fewest moves. No plan is worse
// for it, because any other path costs more by the first criteria, and allows
// nothing more: what operators and pools need depends on minor versions, which
// are the same on all paths. If every path has risks that apply, nothing is
// removed.
func (m *model) prune() {
	if len(m.moves) <= maxMoves {
		return
	}
	const far int64 = 1 << 40
	n := len(m.releases)
	cost := func(e *move) int64 {
		if len(e.risky) > 0 {
			return far
		}
		return int64(len(e.unknown))<<20 + 1
	}
	from, to := make([]int64, n), make([]int64, n)
	for i := range n {
		from[i], to[i] = far, far
	}
	place := func(name string) int {
		return slices.IndexFunc(m.releases, func(r release) bool { return r.name == name })
	}
	a, b := place(m.start), place(m.target)
	if a < 0 || b < 0 {
		return
	}
	from[a], to[b] = 0, 0
	byFrom := slices.Clone(m.moves)
	slices.SortFunc(byFrom, func(x, y move) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to)) })
	for i := range byFrom {
		e := &byFrom[i]
		from[e.to] = min(from[e.to], from[e.from]+cost(e))
	}
	for i := range byFrom {
		e := &byFrom[len(byFrom)-1-i]
		to[e.from] = min(to[e.from], to[e.to]+cost(e))
	}
	if from[b] >= far {
		return
	}
	m.moves = slices.DeleteFunc(m.moves, func(e move) bool { return from[e.from]+cost(&e)+to[e.to] > from[b] })
}
