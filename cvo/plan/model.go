package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// minor is a minor version, such as 4.19.
type minor struct{ major, minor int }

func (m minor) String() string { return fmt.Sprintf("%d.%d", m.major, m.minor) }

func (m minor) compare(n minor) int {
	return cmp.Or(cmp.Compare(m.major, n.major), cmp.Compare(m.minor, n.minor))
}

// skew is how many minor versions the nodes may be behind a control plane of m.
func (m minor) skew() int { return cvo.KubeletSkew(uint64(m.major), uint64(m.minor)) }

// kube is the minor version of Kubernetes in it: 4.19 has 1.32. It is zero if unknown.
func (m minor) kube() minor {
	if m.major != 4 {
		return minor{}
	}
	return minor{1, m.minor + 13}
}

// parseMinor reads the first two numbers of a version.
func parseMinor(text string) (minor, bool) {
	part := strings.SplitN(strings.TrimPrefix(text, "v"), ".", 3)
	if len(part) < 2 {
		return minor{}, false
	}
	last, _, _ := strings.Cut(part[1], "-")
	a, err := strconv.Atoi(part[0])
	b, err2 := strconv.Atoi(last)
	return minor{a, b}, err == nil && err2 == nil && a >= 0 && b >= 0
}

// model is the question in the terms of the encoding.
type model struct {
	*input
	start, target string
	goal          *fact   // the requested release
	stages        []minor // the minor versions that the cluster passes, from the one that runs
	releases      []release
	moves         []move
	gates         []adminGate
	crossings     map[int][]*fact // what forbids leaving a stage
	broken        []*fact         // what forbids every move
	pools         []pool
	master        []*fact  // what forbids every restart of the control plane
	members       []string // members that must be replaced first
	operators     []operator
	groups        [][]int             // of operators that require something of each other
	removed       map[string]*removed // by API
	drains        []drained
	facts         map[string]*fact // by text, see once
	budgets       []budget         // those that never allow an eviction
}

// release is a release that the cluster may pass.
type release struct {
	name  string
	v     semverx.Version
	stage int
}

// move is an update of the cluster between two releases, by their index.
type move struct {
	from, to  int
	unknown   []string // unevaluated risks
	taken     []string // risks that apply and are accepted
	risky     []*fact  // risks that apply and are not accepted
	signature string   // the command that stores the signature that the cluster lacks
}

// adminGate must be acknowledged before a stage is left.
type adminGate struct {
	name, text string
	stage      int
}

// pool is a pool of nodes.
type pool struct {
	name    string
	nodes   []string
	at      string // the release that its nodes run; empty if unknown
	stage   int    // of at
	paused  bool   // now
	control bool   // it is the control plane, which is never paused
	need    needs
	broken  []*fact // what forbids restarting its nodes
	rounds  int
	size    int  // how many may be down at a time
	unknown bool // it is unknown which release its nodes run
	first   bool // it must restart before the minor version changes
}

// runs reports whether the nodes of a pool need not restart for a release: they run it, or, if the
// cluster is at that release, a newer one, for example if an update was replaced by the next one
// before it was complete.
func (p *pool) runs(r *release, now bool) bool {
	return p.at == r.name || now && semverx.Tolerant(p.at).Compare(r.v) > 0
}

// needs are what must be done before nodes are drained.
type needs struct {
	budgets []int // indexes into model.budgets
	room    bool
}

// drained is a node that must be out of service.
type drained struct {
	node   string
	need   needs
	broken []*fact
	rounds int
	flags  drain.Flags
}

// budget is one that never allows an eviction.
type budget struct {
	name string // namespace/name
	fact *fact
	advice,
	command string
}

// operator is an installed operator and where it can go.
type operator struct {
	*Operator
	kept      bool
	installed int
	max       []minor // of each version: the last minor of the cluster; zero for no limit
	kube      []minor // of each: the first of Kubernetes; zero for any
	hops      []hop
	goal      string
	want      []bool          // of each: whether it meets the goal; nil without one
	byVersion []int           // the versions, the lowest first
	requires  [][]requirement // of each
}

// version is the index of a version by its name.
func (o *operator) version(name string) int {
	return slices.IndexFunc(o.Versions, func(v OperatorVersion) bool { return v.Name == name })
}

type hop struct {
	from, to int
	minors   []minor // nil: all
}

