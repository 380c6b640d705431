package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// lostVersions adds the definitions of a plan that would lose a version in which
// objects are stored: OLM then fails the plan, after it was approved.
func (c *Cluster) lostVersions(v *View, p *resource.InstallPlan) (some bool) {
	for i := range p.Status.Plan {
		s := &p.Status.Plan[i]
		if s.Resource.Kind != "CustomResourceDefinition" || s.Resource.Manifest == "" {
			continue
		}
		var next crd.Definition
		if json.Unmarshal([]byte(s.Resource.Manifest), &next) != nil {
			continue
		}
		at := slices.IndexFunc(c.Definitions, func(d crd.Definition) bool { return d.Name == next.Name })
		if at < 0 {
			continue
		}
		var lost []string
		for _, stored := range c.Definitions[at].Status.StoredVersions {
			if !slices.ContainsFunc(next.Spec.Versions, func(v crd.Version) bool { return v.Name == stored }) {
				lost = append(lost, stored)
			}
		}
		if lost != nil {
			v.add(c.storedLost(p, s.Resolving, next.Name, lost))
			some = true
		}
	}
	return some
}

func (c *Cluster) storedLost(p *resource.InstallPlan, csv, name string, lost []string) Wait {
	what := c.dataLoss(name, lost[0])
	return Wait{Block: fairlead.Block{Reason: ReasonCRDLoss, Owner: what.owner,
		Message: fmt.Sprintf("%s drops %s of CRD %s, which objects may be stored in: OLM fails InstallPlan %s for risk of data loss", csv, strings.Join(lost, ", "), name, p.Name),
		Unblock: what.unblock}, Commands: what.commands}
}
