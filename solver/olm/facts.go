package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/rule"
)

// The property types that resolution understands. Others are seen only by CEL
// rules.
const (
	propertyPackage         = "olm.package"
	propertyGVK             = "olm.gvk"
	propertyLabel           = "olm.label"
	propertyDeprecated      = "olm.deprecated"
	propertyPackageRequired = "olm.package.required"
	propertyGVKRequired     = "olm.gvk.required"
	propertyLabelRequired   = "olm.label.required"
	propertyConstraint      = "olm.constraint"
)

type packageValue struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
}

type gvkValue struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type labelValue struct {
	Label string `json:"label"`
}

type packageRequiredValue struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

// packageFact is one olm.package property; the version is zero if it is not a
// strict version.
type packageFact struct {
	name    string
	version semverx.Version
}

// facts are the properties of one operator, decoded once.
type facts struct {
	version    semverx.Version // of the bundle or CSV, read tolerantly; zero if unknown
	packages   []packageFact
	gvks       []catalog.GVK // in property order, each once
	labels     []string
	needs      []*need // in property order
	deprecated bool
	problem    error // a required property that cannot be read: the operator is refused
	props      []rule.Property

	needTable *needTable
	prepare   sync.Once
	ready     *rule.Properties
}

// prepared returns the properties in the form that constraints evaluate.
func (f *facts) prepared() *rule.Properties {
	f.prepare.Do(func() {
		f.ready = rule.Prepare(f.props)
		for _, v := range f.needTable.variables {
			f.ready, _ = f.ready.With(v.name, v.value) // tried when the table was made
		}
	})
	return f.ready
}

// decodeFacts reads properties. A malformed provided property counts as absent,
// as in the reference; a malformed required one makes the operator unusable.
func decodeFacts(props []catalog.Property, version string, needs *needTable) *facts {
	f := &facts{needTable: needs, props: make([]rule.Property, 0, len(props))}
	f.version, _ = semverx.ParseTolerant(version)
	for _, p := range props {
		f.props = append(f.props, rule.Property{Type: p.Type, Value: p.Value})
		if err := f.add(p, needs); err != nil && f.problem == nil {
			f.problem = fmt.Errorf("property %s %s: %w", p.Type, words.Clip(string(p.Value), 80), err)
		}
	}
	return f
}

func (f *facts) add(p catalog.Property, needs *needTable) error {
	switch p.Type {
	case propertyPackage:
		var v packageValue
		if json.Unmarshal(p.Value, &v) == nil && v.PackageName != "" {
			version, _ := semverx.Parse(v.Version)
			f.packages = append(f.packages, packageFact{v.PackageName, version})
		}
	case propertyGVK:
		if gvk, ok := needs.api(p.Value); ok && !slices.Contains(f.gvks, gvk) {
			f.gvks = append(f.gvks, gvk)
		}
	case propertyLabel:
		var v labelValue
		if json.Unmarshal(p.Value, &v) == nil {
			f.labels = append(f.labels, v.Label)
		}
	case propertyDeprecated:
		f.deprecated = true
	case propertyPackageRequired, propertyGVKRequired, propertyLabelRequired, propertyConstraint:
		n, err := needs.get(p)
		if err != nil {
			return err
		}
		if !slices.Contains(f.needs, n) {
			f.needs = append(f.needs, n)
		}
	}
	return nil
}

// onlyPackage returns the one package that the operator states, or "" if it
// states several or none.
func (f *facts) onlyPackage() string {
	if len(f.packages) != 1 {
		return ""
	}
	return f.packages[0].name
}
