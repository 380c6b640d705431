package placement

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
)

// class is what pods with the same requirements have in common. The pods of a
// workload belong to one class, so that everything is counted only once for all
// of them.
type class struct {
	namespace string
	labels    map[string]string
	spec      *fairlead.PodSpec // of the first pod of the class; only its requirements are used
	err       error             // why it cannot be evaluated; then it fits nowhere
	asks      []ask
	demand    map[string]int64 // the same by name; made on first use
	ports     []port
	claims    claims
	near      []term // all of which must have a pod near
	away      []term // none of which may have a pod near
	spread    []spread
	counts    counts
	members   map[*placed]struct{} // pods of the class
	changes   []change             // of members, since the epoch began
	begin     int                  // the first node that pods of the class may fit on; see Cluster.First
	freed     int                  // how many of Cluster.freed begin takes into account
	freedOf   int                  // Cluster.freedOf at that time
	static    []int8               // by node: 0 if not evaluated yet, else 1 + what Cluster.judge returns
}

// ask is how much of a resource a pod requests.
type ask struct {
	resource int // in Cluster.resources
	amount   int64
}

// term is one requirement on the pods nearby.
type term struct {
	selector   *fairlead.LabelSelector
	namespaces []string
	labelled   *fairlead.LabelSelector // namespaces by their labels; nil adds none
	key        string                  // of the label that defines what is near
}

// spread is one bound on how unevenly pods are spread.
type spread struct {
	*fairlead.SpreadConstraint
	selector *fairlead.LabelSelector
	self     int  // 1 if the pod counts itself
	least    int  // minDomains
	all      bool // the selector has no requirements
}

// newClass reads the requirements of a pod.
func (c *Cluster) newClass(p *fairlead.Pod) *class {
	k := &class{namespace: p.Namespace, labels: p.Labels, spec: &p.Spec, ports: ports(&p.Spec), members: map[*placed]struct{}{}}
	if s := c.options.Storage; s != nil {
		k.claims = s.read(p.Namespace, &p.Spec)
	}
	requests, err := Requests(p)
	if err != nil {
		k.err = err
		return k
	}
	for name, a := range requests {
		if n := counted(name, a); n != 0 {
			k.asks = append(k.asks, ask{c.resource(name), n})
		}
	}
	slices.SortFunc(k.asks, func(a, b ask) int { return a.resource - b.resource })
	if a := p.Spec.Affinity; a != nil {
		k.near = k.terms("podAffinity", a.PodAffinity)
		k.away = k.terms("podAntiAffinity", a.PodAntiAffinity)
	}
	for i := range p.Spec.TopologySpreadConstraints {
		k.addSpread(&p.Spec.TopologySpreadConstraints[i], fmt.Sprintf("spec.topologySpreadConstraints[%d]", i))
	}
	return k
}

func (k *class) terms(kind string, a *fairlead.PodAffinity) []term {
	if a == nil {
		return nil
	}
	var all []term
	for i := range a.Required {
		r := &a.Required[i]
		for _, s := range []*fairlead.LabelSelector{r.LabelSelector, r.NamespaceSelector} {
			if err := s.Check(); err != nil && k.err == nil {
				k.err = fmt.Errorf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]: %w", kind, i, err)
			}
		}
		t := term{selector: r.LabelSelector, namespaces: r.Namespaces, labelled: r.NamespaceSelector, key: r.TopologyKey}
		if len(t.namespaces) == 0 && t.labelled == nil {
			t.namespaces = []string{k.namespace}
		}
		all = append(all, t)
	}
	return all
}

// matches reports whether a term matches pods with these labels, in a namespace
// with these labels.
func (t *term) matches(namespace string, namespaceLabels, labels map[string]string) bool {
	return t.selector != nil && (slices.Contains(t.namespaces, namespace) || t.labelled != nil && t.labelled.Matches(namespaceLabels)) &&
		t.selector.Matches(labels)
}

func (k *class) addSpread(c *fairlead.SpreadConstraint, path string) {
	if c.WhenUnsatisfiable != fairlead.DoNotSchedule {
		return
	}
	if err := c.LabelSelector.Check(); err != nil && k.err == nil {
		k.err = fmt.Errorf("%s: %w", path, err)
	}
	s := spread{SpreadConstraint: c, selector: c.LabelSelector, least: 1}
	if c.MinDomains != nil {
		s.least = int(*c.MinDomains)
	}
	if c.LabelSelector != nil {
		s.selector = withKeys(c.LabelSelector, c.MatchLabelKeys, k.labels)
		s.all = s.selector.Empty()
		if s.selector.Matches(k.labels) {
			s.self = 1
		}
	}
	k.spread = append(k.spread, s)
}

// withKeys returns the selector with the pod's own values of labels as further
// requirements.
func withKeys(s *fairlead.LabelSelector, keys []string, labels map[string]string) *fairlead.LabelSelector {
	out := *s
	out.MatchExpressions = slices.Clone(s.MatchExpressions)
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			out.MatchExpressions = append(out.MatchExpressions, fairlead.SelectorRequirement{Key: key, Operator: fairlead.SelectorIn, Values: []string{value}})
		}
	}
	return &out
}

// means reports whether a constraint of class k counts pods of class x that are
// not being deleted, wherever they are. A selector without requirements counts
// no other pods, but it counts the pod itself, as in the scheduler.
func (s *spread) means(k, x *class) bool {
	return s.selector != nil && !s.all && x.namespace == k.namespace && s.selector.Matches(x.labels)
}
