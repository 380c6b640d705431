package snapshot

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// hint is what the path of a file says about its content.
type hint struct {
	kind      *kind
	namespace string // the list in the file is complete for this namespace
	whole     bool   // the directory has every object of the kind
	partial   bool   // the file is from a layout that has only some objects of the kind
	alerts    bool   // the file has alerts
}

// hintOf reads the path of a file, with slashes, in one of the layouts:
//
//	cluster-scoped-resources/GROUP/RESOURCE[/NAME].yaml        oc adm inspect, and so must-gather
//	namespaces/NS/GROUP/RESOURCE[/NAME].yaml                   likewise
//	namespaces/NS/pods/POD/POD.yaml                            likewise
//	config/node/NAME.json, config/pod/NS/NAME.json             insights archives
//	NS/RESOURCE.json, RESOURCE.json                            kubectl cluster-info dump
//	cluster-resources/RESOURCE.json, RESOURCE/NS.json          support bundles
//	alerts.json, prometheus/rules.json                         must-gather
func hintOf(name string) hint {
	parts := strings.Split(strings.TrimSuffix(name, path.Ext(name)), "/")
	last := len(parts) - 1
	if parts[last] == "alerts" || last > 0 && parts[last-1] == "prometheus" && parts[last] == "rules" {
		return hint{alerts: true}
	}
	at := func(i int) string {
		if i < 0 || i > last {
			return ""
		}
		return parts[i]
	}
	for i, p := range parts {
		switch {
		case p == "cluster-scoped-resources" && i+2 <= last:
			k := inGroup(at(i+1), at(i+2))
			return hint{kind: k, whole: true}
		case p == "namespaces" && last == i+3: // namespaces/NS/GROUP/RESOURCE
			if k := inGroup(at(i+2), at(i+3)); k != nil {
				return hint{kind: k, namespace: at(i + 1)}
			}
		case p == "namespaces" && i+3 <= last:
			return hint{kind: inGroup(at(i+2), at(i+3)), partial: true}
		case p == "config" && i+1 == last && parts[last] == "version":
			return hint{kind: byName["ClusterVersion"]}
		case p == "config" && i+2 <= last:
			if k := insights[at(i+1)]; k != "" {
				return hint{kind: byName[k], whole: k != "Pod" && k != "PodDisruptionBudget", partial: true}
			}
		}
	}
	if k := plural(at(last)); k != nil {
		return hint{kind: k}
	}
	if k := plural(at(last - 1)); k != nil {
		if !k.namespaced || slices.Contains(parts, "custom-resources") {
			return hint{kind: k}
		}
		return hint{kind: k, namespace: at(last)}
	}
	return hint{}
}

// insights are the kinds of an insights archive, by the directory below config.
var insights = map[string]string{
	"node": "Node", "pod": "Pod", "clusteroperator": "ClusterOperator", "machineconfigpools": "MachineConfigPool", "machineconfigs": "MachineConfig",
	"pdbs": "PodDisruptionBudget", "machines": "Machine", "machinesets": "MachineSet", "machinehealthchecks": "MachineHealthCheck",
}

// plural returns the kind with a plural, written with or without dashes; nil for another word.
func plural(word string) *kind {
	return byPlural[strings.ReplaceAll(word, "-", "")]
}

// inGroup returns the kind of a resource in a directory named after its group, where the
// core group is core.
func inGroup(group, resource string) *kind {
	k := byPlural[resource]
	if k == nil {
		return nil
	}
	if group == "core" {
		group = ""
	}
	if !slices.Contains(k.groups, group) {
		return nil
	}
	return k
}

// looked records that a list was read; spaces are the namespaces of its objects, and many says that
// the objects of other kinds in the same list are of several.
func (f *file) looked(l table, spaces map[string]bool, many bool, where Position, cursor string) {
	s := l.scope()
	if cursor != "" {
		s.Gaps = append(s.Gaps, Gap{Where: where, Why: "the list was cut off: it has a continue token"})
	}
	named := "" // the namespace that the objects and the path share
	if len(spaces) <= 1 {
		for n := range spaces {
			named = n
		}
		dir, base := path.Split(strings.TrimSuffix(f.name, path.Ext(f.name)))
		if named != "" && named != base && named != path.Base(dir) {
			named = ""
		}
	}
	switch {
	case f.hint.partial:
	case f.hint.namespace != "" && (len(spaces) == 0 || len(spaces) == 1 && spaces[f.hint.namespace]):
		s.Namespaces = append(s.Namespaces, f.hint.namespace)
	case named != "":
		s.Namespaces = append(s.Namespaces, named)
	default:
		assumed := !f.hint.whole && len(spaces) < 2 && !many && !spaces[""] && f.namespaced(l)
		s.Assumed = assumed && (!s.All || s.Assumed)
		if assumed && !s.All && !f.Everywhere && l == table(&f.s.Pods) { // see narrow
			s.Namespaces = slices.AppendSeq(s.Namespaces, maps.Keys(spaces))
			return
		}
		if assumed && len(spaces) == 1 && !f.home(l, spaces) {
			f.single[l] = true
		}
		s.All = true
	}
}

// home reports whether the one namespace of a list is the only one of the kind in any cluster: the
// Machine API of OpenShift looks at no other.
func (f *file) home(l table, spaces map[string]bool) bool {
	return spaces["openshift-machine-api"] && (l == table(&f.s.Machines) || l == table(&f.s.MachineSets) || l == table(&f.s.HealthChecks))
}

// namespaced reports whether the objects of a list have namespaces.
func (f *file) namespaced(l table) bool {
	for i := range kinds {
		if kinds[i].list(&f.s) == l {
			return kinds[i].namespaced
		}
	}
	return !slices.ContainsFunc(l.refs(), func(r Ref) bool { return r.Namespace == "" })
}

// end records what was looked at by reading single objects.
func (f *file) end() {
	for _, o := range f.lone {
		s := o.list.scope()
		s.Names = append(s.Names, o.key)
		switch {
		case f.hint.whole:
			s.All, s.Assumed = true, false
		case f.hint.partial, f.hint.namespace != "":
		case f.objects > 1 && !s.All: // a file that somebody put together
			s.All, s.Assumed = true, true
		default:
			f.Reader.lone[o.list]++
		}
	}
}
