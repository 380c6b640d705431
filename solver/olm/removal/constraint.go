package removal

import (
	"slices"

	"github.com/fairlead/fairlead/solver/olm/resource"
	"github.com/fairlead/fairlead/solver/rule"
)

// judge finds the olm.constraint properties that some operator meets before a
// removal, and none after it.
type judge struct {
	gone, staying []*rule.Properties
	compiler      *rule.Compiler // nil until needed, since creating one is expensive
}

func newJudge(gone, staying []*resource.ClusterServiceVersion) *judge {
	return &judge{gone: prepare(gone), staying: prepare(staying)}
}

// prepare decodes what operators provide.
func prepare(csvs []*resource.ClusterServiceVersion) []*rule.Properties {
	var all []*rule.Properties
	for _, c := range csvs {
		all = append(all, rule.Prepare(properties(c)))
	}
	return all
}

// properties returns those of a CSV's annotation; one that cannot be parsed counts
// as absent.
func properties(c *resource.ClusterServiceVersion) []rule.Property {
	props, err := resource.ParseProperties(c.Annotations[resource.PropertiesAnnotation])
	if err != nil {
		return nil
	}
	var all []rule.Property
	for _, p := range props {
		all = append(all, rule.Property{Type: p.Type, Value: p.Value})
	}
	return all
}

// unmet returns the constraints of an operator that only the removed operators
// meet. A constraint that cannot be parsed was never met.
func (j *judge) unmet(c *resource.ClusterServiceVersion) []string {
	var all []string
	for _, p := range properties(c) {
		if p.Type != "olm.constraint" {
			continue
		}
		if j.compiler == nil {
			compiler, err := rule.NewCompiler(nil)
			if err != nil {
				return nil
			}
			j.compiler = compiler
		}
		constraint, err := j.compiler.ParseConstraint(p.Value)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(j.gone, constraint.Holds) && !slices.ContainsFunc(j.staying, constraint.Holds) {
			all = append(all, constraint.String())
		}
	}
	return all
}
