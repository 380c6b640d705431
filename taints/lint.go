package taints

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
)

// The codes of a [Finding].
const (
	LintInvalid   = "invalid"   // the API refuses it
	LintSeconds   = "seconds"   // tolerationSeconds with an effect that ignores them, which the API also refuses
	LintDead      = "dead"      // it matches no taint of the fleet, and none that the control plane sets
	LintDominated = "dominated" // another toleration makes it redundant
	LintOrder     = "order"     // how long a pod stays depends on the order of its tolerations
	LintWildcard  = "wildcard"  // the pod never leaves a node that has failed
	LintNumber    = "number"    // a value that Lt or Gt compares is not a number, so it never matches
	LintLoop      = "loop"      // the pod is placed on a node, evicted after a time, and may be placed there again
	LintMaster    = "master"    // a node of the control plane has a NoSchedule taint, but not the one of its role
	LintLeftover  = "leftover"  // whatever the taint stood for is over, and it was not removed
	LintTypo      = "typo"      // the key is nearly one that the control plane uses
	LintLimit     = "limit"     // there are too many tolerations to compare all of them
)

// Finding is something about taints or tolerations that is probably a mistake.
type Finding struct {
	Code   string `json:"code"`   // which of the kinds above
	Object string `json:"object"` // such as pod/shop/web-0; the first object with the finding
	// Others are the other objects, in the order of the cluster. If pods of one
	// controller have the same tolerations, only the first is named.
	Others  []string `json:"others,omitempty"`
	Also    int      `json:"also,omitempty"` // how many other objects there are, including those that are not named
	Field   string   `json:"field"`          // path in the object
	Problem string   `json:"problem"`        // what is probably wrong, and why
	Fix     string   `json:"fix,omitempty"`  // what to do
}

// String returns the finding as a line.
func (f Finding) String() string {
	s := f.Object
	if f.Also > 0 {
		s += fmt.Sprintf(" and %d more", f.Also)
	}
	s += ": " + f.Field + ": " + f.Code + ": " + f.Problem
	if f.Fix != "" {
		s += "; " + f.Fix
	}
	return s
}

// maxCompared is how many tolerations of a pod are compared with each other.
const maxCompared = 200

// Lint looks for taints and tolerations that are probably mistakes: nodes first,
// then pods, in the order of the cluster, and each by field. The same finding in
// several objects is reported once, at the first. A toleration is called dead only
// if there are nodes.
func Lint(c *Cluster, o *Options) []Finding {
	l := &linter{cluster: c, options: o, now: asOf(c), known: map[fairlead.Taint]bool{}, judged: map[fairlead.Toleration]death{}, found: map[[4]string]int{}}
	alike := map[string]bool{} // nodes with the same taints
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if key := taintKey(n); !alike[key] {
			alike[key] = true
			l.evicting(n)
		}
		l.object, l.also = nodeTitle(n), 0
		for _, f := range checkTaints(n.Spec.Taints, o) {
			l.invalid(f, LintInvalid)
		}
		l.master(n)
		l.leftover(n)
		for _, t := range n.Spec.Taints {
			l.know(t, n)
		}
		if n.Spec.Unschedulable {
			l.know(unschedulableTaint(), n)
		}
	}
	for _, g := range groups(c.Pods) {
		l.object, l.also = podTitle(g.first), g.size-1
		l.pod(g.first)
	}
	return l.findings
}

type linter struct {
	now      time.Time // when the cluster was read, as far as its nodes show; zero if they do not
	cluster  *Cluster
	options  *Options
	taints   []fleetTaint // each once
	known    map[fairlead.Taint]bool
	evict    []*fairlead.Node              // the first of each class of nodes with a taint of effect NoExecute
	judged   map[fairlead.Toleration]death // without seconds
	object   string
	also     int
	findings []Finding
	found    map[[4]string]int // index in findings, by finding
}

// fleetTaint is a taint with the first node that has it.
type fleetTaint struct {
	fairlead.Taint
	node *fairlead.Node
}

func (l *linter) know(t fairlead.Taint, n *fairlead.Node) {
	t.TimeAdded = nil
	if !l.known[t] {
		l.known[t] = true
		l.taints = append(l.taints, fleetTaint{t, n})
	}
}

// taintKey is equal for nodes with the same taints, in any order.
func taintKey(n *fairlead.Node) string {
	words := []string{fmt.Sprint(n.Spec.Unschedulable)}
	for _, t := range n.Spec.Taints {
		words = append(words, t.String())
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// evicting notes a node that evicts pods.
func (l *linter) evicting(n *fairlead.Node) {
	if slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Effect == fairlead.NoExecute }) {
		l.evict = append(l.evict, n)
	}
}

