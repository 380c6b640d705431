package removal

import (
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// A Judge evaluates constraints; olm.Constraints is one. It is never called
// concurrently.
type Judge interface {
	// Holds reports whether what an operator provides meets the value of an
	// olm.constraint property, and returns the constraint in words. One that cannot
	// be read is never met.
	Holds(constraint json.RawMessage, csv *resource.ClusterServiceVersion) (met bool, text string)
}

// judge finds the olm.constraint properties that some operator meets before a
// removal, and none after it.
type judge struct {
	Judge
	gone, staying []*resource.ClusterServiceVersion
}

// unmet returns the constraints of an operator that only the removed operators
// meet. Without a Judge, those are all of its constraints: nobody knows better.
func (j *judge) unmet(c *resource.ClusterServiceVersion) []string {
	props, err := resource.ParseProperties(c.Annotations[resource.PropertiesAnnotation])
	if err != nil {
		return nil // it counts as absent
	}
	var all []string
	for _, p := range props {
		if p.Type != "olm.constraint" {
			continue
		}
		if j.Judge == nil {
			all = append(all, "something by a constraint, which was not evaluated")
			continue
		}
		text := ""
		holds := func(by *resource.ClusterServiceVersion) bool {
			met, words := j.Holds(p.Value, by)
			text = words
			return met
		}
		if slices.ContainsFunc(j.gone, holds) && !slices.ContainsFunc(j.staying, holds) {
			all = append(all, text)
		}
	}
	return all
}
