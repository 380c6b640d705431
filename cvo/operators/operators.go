package operators

import (
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// Of returns what a snapshot knows of operators. It shares memory with the
// snapshot. What catalogs offer is not known; see [explain.Cluster.Answers].
func Of(s *snapshot.Snapshot) *explain.Cluster {
	c := &explain.Cluster{
		Subscriptions: s.Subscriptions.Items, CSVs: s.CSVs.Items, Plans: s.InstallPlans.Items, Groups: s.OperatorGroups.Items,
		Catalogs: s.CatalogSources.Items, Conditions: s.OperatorConditions.Items, Served: s.ClusterCatalogs.Items, Packages: s.Packages.Items, Looked: looked(s),
		Now: s.Clock.At, OpenShift: s.Version() != nil,
	}
	for i := range s.Namespaces.Items {
		c.Namespaces = append(c.Namespaces, s.Namespaces.Items[i].ObjectMeta)
	}
	for i := range s.CRDs.Items {
		c.Definitions = append(c.Definitions, definition(&s.CRDs.Items[i]))
	}
	for i := range s.Jobs.Items {
		j := explain.Job{ObjectMeta: s.Jobs.Items[i].ObjectMeta}
		j.Status.Conditions = s.Jobs.Items[i].Status.Conditions
		c.Jobs = append(c.Jobs, j)
	}
	for i := range s.Extensions.Items {
		c.Extensions = append(c.Extensions, explain.Extension{ClusterExtension: s.Extensions.Items[i]})
	}
	if len(s.Hubs.Items) > 0 {
		c.Hub = &s.Hubs.Items[0]
	}
	if len(s.OLMConfigs.Items) > 0 {
		c.Config = &explain.Config{DisableCopiedCSVs: s.OLMConfigs.Items[0].Spec.Features.DisableCopiedCSVs}
	}
	return c
}

func definition(d *snapshot.CRD) crd.Definition {
	out := crd.Definition{ObjectMeta: d.ObjectMeta}
	for _, v := range d.Spec.Versions {
		out.Spec.Versions = append(out.Spec.Versions, crd.Version{Name: v.Name, Served: v.Served, Storage: v.Storage})
	}
	out.Status.StoredVersions = d.Status.StoredVersions
	return out
}

// looked says of which kinds all objects of a namespace are known, or with "" all objects.
func looked(s *snapshot.Snapshot) func(explain.Kind, string) bool {
	scopes := map[explain.Kind]*snapshot.Scope{
		explain.KindSubscription: &s.Subscriptions.Scope, explain.KindCSV: &s.CSVs.Scope, explain.KindInstallPlan: &s.InstallPlans.Scope,
		explain.KindOperatorGroup: &s.OperatorGroups.Scope, explain.KindCatalogSource: &s.CatalogSources.Scope, explain.KindOperatorCondition: &s.OperatorConditions.Scope,
		explain.KindNamespace: &s.Namespaces.Scope, explain.KindDefinition: &s.CRDs.Scope, explain.KindJob: &s.Jobs.Scope,
		explain.KindExtension: &s.Extensions.Scope, explain.KindClusterCatalog: &s.ClusterCatalogs.Scope,
	}
	return func(k explain.Kind, namespace string) bool {
		scope := scopes[k]
		switch {
		case scope == nil:
			return false
		case namespace == "":
			return scope.Whole()
		}
		return scope.Covers(namespace)
	}
}
