package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// requirement is what a version of an operator needs from others, and who provides it:
// the versions of each other operator of its namespace that do, by its index.
type requirement struct {
	Requirement
	text    string
	bad     bool // it cannot be read
	lacking bool // the installed version has it, and nothing provides it now
	by      map[int][]bool
}

// removed is an API that is no longer served from a stage on.
type removed struct {
	*RemovedAPI
	stage   int
	clients []string // who must use something else
}

// readRemoved finds the APIs that are removed on the path.
func (m *model) readRemoved() {
	m.removed = map[string]*removed{}
	for i := range m.Situation.Removed {
		a := &m.Situation.Removed[i]
		in, ok := parseMinor(a.In)
		stage := slices.IndexFunc(m.stages, func(x minor) bool { return ok && x.kube() != minor{} && x.kube().compare(in) >= 0 })
		if stage <= 0 {
			continue // it stays, or is already gone
		}
		r := &removed{RemovedAPI: a, stage: stage}
		for _, u := range a.Users {
			if !m.ownUse(u, a.API) && !slices.Contains(r.clients, u) {
				r.clients = append(r.clients, u)
			}
		}
		slices.Sort(r.clients)
		m.removed[a.API] = r
	}
}

// ownUse reports whether a client is an installed operator that is known to use an
// API: then its version counts.
func (m *model) ownUse(user, api string) bool {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	namespace, _, _ := strings.Cut(rest, ":")
	return ok && slices.ContainsFunc(m.operators, func(o operator) bool {
		return o.Namespace == namespace && slices.Contains(o.Versions[o.installed].Uses, api)
	})
}

// readRequirements finds which operators depend on which.
func (m *model) readRequirements() {
	for i := range m.operators {
		o := &m.operators[i]
		o.byVersion = make([]int, len(o.Versions))
		for k := range o.byVersion {
			o.byVersion[k] = k
		}
		slices.SortStableFunc(o.byVersion, func(a, b int) int {
			return semverx.Tolerant(o.Versions[a].Version).Compare(semverx.Tolerant(o.Versions[b].Version))
		})
	}
	at := make([]int, len(m.operators))
	for i := range m.operators {
		at[i] = m.operators[i].installed
	}
	for i := range m.operators {
		o := &m.operators[i]
		o.requires = make([][]requirement, len(o.Versions))
		for k, v := range o.Versions {
			for _, r := range v.Requires {
				if r.API != "" && slices.Contains(v.Provides, r.API) {
					continue // its own
				}
				q := m.requirement(i, &r)
				q.lacking = k == o.installed && !q.met(at)
				o.requires[k] = append(o.requires[k], q)
			}
		}
	}
	m.group()
}

// requirement finds who provides what an operator requires. Nothing meets a range that
// cannot be read.
func (m *model) requirement(i int, r *Requirement) requirement {
	q := requirement{Requirement: *r, by: map[int][]bool{}}
	var in *semverx.Range
	switch {
	case r.Package != "" && r.Range != "":
		q.text = fmt.Sprintf("the package %s in the range %s", r.Package, r.Range)
		var err error
		if in, err = semverx.ParseRange(r.Range); err != nil {
			q.text, q.bad = fmt.Sprintf("the package %s in a range that cannot be read: %v", r.Package, err), true
			return q
		}
	case r.Package != "":
		q.text = "the package " + r.Package
	default:
		q.text = "the API " + r.API
	}
	for k := range m.operators {
		p := &m.operators[k]
		if k == i || p.Namespace != m.operators[i].Namespace || r.Package != "" && p.Package != r.Package {
			continue
		}
		good, some := make([]bool, len(p.Versions)), false
		for n, v := range p.Versions {
			good[n] = r.Package != "" && (in == nil || in.Contains(semverx.Tolerant(v.Version))) || r.Package == "" && slices.Contains(v.Provides, r.API)
			some = some || good[n]
		}
		if some || r.Package != "" {
			q.by[k] = good
		}
	}
	return q
}

// met reports whether the requirement is met by operators at the given versions.
func (q *requirement) met(at []int) bool {
	for i, good := range q.by {
		if good[at[i]] {
			return true
		}
	}
	return false
}

// group groups operators that require something of each other.
func (m *model) group() {
	of := make([]int, len(m.operators))
	for i := range of {
		of[i] = i
	}
	for i := range m.operators {
		for _, list := range m.operators[i].requires {
			for _, q := range list {
				for k := range q.by {
					a, b := min(of[i], of[k]), max(of[i], of[k])
					for j := range of {
						if of[j] == b {
							of[j] = a
						}
					}
				}
			}
		}
	}
	for i := range m.operators {
		if of[i] != i {
			continue
		}
		var list []int
		for k := range of {
			if of[k] == i {
				list = append(list, k)
			}
		}
		m.groups = append(m.groups, list)
	}
}

// maxTimes is how many constraints on the times of operators a part may have at a
// minor version.
const maxTimes = 4_000_000