// newModel reads the question. Each of the returned facts alone rules out every plan.
func newModel(in *input, target string) (*model, []*fact) {
	m := &model{input: in, target: target, crossings: map[int][]*fact{}}
	m.start = in.Situation.Cluster.Runs()
	if m.target == "" {
		m.target = m.start
	}
	if m.hosted() && m.start != m.target {
		return nil, []*fact{notHosted(m.target)}
	}
	m.goal = &fact{reason: FactGoal, subject: m.target, text: "the goal is " + m.target, plain: true}
	first, ok := parseMinor(m.start)
	last, ok2 := parseMinor(m.target)
	if !ok || !ok2 {
		return nil, []*fact{{reason: FactNoVersion, text: fmt.Sprintf("%q or %q is not a version", m.start, m.target)}}
	}
	if last.compare(first) < 0 || first.major != last.major && m.start != m.target {
		why := "is older: OpenShift does not downgrade clusters"
		if last.major > first.major {
			why = "has another major version"
		}
		return nil, []*fact{{reason: FactOtherDirection, subject: m.target, text: fmt.Sprintf("the cluster runs %s, and %s %s", m.start, m.target, why)}}
	}
	if m.start != m.target && semverx.Tolerant(m.target).Compare(semverx.Tolerant(m.start)) < 0 {
		return nil, []*fact{m.backwards()}
	}
	for x := first; x.compare(last) <= 0; x.minor++ {
		m.stages = append(m.stages, x)
	}
	var bad []*fact
	if m.start != m.target {
		bad = append(bad, m.readMoves()...)
		m.readGates()
	} else {
		m.releases = []release{{name: m.start, v: semverx.Tolerant(m.start)}}
	}
	bad = append(bad, m.readOperators()...)
	if len(bad) > 0 {
		return nil, bad
	}
	m.readRequirements()
	m.readRemoved()
	bad = append(bad, m.readNodes()...)
	m.readMembers()
	if len(bad) > 0 {
		return nil, bad
	}
	if m.start != m.target {
		m.readReports()
	}
	return m, nil
}

// readGates finds the gates to acknowledge. Only those of the current minor version are known.
func (m *model) readGates() {
	if m.Situation.Gates == nil || len(m.stages) < 2 {
		return
	}
	for name, text := range m.Situation.Gates.Gates {
		rest, ok := strings.CutPrefix(name, "ack-")
		x, ok2 := parseMinor(rest)
		stage := slices.Index(m.stages[:len(m.stages)-1], x)
		if ok && ok2 && stage >= 0 && m.Situation.Gates.Acks[name] != "true" {
			m.gates = append(m.gates, adminGate{name, text, stage})
		}
	}
	slices.SortFunc(m.gates, func(a, b adminGate) int { return strings.Compare(a.name, b.name) })
}

// set changes the status of a condition.
func set(list []fairlead.Condition, kind string, to fairlead.ConditionStatus) {
	if c := fairlead.FindCondition(list, kind); c != nil {
		c.Status = to
	}
}

// readOperators finds where the installed operators can go.
func (m *model) readOperators() (bad []*fact) {
	for i := range m.Situation.Operators {
		o := operator{Operator: &m.Situation.Operators[i], installed: -1}
		o.kept = slices.Contains(m.Policy.KeepOperators, o.Package)
		index := map[string]int{}
		for k, v := range o.Versions {
			index[v.Name] = k
			last, _ := parseMinor(v.MaxOpenShift)
			kube, _ := parseMinor(v.MinKube)
			o.max, o.kube = append(o.max, last), append(o.kube, kube)
		}
		if k, ok := index[o.Installed]; ok {
			o.installed = k
		} else {
			bad = append(bad, &fact{reason: FactNotInVersions, subject: o.Package, text: fmt.Sprintf("the operator %s is installed at %s, which is missing from its versions; add it there", o.Package, o.Installed)})
			continue
		}
		for _, u := range o.Updates {
			a, ok := index[u.From]
			b, ok2 := index[u.To]
			if !ok || !ok2 || a == b || semverx.Tolerant(o.Versions[a].Version).Compare(semverx.Tolerant(o.Versions[b].Version)) >= 0 {
				continue
			}
			h := hop{from: a, to: b}
			for _, x := range u.Minors {
				if y, ok := parseMinor(x); ok {
					h.minors = append(h.minors, y)
				}
			}
			o.hops = append(o.hops, h)
		}
		m.operators = append(m.operators, o)
	}
	for _, g := range m.Goal.Operators {
		found := false
		for i := range m.operators {
			if o := &m.operators[i]; o.Package == g.Package {
				found = true
				o.goal, o.want = g.Version, make([]bool, len(o.Versions))
				any := false
				for k, v := range o.Versions {
					o.want[k] = v.Version == g.Version || v.Name == g.Version
					any = any || o.want[k]
				}
				if !any {
					bad = append(bad, &fact{reason: FactNoSuchVersion, subject: g.Package, text: fmt.Sprintf("the channel %s of the operator %s has no version %s", o.Channel, g.Package, g.Version)})
				}
			}
		}
		if !found {
			bad = append(bad, &fact{reason: FactNotInstalled, subject: g.Package, text: fmt.Sprintf("the goal requires the operator %s to be at %s, but it is not installed", g.Package, g.Version)})
		}
	}
	return bad
}

// runsNow returns which release the nodes of a pool run. If that is unknown, they are assumed to
// run the cluster's, and that is marked; if they are known to be updating, they do not.
func (m *model) runsNow(p *cvo.Pool) (at string, unknown bool) {
	if r := m.Situation.Configs[p.Status.Configuration.Name]; r != "" {
		return r, false
	}
	switch c := fairlead.FindCondition(p.Status.Conditions, rollout.ConditionUpdated); {
	case c == nil:
		return m.start, true
	case c.Status == fairlead.ConditionTrue:
		return m.start, p.Spec.Paused // a paused pool is at its last configuration
	}
	return "", false
}

// clip shortens a text.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return strings.TrimSuffix(text, ".")
}
