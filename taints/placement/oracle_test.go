package placement_test

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/placement"
)

// oracle decides by the definitions alone: it visits all nodes and pods for each
// question, and caches nothing.
type oracle struct {
	nodes      []*fairlead.Node
	pods       []*fairlead.Pod
	namespaces map[string]map[string]string
}

func (o *oracle) on(name string) (all []*fairlead.Pod) {
	for _, p := range o.pods {
		if p.Spec.NodeName == name && !p.Finished() {
			all = append(all, p)
		}
	}
	return all
}

func (o *oracle) fits(p *fairlead.Pod, n *fairlead.Node) (no []placement.Filter) {
	judge := func(f placement.Filter, ok bool) {
		if !ok {
			no = append(no, f)
		}
	}
	cordon := fairlead.Taint{Key: "node.kubernetes.io/unschedulable", Effect: fairlead.NoSchedule}
	judge(placement.NodeUnschedulable, !n.Spec.Unschedulable || slices.ContainsFunc(p.Spec.Tolerations, func(t fairlead.Toleration) bool { return t.Tolerates(cordon) }))
	judge(placement.TaintToleration, o.tolerates(p, n))
	judge(placement.NodeAffinity, wants(p, n))
	judge(placement.NodePorts, o.portsFree(p, n))
	judge(placement.NodeResources, o.room(p, n))
	judge(placement.TopologySpread, o.even(p, n))
	judge(placement.InterPodAffinity, o.company(p, n))
	return no
}

func (o *oracle) tolerates(p *fairlead.Pod, n *fairlead.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect != fairlead.PreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(x fairlead.Toleration) bool { return x.Tolerates(t) }) {
			return false
		}
	}
	return true
}

func wants(p *fairlead.Pod, n *fairlead.Node) bool {
	for k, v := range p.Spec.NodeSelector {
		if got, ok := n.Labels[k]; !ok || got != v {
			return false
		}
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.Required == nil {
		return true
	}
	for _, t := range a.NodeAffinity.Required.Terms {
		good := len(t.MatchExpressions)+len(t.MatchFields) > 0
		for _, r := range t.MatchExpressions {
			v, ok := n.Labels[r.Key]
			good = good && meets(r, v, ok)
		}
		for _, r := range t.MatchFields {
			good = good && meets(r, n.Name, true)
		}
		if good {
			return true
		}
	}
	return false
}

func meets(r fairlead.NodeRequirement, value string, there bool) bool {
	switch r.Operator {
	case "In":
		return there && slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value) || !there
	case "Exists":
		return there
	case "DoesNotExist":
		return !there
	}
	v, err := strconv.Atoi(value)
	bound, _ := strconv.Atoi(r.Values[0])
	return err == nil && (r.Operator == "Gt" && v > bound || r.Operator == "Lt" && v < bound)
}

func (o *oracle) portsFree(p *fairlead.Pod, n *fairlead.Node) bool {
	type taken struct {
		ip, proto string
		port      int32
	}
	of := func(p *fairlead.Pod) (all []taken) {
		for _, c := range p.Spec.Containers {
			for _, x := range c.Ports {
				t := taken{x.HostIP, x.Protocol, x.HostPort}
				if t.proto == "" {
					t.proto = "TCP"
				}
				if t.port > 0 {
					all = append(all, t)
				}
			}
		}
		return all
	}
	wild := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	for _, q := range o.on(n.Name) {
		for _, a := range of(p) {
			for _, b := range of(q) {
				if a.port == b.port && a.proto == b.proto && (a.ip == b.ip || wild(a.ip) || wild(b.ip)) {
					return false
				}
			}
		}
	}
	return true
}