// master: the documentation asks that a control-plane node with a taint of effect
// NoSchedule also has the one of its role, which it has by default. Without it,
// pods that tolerate the new taint are scheduled to the control plane. Taints that
// controllers set do not count.
func (l *linter) master(n *fairlead.Node) {
	_, master := n.Labels[KeyMaster]
	_, plane := n.Labels[KeyControlPlane]
	if !master && !plane || Find(n.Spec.Taints, KeyMaster, fairlead.NoSchedule) != nil || !master && Find(n.Spec.Taints, KeyControlPlane, fairlead.NoSchedule) != nil {
		return
	}
	i := slices.IndexFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Effect == fairlead.NoSchedule && !systemKey(t.Key) })
	if i < 0 {
		return
	}
	role := KeyControlPlane
	if master {
		role = KeyMaster
	}
	want := fairlead.Taint{Key: role, Effect: fairlead.NoSchedule}
	l.add(LintMaster, taintField(i), fmt.Sprintf("%s is on a control-plane node that lacks %s: pods that tolerate only the former are scheduled there", n.Spec.Taints[i], want),
		"add it: "+shell.Command("kubectl taint node %s %s", n.Name, want.String()))
}

// death is why a toleration is called dead; without a problem it is not.
type death struct{ problem, fix string }

func (l *linter) add(code, field, problem, fix string) {
	key := [...]string{code, field, problem, fix}
	if at, found := l.found[key]; found {
		f := &l.findings[at]
		if last := len(f.Others) - 1; last < 0 && f.Object != l.object || last >= 0 && f.Others[last] != l.object {
			f.Others, f.Also = append(f.Others, l.object), f.Also+1+l.also
		}
		return
	}
	l.found[key] = len(l.findings)
	l.findings = append(l.findings, Finding{Code: code, Object: l.object, Also: l.also, Field: field, Problem: problem, Fix: fix})
}

func (l *linter) invalid(f *FieldError, code string) {
	problem := f.Problem
	if f.Value != "" {
		problem = fmt.Sprintf("%q: %s", f.Value, problem)
	}
	l.add(code, f.Field, problem, f.Fix)
}

// group is the pods of one controller with the same tolerations.
type group struct {
	first *fairlead.Pod
	size  int
}

// groups returns the pods in groups, in the order of their first pods.
func groups(pods []fairlead.Pod) []*group {
	var list []*group
	byName := map[string]*group{}
	for i := range pods {
		p := &pods[i]
		var name strings.Builder
		if owner := p.ControllerOf(); owner != nil {
			fmt.Fprintf(&name, "%q %q %q", p.Namespace, owner.Kind, owner.Name)
		} else {
			fmt.Fprintf(&name, "%q", p.ObjectMeta)
		}
		for _, t := range p.Spec.Tolerations {
			name.WriteString(t.String())
		}
		g := byName[name.String()]
		if g == nil {
			g = &group{first: p}
			byName[name.String()], list = g, append(list, g)
		}
		g.size++
	}
	return list
}

func (l *linter) pod(p *fairlead.Pod) {
	list := p.Spec.Tolerations
	for i := range list {
		var f findings
		f.toleration(tolerationField(i), &list[i], l.options)
		for _, e := range f {
			code := LintInvalid
			if list[i].TolerationSeconds != nil && strings.HasSuffix(e.Field, ".effect") && e.Code == CodeInvalid {
				code = LintSeconds
			}
			l.invalid(e, code)
		}
		if !stock(p) {
			l.dead(i, &list[i])
		}
		l.wildcard(p, i, &list[i])
		l.number(i, &list[i])
		l.compare(list, i)
	}
	if len(list) > maxCompared {
		l.add(LintLimit, "spec.tolerations", fmt.Sprintf("there are %d; only the first %d are compared with each other", len(list), maxCompared), "")
	}
	l.loop(p)
}

// dead looks for a purpose of the toleration.
func (l *linter) dead(i int, t *fairlead.Toleration) {
	if len(l.cluster.Nodes) == 0 || t.Key == "" || systemKey(t.Key) || !knownOperator(t) ||
		compares(t) && (!l.options.numbers() || valuesOf(t).none()) {
		return
	}
	same := *t
	same.TolerationSeconds = nil
	d, judged := l.judged[same]
	if !judged {
		d = l.matchless(same)
		l.judged[same] = d
	}
	if d.problem != "" {
		l.add(LintDead, tolerationField(i), t.String()+": "+d.problem, d.fix)
	}
}

// matchless looks for a taint that the toleration matches.
func (l *linter) matchless(t fairlead.Toleration) death {
	var alike *fleetTaint
	list := []fairlead.Toleration{t}
	for k := range l.taints {
		if FirstMatching(list, &l.taints[k].Taint, l.options) == 0 {
			return death{}
		}
		if alike == nil && l.taints[k].Key == t.Key {
			alike = &l.taints[k]
		}
	}
	d := death{"no node has a taint that it matches", "drop it, unless such nodes exist at times"}
	if alike != nil {
		d.problem += fmt.Sprintf("; node %s has %s", alike.node.Name, alike.Taint)
	} else if key := meant(t.Key, l.keys()); key != "" {
		d.fix = "write key: " + key + ", or drop it"
	}
	return d
}

