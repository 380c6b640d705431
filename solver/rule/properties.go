package rule

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Types of the properties that a [Constraint] looks at.
const (
	packageType = "olm.package"
	gvkType     = "olm.gvk"
)

// Property is one property of a candidate, as a catalog states it.
type Property struct {
	Type  string          `json:"type"`  // such as olm.package
	Value json.RawMessage `json:"value"` // JSON of any kind
}

// Properties are the properties of one candidate, decoded once by [Prepare],
// and the values of further variables. They are immutable.
type Properties struct {
	vars     map[string]any
	packages []providedPackage
	gvks     []GVK
	problems []PropertyProblem
}

type providedPackage struct {
	name    string
	version semverx.Version // zero if there is none
}

// PropertyProblem reports a property whose value is not what its type requires.
// It provides nothing; a rule sees an empty map in place of a property whose
// value is not JSON.
type PropertyProblem struct {
	Index  int    // of the property
	Type   string // of the property
	Reason string // what is wrong with its value
}

// Prepare decodes properties. It never fails: what cannot be decoded is reported
// by [Properties.Problems]. The values are not kept, and may be reused.
func Prepare(props []Property) *Properties {
	p := &Properties{}
	list := make([]any, len(props))
	for i, prop := range props {
		var value any
		if err := json.Unmarshal(prop.Value, &value); err != nil {
			p.problem(i, prop.Type, "the value is not JSON")
			list[i] = map[string]any{}
			continue
		}
		list[i] = map[string]any{"type": prop.Type, "value": value}
		switch prop.Type {
		case packageType:
			p.addPackage(i, prop)
		case gvkType:
			p.addGVK(i, prop)
		}
	}
	p.vars = map[string]any{propertiesVariable: toValue(list)}
	return p
}

func (p *Properties) addPackage(i int, prop Property) {
	var value struct{ PackageName, Version string }
	if err := json.Unmarshal(prop.Value, &value); err != nil {
		p.problem(i, prop.Type, `want an object with the strings "packageName" and "version"`)
		return
	}
	provided := providedPackage{name: value.PackageName}
	if value.Version != "" {
		v, err := semverx.ParseTolerant(value.Version)
		if err != nil {
			p.problem(i, prop.Type, err.Error())
		}
		provided.version = v
	}
	p.packages = append(p.packages, provided)
}

func (p *Properties) addGVK(i int, prop Property) {
	var gvk GVK
	if err := json.Unmarshal(prop.Value, &gvk); err != nil {
		p.problem(i, prop.Type, `want an object with the strings "group", "version" and "kind"`)
		return
	}
	p.gvks = append(p.gvks, gvk)
}

func (p *Properties) problem(index int, typ, reason string) {
	p.problems = append(p.problems, PropertyProblem{index, typ, reason})
}

// Problems returns which properties could not be read, in their order.
func (p *Properties) Problems() []PropertyProblem {
	return append([]PropertyProblem(nil), p.problems...)
}

// With returns the properties with the value of one more variable, which the
// rules must declare in [Options.Variables]. A value is anything that
// [encoding/json] can encode; rules see what it encodes to. The error is a
// [*VariableError].
func (p *Properties) With(name string, value any) (*Properties, error) {
	if reason := checkVariable(name); reason != "" {
		return nil, &VariableError{Name: name, Reason: reason}
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, &VariableError{Name: name, Reason: fmt.Sprintf("cannot have a value of type %T: %v", value, err)}
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return nil, &VariableError{Name: name, Reason: fmt.Sprintf("has a value that does not read back: %v", err)}
	}
	with := *p
	with.vars = maps.Clone(p.vars)
	with.vars[name] = toValue(decoded)
	return &with, nil
}
