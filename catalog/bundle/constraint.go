package bundle

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// maxConstraint is the largest value of an olm.constraint in bytes.
const maxConstraint = 2 << 16

// constraint checks an olm.constraint: that it has exactly one condition, and
// a valid one.
func (cl *claim) constraint() {
	cl.code = CodeConstraint
	if cl.p.value == nil {
		cl.fault("it has no value", "write value: below type:")
		return
	}
	if len(cl.p.value.Raw) > maxConstraint {
		cl.fault(fmt.Sprintf("the constraint has %d bytes, and at most %d are allowed", len(cl.p.value.Raw), maxConstraint), "split it into several constraints")
		return
	}
	cl.condition(cl.p.value, "value")
}

// conditions are the fields of a constraint, exactly one of which is
// required.
var conditions = []string{"cel", "package", "gvk", "all", "any", "not"}

// condition checks one constraint in a tree. path names it in messages.
func (cl *claim) condition(v *doc.Value, path string) {
	if v.Kind != '{' {
		cl.faultAt(v, path+" is "+v.Describe()+", not an object", "write one of cel, package, gvk, all, any and not")
		return
	}
	var have []*doc.Value
	for i := range v.Members {
		m := &v.Members[i]
		switch nearest := words.Nearest(m.Key, append(conditions, "failureMessage")); {
		case m.Key == "failureMessage":
			if _, ok := m.Text(); !ok {
				cl.faultAt(m, path+".failureMessage is "+m.Describe()+", not a string", "put it in quotes")
			}
		case slices.Contains(conditions, m.Key):
			have = append(have, m)
		case nearest != "":
			cl.faultAt(m, "there is no field "+path+"."+m.Key, "did you mean "+nearest+"?")
		default:
			cl.faultAt(m, "there is no field "+path+"."+m.Key, "a constraint has failureMessage and one of cel, package, gvk, all, any and not")
		}
	}
	switch len(have) {
	case 0:
		cl.faultAt(v, path+" states no condition", "write one of cel, package, gvk, all, any and not")
	case 1:
	default:
		cl.faultAt(have[1], fmt.Sprintf("%s states %s and %s, and a constraint has one condition", path, have[0].Key, have[1].Key), "join them with all")
	}
	for _, m := range have {
		cl.conditionOf(m, path+"."+m.Key)
	}
}

// conditionOf checks the value of cel, package, gvk, all, any or not.
func (cl *claim) conditionOf(v *doc.Value, path string) {
	sub := &claim{cl.c, cl.p, cl.code, cl.noun}
	sub.p.value, sub.p.Position = v, cl.p.src.at(v)
	switch v.Key {
	case "cel":
		var cel struct {
			Rule string `json:"rule"`
		}
		if !sub.decodePart(&cel, path) {
			return
		}
		if cel.Rule == "" {
			cl.faultAt(v, path+" has no rule", "write rule: below cel:")
		} else if compile := cl.c.opts.CompileRule; compile != nil {
			if err := compile(cel.Rule); err != nil {
				cl.faultAt(v.At("rule"), path+".rule does not compile: "+err.Error(), "fix the rule").Err = err
			}
		}
	case "package":
		sub.packageRequired("versionRange")
	case "gvk":
		sub.gvk(false)
	default:
		var list struct {
			Constraints []*doc.Value `json:"constraints"`
		}
		if !sub.decodePart(&list, path) {
			return
		}
		if len(list.Constraints) == 0 {
			cl.faultAt(v, path+" has no constraints", "write constraints: with a list below "+v.Key+":")
		}
		for i, each := range list.Constraints {
			cl.condition(each, fmt.Sprintf("%s.constraints[%d]", path, i))
		}
	}
}

// decodePart decodes the value into into; unknown fields are faults.
func (cl *claim) decodePart(into any, path string) bool {
	faults := doc.Decode(cl.p.value, into, doc.Strict)
	for _, m := range faults {
		m.Steps = append([]any{path}, m.Steps...)
		cl.faultAt(m.Value, m.Error(), m.Hint())
	}
	return len(faults) == 0
}

func (cl *claim) faultAt(v *doc.Value, message, hint string) *finding {
	return cl.c.found.fault(cl.code, cl.p.src.at(v), cl.c.b.subject(), cl.noun+" of type \""+catalog.PropertyConstraint+"\": "+message, hint)
}
