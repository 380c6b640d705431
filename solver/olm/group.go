package olm

import (
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// ExcludeGlobalNamespaceAnnotation on an operator group, with the value
// "true", hides the catalogs of the global namespace from its namespace.
const ExcludeGlobalNamespaceAnnotation = group.ExcludeGlobalNamespaceAnnotation

// UpgradeFailForward is the upgrade strategy of an operator group that lets a
// newer version replace one that failed.
const UpgradeFailForward = group.UpgradeFailForward

// OperatorGroup is a namespace's operator group. Resolution reads its upgrade
// strategy and ExcludeGlobalNamespaceAnnotation; see [group.Sole] for finding
// it.
type OperatorGroup = group.OperatorGroup

// failedForward returns the names of the CSVs that fail-forward takes out of
// the way: those that are being replaced and whose replacement chain ends in a
// failed one. It is an error if a CSV before the end of its chain is not being
// replaced, or if a chain is a cycle.
func failedForward(csvs []ClusterServiceVersion) (map[string]bool, error) {
	next := make(map[string]*ClusterServiceVersion)
	for i := range csvs {
		if r := csvs[i].Spec.Replaces; r != "" && r != csvs[i].Name {
			next[r] = &csvs[i]
		}
	}
	out := make(map[string]bool)
	for i := range csvs {
		last, err := endOfReplacement(&csvs[i], next)
		if err != nil {
			return nil, err
		}
		if csvs[i].Status.Phase == PhaseReplacing && last.Status.Phase == PhaseFailed {
			out[csvs[i].Name] = true
		}
	}
	return out, nil
}

func endOfReplacement(c *ClusterServiceVersion, next map[string]*ClusterServiceVersion) (*ClusterServiceVersion, error) {
	seen := make(map[string]bool)
	for {
		n, ok := next[c.Name]
		if !ok {
			return c, nil
		}
		if c.Status.Phase != PhaseReplacing {
			return nil, fmt.Errorf("csv %s/%s in phase %s instead of %s, although %s replaces it; delete one of the two",
				c.Namespace, c.Name, c.Status.Phase, PhaseReplacing, n.Name)
		}
		if seen[c.Name] {
			return nil, fmt.Errorf("csv %s/%s has already been seen: its chain of replacement forms a cycle", c.Namespace, c.Name)
		}
		seen[c.Name] = true
		c = n
	}
}