// tooMany reports an error if too many operators require something of each other.
func (m *model) tooMany() error {
	for _, group := range m.groups {
		pairs, triples := 0, 0
		for a := range group {
			for b := range group {
				n := len(m.operators[group[a]].Versions) * len(m.operators[group[b]].Versions)
				if a != b {
					pairs += n
				}
				for c := range group {
					if a != b && b != c && a != c {
						triples += n * len(m.operators[group[c]].Versions)
					}
				}
			}
			if pairs+triples > maxTimes {
				return &fairlead.InputLimitError{What: fmt.Sprintf("constraints on %s that require something of each other", words.Count(len(group), "operator", "operators")), Max: maxTimes}
			}
		}
	}
	return nil
}

// untie returns an order in which the hops of one install plan can be taken one by
// one, as far as there is one; the rest is taken together. at is where operators are.
func (m *model) untie(hops []choice, at []int) (groups [][]choice) {
	index := func(h choice) int { return m.operators[h.index].version(h.to) }
	for len(hops) > 1 {
		i := slices.IndexFunc(hops, func(h choice) bool {
			next := slices.Clone(at)
			next[h.index] = index(h)
			return m.allowed(at, next)
		})
		if i < 0 {
			break
		}
		at[hops[i].index] = index(hops[i])
		groups = append(groups, hops[i:i+1:i+1])
		hops = slices.Concat(hops[:i], hops[i+1:])
	}
	for _, h := range hops {
		at[h.index] = index(h)
	}
	return append(groups, hops)
}

// allowed reports whether operators may move to other versions in one install plan:
// those that move then have what they require, and those that stay lose nothing that
// they require.
func (m *model) allowed(at, next []int) bool {
	for i := range m.operators {
		for _, q := range m.operators[i].requires[next[i]] {
			if !q.met(next) && (at[i] != next[i] || q.met(at)) {
				return false
			}
		}
	}
	return true
}

// removal is the advice to remove an operator, together with those that require it.
func (m *model) removal(o *Operator) fix {
	gone := map[int]bool{}
	at := make([]int, len(m.operators))
	for i := range m.operators {
		at[i] = m.operators[i].installed
		if m.operators[i].Operator == o {
			gone[i] = true
		}
	}
	for more := true; more; {
		more = false
		for i := range m.operators {
			for _, q := range m.operators[i].requires[at[i]] {
				left := maps.Clone(q.by)
				maps.DeleteFunc(left, func(k int, _ []bool) bool { return gone[k] })
				if !gone[i] && !q.lacking && !(&requirement{by: left}).met(at) {
					gone[i], more = true, true
				}
			}
		}
	}
	var others []string
	drop := map[string]bool{o.Namespace + "/" + o.Package: true}
	for _, i := range slices.Sorted(maps.Keys(gone)) {
		if x := m.operators[i].Operator; x != o {
			others = append(others, x.Package)
			drop[x.Namespace+"/"+x.Package] = true
		}
	}
	what := "remove the operator " + o.Package
	if o.Package == o.Installed {
		what = "delete the CSV " + o.Namespace + "/" + o.Installed
	}
	if o.Subscription != "" {
		what = "remove the subscription " + o.Namespace + "/" + o.Subscription + " and its operator " + o.Package
	}
	if len(others) > 0 {
		what += ", and " + words.List(others, "and", 3) + ", which " + words.Plural(len(others), "depends", "depend") + " on it"
	}
	return fix{"RemoveOperator", o.Namespace + "/" + o.Package, what + ", if nothing needs it", func(in *input) {
		in.Situation.Operators = slices.DeleteFunc(in.Situation.Operators, func(x Operator) bool { return drop[x.Namespace+"/"+x.Package] })
		in.Goal.Operators = slices.DeleteFunc(in.Goal.Operators, func(x OperatorGoal) bool {
			return !slices.ContainsFunc(in.Situation.Operators, func(o Operator) bool { return o.Package == x.Package })
		})
	}, costLoss}
}

// The facts about them.

func (m *model) requires(o *operator, k int, q *requirement) *fact {
	text := fmt.Sprintf("%s of the operator %s requires %s", o.Versions[k].Name, o.Package, q.text)
	if len(q.by) > 0 || q.bad {
		return m.once(FactRequires, o.Versions[k].Name, text, m.removal(o.Operator))
	}
	where := cmp.Or(o.Namespace, "its namespace")
	install := fix{"InstallProvider", q.text, "install an operator in " + where + " that provides " + q.text, func(in *input) {
		for i := range in.Situation.Operators {
			for v := range in.Situation.Operators[i].Versions {
				x := &in.Situation.Operators[i].Versions[v]
				x.Requires = slices.DeleteFunc(x.Requires, func(r Requirement) bool { return r == q.Requirement })
			}
		}
	}, costWork}
	return m.once(FactRequires, o.Versions[k].Name, text+", and nothing installed in "+where+" provides it", install, m.removal(o.Operator))
}

func (m *model) uses(o *operator, k int, a *removed) *fact {
	return m.once(FactUsesRemovedAPI, o.Versions[k].Name, fmt.Sprintf("%s uses %s, which OpenShift %s removes", o.Versions[k].Name, a.API, m.stages[a.stage]), m.removal(o.Operator))
}
