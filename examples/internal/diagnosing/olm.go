package diagnosing

import (
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// IDs returns what a view is of, as the diagnosis names it: the object, and for a CSV its
// subscriptions, which wait for it.
func IDs(c *explain.Cluster, v *explain.View) []string {
	ids := []string{diagnosis.ID(string(v.Kind), v.Namespace, v.Name)}
	for i := range c.Subscriptions {
		s := &c.Subscriptions[i]
		if v.Kind == explain.KindCSV && s.Namespace == v.Namespace && (s.Status.InstalledCSV == v.Name || s.Status.CurrentCSV == v.Name) {
			ids = append(ids, diagnosis.ID(string(explain.KindSubscription), s.Namespace, s.Name))
		}
	}
	return ids
}

// Prevents returns the causes of what objects of OLM wait for, and what to do, if one is not OLM's own
// object, such as a node that is down under the pod of a catalog; else nil.
func Prevents(s *snapshot.Snapshot, of []string) *Advice {
	own := []string{"Subscription", "ClusterServiceVersion", "InstallPlan", "CatalogSource", "OperatorGroup", "ClusterExtension"}
	return Beyond(About(s, s.Clock.At, diagnosis.Options{Of: of}), own...)
}