// rat is a quantity as a fraction.
func rat(s string) *big.Rat {
	units := map[string]int64{"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "k": 1000, "M": 1000000}
	for suffix, by := range units {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			r, _ := new(big.Rat).SetString(number)
			return r.Mul(r, new(big.Rat).SetInt64(by))
		}
	}
	if number, ok := strings.CutSuffix(s, "m"); ok {
		r, _ := new(big.Rat).SetString(number)
		return r.Mul(r, big.NewRat(1, 1000))
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func ceil(r *big.Rat) int64 {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// asks returns how much of a resource a pod requests, in thousandths of cpu or
// whole units.
func asks(p *fairlead.Pod, resource string) int64 {
	of := func(c fairlead.Container) *big.Rat {
		if s, ok := c.Resources.Requests[resource]; ok {
			return rat(s)
		}
		return new(big.Rat)
	}
	total, beside, most := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, c := range p.Spec.Containers {
		total.Add(total, of(c))
	}
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			beside.Add(beside, of(c))
			total.Add(total, of(c))
			if most.Cmp(beside) < 0 {
				most.Set(beside)
			}
		} else if turn := new(big.Rat).Add(of(c), beside); most.Cmp(turn) < 0 {
			most.Set(turn)
		}
	}
	if total.Cmp(most) < 0 {
		total.Set(most)
	}
	if s, ok := p.Spec.Overhead[resource]; ok {
		total.Add(total, rat(s))
	}
	if resource == "cpu" {
		total.Mul(total, big.NewRat(1000, 1))
	}
	return ceil(total)
}

func (o *oracle) room(p *fairlead.Pod, n *fairlead.Node) bool {
	slots, ok := n.Status.Allocatable["pods"]
	if !ok || int64(len(o.on(n.Name))) >= ceil(rat(slots)) {
		return false
	}
	for _, resource := range resources {
		want := asks(p, resource)
		if want == 0 {
			continue
		}
		have := int64(0)
		if s, ok := n.Status.Allocatable[resource]; ok {
			r := rat(s)
			if resource == "cpu" {
				r.Mul(r, big.NewRat(1000, 1))
			}
			have = ceil(r)
		}
		for _, q := range o.on(n.Name) {
			have -= asks(q, resource)
		}
		if want > have {
			return false
		}
	}
	return true
}

func (o *oracle) even(p *fairlead.Pod, n *fairlead.Node) bool {
	var hard []fairlead.SpreadConstraint
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == fairlead.DoNotSchedule {
			hard = append(hard, c)
		}
	}
	matches := func(c fairlead.SpreadConstraint, q *fairlead.Pod) bool {
		if c.LabelSelector == nil || !c.LabelSelector.Matches(q.Labels) {
			return false
		}
		for _, key := range c.MatchLabelKeys {
			if v, ok := p.Labels[key]; ok {
				if got, ok := q.Labels[key]; !ok || got != v {
					return false
				}
			}
		}
		return true
	}
	for _, c := range hard {
		everything := c.LabelSelector.Empty() && !slices.ContainsFunc(c.MatchLabelKeys, func(k string) bool { _, ok := p.Labels[k]; return ok })
		have := map[string]int{}
		for _, x := range o.nodes {
			if slices.ContainsFunc(hard, func(d fairlead.SpreadConstraint) bool { _, ok := x.Labels[d.TopologyKey]; return !ok }) ||
				c.NodeAffinityPolicy != "Ignore" && !wants(p, x) || c.NodeTaintsPolicy == "Honor" && !o.tolerates(p, x) {
				continue
			}
			have[x.Labels[c.TopologyKey]] += 0
			for _, q := range o.on(x.Name) {
				if q.Namespace == p.Namespace && q.DeletionTimestamp == nil && matches(c, q) && !everything {
					have[x.Labels[c.TopologyKey]]++
				}
			}
		}
		least, first := 0, true
		for _, v := range have {
			if first || v < least {
				least, first = v, false
			}
		}
		wanted := 1
		if c.MinDomains != nil {
			wanted = int(*c.MinDomains)
		}
		if len(have) < wanted {
			least = 0
		}
		value, ok := n.Labels[c.TopologyKey]
		self := 0
		if matches(c, p) {
			self = 1
		}
		if !ok || have[value]+self-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

func (o *oracle) means(t fairlead.PodAffinityTerm, owner, q *fairlead.Pod) bool {
	in := slices.Contains(t.Namespaces, q.Namespace)
	if t.NamespaceSelector != nil {
		in = in || t.NamespaceSelector.Matches(o.namespaces[q.Namespace])
	} else if len(t.Namespaces) == 0 {
		in = q.Namespace == owner.Namespace
	}
	return in && t.LabelSelector != nil && t.LabelSelector.Matches(q.Labels)
}

func required(a *fairlead.Affinity, anti bool) []fairlead.PodAffinityTerm {
	if a == nil {
		return nil
	}
	side := a.PodAffinity
	if anti {
		side = a.PodAntiAffinity
	}
	if side == nil {
		return nil
	}
	return side.Required
}

func (o *oracle) company(p *fairlead.Pod, n *fairlead.Node) bool {
	near := required(p.Spec.Affinity, false)
	meansAll := func(q *fairlead.Pod) bool {
		for _, t := range near {
			if !o.means(t, p, q) {
				return false
			}
		}
		return true
	}
	// together reports whether one of those pods is in the same domain as the
	// node.
	together := func(key string, is func(q *fairlead.Pod) bool) bool {
		value, ok := n.Labels[key]
		for _, x := range o.nodes {
			if other, has := x.Labels[key]; ok && has && other == value && slices.ContainsFunc(o.on(x.Name), is) {
				return true
			}
		}
		return false
	}
	satisfied, anywhere := true, false
	for _, t := range near {
		if _, ok := n.Labels[t.TopologyKey]; !ok {
			return false
		}
		satisfied = satisfied && together(t.TopologyKey, meansAll)
		for _, x := range o.nodes {
			if _, ok := x.Labels[t.TopologyKey]; ok && slices.ContainsFunc(o.on(x.Name), meansAll) {
				anywhere = true
			}
		}
	}
	if !satisfied && (anywhere || !meansAll(p)) {
		return false
	}
	for _, t := range required(p.Spec.Affinity, true) {
		if together(t.TopologyKey, func(q *fairlead.Pod) bool { return o.means(t, p, q) }) {
			return false
		}
	}
	for _, x := range o.nodes {
		for _, q := range o.on(x.Name) {
			for _, t := range required(q.Spec.Affinity, true) {
				a, ok := x.Labels[t.TopologyKey]
				b, has := n.Labels[t.TopologyKey]
				if ok && has && a == b && o.means(t, q, p) {
					return false
				}
			}
		}
	}
	return true
}
