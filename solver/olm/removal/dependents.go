package removal

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// dependents returns the operators that require what only the given CSVs
// provide.
func dependents(w *World, gone []*resource.ClusterServiceVersion) []Dependent {
	lost := make(map[string]bool)
	for _, c := range gone {
		provided, _ := interests(c)
		for _, name := range provided {
			lost[name] = true
		}
	}
	var staying []*resource.ClusterServiceVersion
	for i := range w.CSVs {
		c := &w.CSVs[i]
		if c.Copied() || slices.Contains(gone, c) {
			continue
		}
		staying = append(staying, c)
		provided, _ := interests(c)
		for _, name := range provided {
			delete(lost, name)
		}
	}
	var found []Dependent
	constraints := &judge{w.Judge, gone, staying}
	for _, c := range staying {
		_, required := interests(c)
		required = slices.DeleteFunc(required, func(name string) bool { return !lost[name] })
		required = append(required, constraints.unmet(c)...)
		if len(required) > 0 {
			found = append(found, Dependent{Operator: c.Name, Requires: required})
		}
	}
	slices.SortFunc(found, func(a, b Dependent) int { return cmp.Compare(a.Operator, b.Operator) })
	return found
}

// interests returns what a CSV provides and requires, sorted and without
// duplicates: APIs as Kind.version.group, packages as "package NAME". The
// properties of the annotation are used if there is one, and the APIs of the spec
// always. A property that cannot be parsed counts as absent; constraints are left
// to judge.
func interests(c *resource.ClusterServiceVersion) (provided, required []string) {
	for _, d := range c.Spec.CustomResourceDefinitions.Owned {
		provided = append(provided, crdName(d))
	}
	for _, d := range c.Spec.CustomResourceDefinitions.Required {
		required = append(required, crdName(d))
	}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		provided = append(provided, d.Kind+"."+d.Version+"."+d.Group)
	}
	for _, d := range c.Spec.APIServiceDefinitions.Required {
		required = append(required, d.Kind+"."+d.Version+"."+d.Group)
	}
	props, err := resource.ParseProperties(c.Annotations[resource.PropertiesAnnotation])
	if err != nil {
		props = nil
	}
	for _, p := range props {
		var v struct {
			Group, Version, Kind string
			PackageName          string `json:"packageName"`
		}
		if json.Unmarshal(p.Value, &v) != nil {
			continue
		}
		switch p.Type {
		case "olm.gvk":
			provided = append(provided, v.Kind+"."+v.Version+"."+v.Group)
		case "olm.gvk.required":
			required = append(required, v.Kind+"."+v.Version+"."+v.Group)
		case "olm.package":
			provided = append(provided, "package "+v.PackageName)
		case "olm.package.required":
			required = append(required, "package "+v.PackageName)
		}
	}
	return once(provided), once(required)
}

func crdName(d resource.CRDDescription) string {
	_, group, _ := strings.Cut(d.Name, ".")
	return d.Kind + "." + d.Version + "." + group
}

func once(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
