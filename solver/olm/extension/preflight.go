package extension

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/crd"
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
	// Applies means that objects are written by server-side apply, for which an
	// account needs the verb patch.
	Applies bool
}

// Resource is an object of a CRD in one of its versions.
type Resource struct {
	CRD     string `json:"crd"`     // the name of its definition
	Version string `json:"version"` // the version
	crd.Object
}

// Preflight returns the obstacles to applying objects: a CRD in use would break
// (unless the extension disables this check), then permissions that its service
// account lacks, see [scope.Judge]. Without an account nothing limits the extension. The
// error is that of an object that cannot be read.
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
	if err := c.judge(x, steps...); err != nil {
		problems = append(problems, err.Error())
	}
	return problems, nil
}

// judge says why the service account of an extension may not take steps, or returns nil.
func (c *Cluster) judge(x *ClusterExtension, steps ...scope.Step) error {
	account := scope.Account{Namespace: x.Spec.Namespace, Name: x.Spec.ServiceAccount.Name}
	switch {
	case account.Name == "":
		return nil
	case !slices.Contains(c.Accounts, account):
		return fmt.Errorf("service account %s/%s does not exist; create it, or correct spec.serviceAccount.name", account.Namespace, account.Name)
	}
	for i := range steps {
		steps[i].Patch = c.Applies
	}
	return scope.Judge(account, &c.Access, steps)
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
