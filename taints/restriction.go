package taints

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Annotations of a namespace that replace the cluster's [Restriction].
const (
	AnnotationDefaultTolerations   = "scheduler.alpha.kubernetes.io/defaultTolerations"   // a list of tolerations in JSON; empty means none
	AnnotationTolerationsWhitelist = "scheduler.alpha.kubernetes.io/tolerationsWhitelist" // the same; empty allows all
)

// Restriction is what the admission plugin PodTolerationRestriction of Kubernetes,
// which is off by default, does to the tolerations of new pods.
type Restriction struct {
	// Defaults are added to every pod.
	Defaults []fairlead.Toleration `json:"defaults,omitempty"`
	// Whitelist covers every toleration that a pod may have; empty allows all.
	Whitelist []fairlead.Toleration `json:"whitelist,omitempty"`
	// Source says where the whitelist is from: "namespace" or "cluster".
	Source string `json:"source,omitempty"`
}

// A RestrictionError says which tolerations of a pod no entry of a whitelist
// covers.
type RestrictionError struct {
	Pod         string                // such as pod/shop/web-0
	Source      string                // where the whitelist is from
	Tolerations []fairlead.Toleration // those that are not allowed, in the pod's order
}

// Error implements error.
func (e *RestrictionError) Error() string {
	lists := make([]string, len(e.Tolerations))
	for i, t := range e.Tolerations {
		lists[i] = t.String()
	}
	whose := ""
	if e.Source != "" {
		whose = " of the " + e.Source
	}
	return fmt.Sprintf("%s: the whitelist%s does not allow %s; drop them, or extend the whitelist", e.Pod, whose, strings.Join(lists, " and "))
}

// Apply returns the tolerations of a new pod: its own, the defaults, and that of
// memory pressure unless the pod is [BestEffort], without those that another one
// covers; or a [*RestrictionError]. The pod is not changed.
func (r *Restriction) Apply(p *fairlead.Pod, o *Options) ([]fairlead.Toleration, error) {
	more := slices.Clone(r.Defaults)
	if !BestEffort(p) {
		more = append(more, memoryPressureToleration())
	}
	list := MergeTolerations(p.Spec.Tolerations, more, o)
	if refused := notAllowed(list, r.Whitelist, o); len(refused) > 0 {
		return nil, &RestrictionError{podTitle(p), r.Source, refused}
	}
	return list, nil
}

// notAllowed returns the tolerations that no entry of a whitelist covers, in their
// order. An empty whitelist allows all.
func notAllowed(tolerations, whitelist []fairlead.Toleration, o *Options) []fairlead.Toleration {
	if len(whitelist) == 0 {
		return nil
	}
	var refused []fairlead.Toleration
	for _, t := range tolerations {
		if !slices.ContainsFunc(whitelist, func(w fairlead.Toleration) bool { return Covers(w, t, o) }) {
			refused = append(refused, t)
		}
	}
	return refused
}

// RestrictionOf returns the restriction of a namespace: defaults and whitelist are
// each those of its annotation, or the cluster's if it has none. The error is a
// [*ReadError] that names the annotation.
func RestrictionOf(namespace fairlead.ObjectMeta, cluster Restriction) (Restriction, error) {
	r := cluster
	r.Source = "cluster"
	for _, a := range []struct {
		name string
		list *[]fairlead.Toleration
	}{{AnnotationDefaultTolerations, &r.Defaults}, {AnnotationTolerationsWhitelist, &r.Whitelist}} {
		text, there := namespace.Annotations[a.name]
		if !there {
			continue
		}
		if a.list == &r.Whitelist {
			r.Source = "namespace"
		}
		*a.list = nil
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), a.list); err != nil {
			field, problem := object.Mismatch([]byte(text), a.list)
			if problem == "" {
				problem = "it is not a list of tolerations in JSON"
			}
			return Restriction{}, &ReadError{"namespace/" + namespace.Name, "metadata.annotations[" + a.name + "]" + field, problem}
		}
	}
	return r, nil
}
