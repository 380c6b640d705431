package resource

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// Member returns the operator as its group sees it, see [group.Evaluate]. The APIs
// that it owns are those of its spec: CRDs, then API services. A CRD whose name
// is not PLURAL.GROUP is an error.
func (c *ClusterServiceVersion) Member() (group.Operator, error) {
	op := group.Operator{
		ObjectMeta:   c.ObjectMeta,
		InstallModes: c.Spec.InstallModes,
		Phase:        string(c.Status.Phase),
		Reason:       group.Reason(c.Status.Reason),
	}
	for _, d := range c.Spec.CustomResourceDefinitions.Owned {
		plural, apiGroup, ok := strings.Cut(d.Name, ".")
		if !ok {
			return group.Operator{}, fmt.Errorf("csv %s: CRD name %q: a CRD is named PLURAL.GROUP", c.ObjectMeta, d.Name)
		}
		op.Owned = append(op.Owned, group.Owned{API: group.API{Group: apiGroup, Version: d.Version, Kind: d.Kind}, Plural: plural})
	}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		op.Owned = append(op.Owned, group.Owned{API: group.API{Group: d.Group, Version: d.Version, Kind: d.Kind}, Plural: d.Name, Service: true})
	}
	return op, nil
}