func (l *linter) keys() []string {
	var keys []string
	for _, t := range l.taints {
		keys = append(keys, t.Key)
	}
	return keys
}

// wildcard: a pod that tolerates every NoExecute taint forever stays on a dead
// node. That is right for a daemon and for a static pod.
func (l *linter) wildcard(p *fairlead.Pod, i int, t *fairlead.Toleration) {
	owner := p.ControllerOf()
	bound := owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
	if bound || t.Key != "" || t.Operator != fairlead.TolerationExists || t.Effect != "" && t.Effect != fairlead.NoExecute || t.TolerationSeconds != nil {
		return
	}
	l.add(LintWildcard, tolerationField(i), t.String()+": it also tolerates not-ready and unreachable: the pod never leaves a node that has failed",
		"name the keys that are meant, or give the effect NoExecute tolerationSeconds")
}

// number checks the taints whose values the toleration compares.
func (l *linter) number(i int, t *fairlead.Toleration) {
	if !compares(t) || !l.options.numbers() || valuesOf(t).none() {
		return
	}
	for _, known := range l.taints {
		same := (t.Key == "" || t.Key == known.Key) && (t.Effect == "" || t.Effect == known.Effect)
		if m := operatorMismatch(t, &known.Taint, true); same && m.unreadable {
			l.add(LintNumber, tolerationField(i), fmt.Sprintf("%s: it never matches the taint %s of node %s: %s", t, known.Taint, known.node.Name, m.Problem),
				"give the taint a whole number")
		}
	}
}

// compare compares one toleration with those before it. If two match the same
// taint, the first counts, however long it lasts.
func (l *linter) compare(list []fairlead.Toleration, i int) {
	if i >= maxCompared {
		return
	}
	t := list[i]
	for j, before := range list[:i] {
		field := tolerationField(i)
		switch seconds := sameSeconds(before, t); {
		case !knownOperator(&before) || !knownOperator(&t) || !overlap(&before, &t):
		case !seconds && evictable(&before) && evictable(&t):
			l.add(LintOrder, field, fmt.Sprintf("%s: tolerations[%d] also matches taints that it matches, and lasts %s instead of %s; the first of them counts",
				t, j, lasting(before), lasting(t)), "keep the one that is meant, or make their keys or values differ")
			return
		case Covers(before, t, l.options):
			l.add(LintDominated, field, fmt.Sprintf("%s: tolerations[%d] matches every taint that it matches", t, j), "drop it")
			return
		case Covers(t, before, l.options):
			l.add(LintDominated, tolerationField(j), fmt.Sprintf("%s: tolerations[%d] matches every taint that it matches", before, i), "drop it")
			return
		}
	}
}

// loop looks for nodes where the pod would be placed and evicted again and again.
func (l *linter) loop(p *fairlead.Pod) {
	for _, n := range l.evict {
		if !Evaluate(p, n, l.options).Schedulable() {
			continue
		}
		for _, t := range n.Spec.Taints {
			if systemKey(t.Key) {
				continue // it comes and goes with the node's state; see leftover
			}
			at := FirstMatching(p.Spec.Tolerations, &t, l.options)
			if t.Effect != fairlead.NoExecute || at < 0 || p.Spec.Tolerations[at].TolerationSeconds == nil {
				continue
			}
			l.add(LintLoop, tolerationField(at), fmt.Sprintf("node %s has the taint %s, and no taint that keeps the pod off: it is scheduled there, evicted after %s, and may be scheduled there again",
				n.Name, t, lasting(p.Spec.Tolerations[at])), "put "+fairlead.Taint{Key: t.Key, Value: t.Value, Effect: fairlead.NoSchedule}.String()+" on the node as well, or tolerate the taint without tolerationSeconds")
			return
		}
	}
}

// evictable reports whether the toleration matters for evictions.
func evictable(t *fairlead.Toleration) bool { return t.Effect == "" || t.Effect == fairlead.NoExecute }

// knownOperator reports whether the operator is known; validation reports the
// others.
func knownOperator(t *fairlead.Toleration) bool {
	return t.Operator == "" || t.Operator == fairlead.TolerationEqual || t.Operator == fairlead.TolerationExists || compares(t)
}

func sameSeconds(a, b fairlead.Toleration) bool {
	if a.TolerationSeconds == nil || b.TolerationSeconds == nil {
		return a.TolerationSeconds == b.TolerationSeconds
	}
	return max(*a.TolerationSeconds, 0) == max(*b.TolerationSeconds, 0)
}

func lasting(t fairlead.Toleration) string {
	if t.TolerationSeconds == nil {
		return "forever"
	}
	return fmt.Sprintf("%d s", max(*t.TolerationSeconds, 0))
}
