package removal

import (
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/rule"
)

// judge tells which olm.constraint properties some operator meets before a
// removal, and none after it.
type judge struct {
	gone, staying []*rule.Properties
	compiler      *rule.Compiler // nil until it is needed: making one is costly
}

func newJudge(gone, staying []*olm.ClusterServiceVersion) *judge {
	return &judge{gone: prepare(gone), staying: prepare(staying)}
}

// prepare decodes what operators provide.
func prepare(csvs []*olm.ClusterServiceVersion) []*rule.Properties {
	var all []*rule.Properties
	for _, c := range csvs {
		all = append(all, rule.Prepare(properties(c)))
	}
	return all
}

// properties returns those of a CSV's annotation; what cannot be read counts as
// absent.
func properties(c *olm.ClusterServiceVersion) []rule.Property {
	props, err := olm.ParseProperties(c.Annotations[olm.PropertiesAnnotation])
	if err != nil {
		return nil
	}
	var all []rule.Property
	for _, p := range props {
		all = append(all, rule.Property{Type: p.Type, Value: p.Value})
	}
	return all
}

// unmet returns the constraints of an operator that only what goes meets. One
// that cannot be read was met by nobody.
func (j *judge) unmet(c *olm.ClusterServiceVersion) []string {
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
