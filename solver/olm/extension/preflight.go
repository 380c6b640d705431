package extension

import (
	"encoding/json"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// Cluster is what preflights look at.
type Cluster struct {
	CRDs     []crd.Definition // at least those that the objects name, as far as they exist
	Accounts []scope.Account  // service accounts
	Access   scope.Access     // what they may do
	Existing []Object         // those of the objects that exist; Manifest is not read
	// Objects are the custom resources of the CRDs; nil means that there are none.
	Objects crd.World
}

// Preflight returns what stands against applying objects, in words: a CRD in use
// would break (unless the extension says that this is not to be checked), then what
// its service account may not do. Without an account nothing limits the extension.
// The error is that of an object that cannot be read.
func Preflight(x *ClusterExtension, objects []Object, c *Cluster) (problems []string, err error) {
	strict := x.Spec.Install == nil || x.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement != "None"
	var steps []scope.Step
	for _, o := range objects {
		exists := c.has(o)
		if strict && o.Kind == "CustomResourceDefinition" {
			var next crd.Definition
			if err := json.Unmarshal(o.Manifest, &next); err != nil {
				return nil, err
			}
			for i := range c.CRDs {
				if c.CRDs[i].Name != next.Name {
					continue
				}
				exists = true
				for _, p := range crd.Replace(&c.CRDs[i], &next, 1, c.world(), crd.Structural{}, nil).Problems {
					problems = append(problems, p.Text)
				}
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
				text = "service account " + x.Spec.Namespace + "/" + name + " is not there; create it, or correct spec.serviceAccount.name"
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

func (c *Cluster) world() crd.World {
	if c.Objects != nil {
		return c.Objects
	}
	return nothing{}
}

// nothing is a world without custom resources.
type nothing struct{}

// Objects implements crd.World.
func (nothing) Objects(string, string) ([]crd.Object, error) { return nil, nil }
