package olm

import (
	"encoding/json"

	"github.com/fairlead/fairlead/solver/rule"
)

// Constraints evaluates olm.constraint properties of installed operators. The zero
// value is ready to use; it is not safe for concurrent use.
type Constraints struct {
	compiler *rule.Compiler // nil until needed, since creating one is expensive
	parsed   map[string]*rule.Constraint
	provided map[string]*rule.Properties // by namespace, name and annotation
}

// Holds reports whether what an operator provides meets the value of an
// olm.constraint property, and returns the constraint in words. One that cannot be
// parsed is never met. What the annotation of a CSV does not say, or says in a form
// that cannot be parsed, counts as absent.
func (c *Constraints) Holds(constraint json.RawMessage, csv *ClusterServiceVersion) (met bool, text string) {
	parsed := c.parse(string(constraint))
	if parsed == nil {
		return false, ""
	}
	return parsed.Holds(c.properties(csv)), parsed.String()
}

// parse returns a constraint, or nil if it cannot be parsed.
func (c *Constraints) parse(text string) *rule.Constraint {
	if known, ok := c.parsed[text]; ok {
		return known
	}
	if c.parsed == nil {
		c.parsed = make(map[string]*rule.Constraint)
		c.compiler, _ = rule.NewCompiler(nil) // without options it cannot fail
	}
	var parsed *rule.Constraint
	if c.compiler != nil {
		parsed, _ = c.compiler.ParseConstraint(json.RawMessage(text)) // nil with an error
	}
	c.parsed[text] = parsed
	return parsed
}

// properties returns what a CSV provides.
func (c *Constraints) properties(csv *ClusterServiceVersion) *rule.Properties {
	note := csv.Annotations[PropertiesAnnotation]
	key := csv.ObjectMeta.String() + "\n" + note
	if known := c.provided[key]; known != nil {
		return known
	}
	props, err := ParseProperties(note)
	if err != nil {
		props = nil
	}
	var all []rule.Property
	for _, p := range props {
		all = append(all, rule.Property{Type: p.Type, Value: p.Value})
	}
	if c.provided == nil {
		c.provided = make(map[string]*rule.Properties)
	}
	c.provided[key] = rule.Prepare(all)
	return c.provided[key]
}
