package extension

import (
	"encoding/json"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// Cluster is what preflights check against.
type Cluster struct {
	CRDs     []crd.Definition // at least the existing ones that the objects name
	Accounts []scope.Account  // service accounts
	Access   scope.Access     // what they may do
	Existing []Object         // those of the objects that exist; Manifest is not read
	// Resources are the custom resources of the CRDs, in each served version.
	Resources []Resource
}

// Resource is an object of a CRD in one of its versions.
type Resource struct {
	CRD     string `json:"crd"`     // the name of its definition
	Version string `json:"version"` // the version
	crd.Object
}

// Preflight returns the obstacles to applying objects: a CRD in use would break
// (unless the extension disables this check), then permissions that its service
// account lacks. Without an account nothing limits the extension. The error is that
// of an object that cannot be read.
func Preflight(x *ClusterExtension, objects []Object, c *Cluster) (problems []string, err error) {
	var steps []scope.Step
	for _, o := range objects {
		exists := c.has(o)
		if o.Kind == kindCRD {
			var next crd.Definition
			if err := json.Unmarshal(o.Manifest, &next); err != nil {
				return nil, err
			}
			exists = exists || c.definition(next.Name) != nil
			if strict(x) {
				problems = append(problems, c.breaks(&next)...)
			}
		}
		step, err := scope.StepOf(o.Manifest, o.Namespace, exists)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	if name := x.Spec.ServiceAccount.Name; name != "" {
		g := group.OperatorGroup{ObjectMeta: fairlead.ObjectMeta{Name: x.Name, Namespace: x.Spec.Namespace}}
		g.Spec.ServiceAccountName = name
		if err := scope.Check([]group.OperatorGroup{g}, x.Spec.Namespace, c.Accounts, &c.Access, steps); err != nil {
			var absent *scope.AccountError
			text := err.Error()
			if errors.As(err, &absent) {
				text = "service account " + x.Spec.Namespace + "/" + name + " does not exist; create it, or correct spec.serviceAccount.name"
			}
			problems = append(problems, text)
		}
	}
	return problems, nil
}

func (c *Cluster) has(o Object) bool {
	for _, e := range c.Existing {
		if e.Group == o.Group && e.Kind == o.Kind && e.Namespace == o.Namespace && e.Name == o.Name {
			return true
		}
	}
	return false
}

// strict reports whether CRDs in use must not break.
func strict(x *ClusterExtension) bool {
	return x.Spec.Install == nil || x.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement != "None"
}

func (c *Cluster) definition(name string) *crd.Definition {
	for i := range c.CRDs {
		if c.CRDs[i].Name == name {
			return &c.CRDs[i]
		}
	}
	return nil
}

// breaks says what a CRD would break if it replaced the existing one.
func (c *Cluster) breaks(next *crd.Definition) (problems []string) {
	is := c.definition(next.Name)
	if is == nil {
		return nil
	}
	for _, p := range crd.Replace(is, next, 1, resources(c.Resources), crd.Structural{}, &crd.Options{NoLoss: true}).Problems {
		problems = append(problems, p.Text)
	}
	return problems
}

// resources are custom resources, as package crd needs them.
type resources []Resource

// Objects implements crd.World.
func (r resources) Objects(definition, version string) (found []crd.Object, err error) {
	for i := range r {
		if r[i].CRD == definition && r[i].Version == version {
			found = append(found, r[i].Object)
		}
	}
	return found, nil
}
