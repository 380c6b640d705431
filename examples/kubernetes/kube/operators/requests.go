package operators

import (
	"context"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// Requests returns the requests to the resolver for all namespaces with
// subscriptions except one, by name; see [install.Across]. Unreadable objects
// are skipped.
func (b *Backend) Requests(ctx context.Context, but string) ([]*olm.Request, error) {
	worlds := map[string]*install.World{}
	in := func(namespace string) *install.World {
		if worlds[namespace] == nil {
			worlds[namespace] = &install.World{Namespace: namespace}
		}
		return worlds[namespace]
	}
	subs, err := b.api.List(ctx, subscriptions, "")
	if err != nil {
		return nil, err
	}
	for i := range subs {
		var s install.Subscription
		if kube.DecodeObject(&subs[i], &s.Subscription) == nil && s.Namespace != but {
			w := in(s.Namespace)
			w.Subscriptions = append(w.Subscriptions, s)
		}
	}
	all, err := b.api.List(ctx, csvs, "")
	if err != nil {
		return nil, err
	}
	for i := range all {
		c, err := csvOf(&all[i])
		if w := worlds[all[i].GetNamespace()]; err == nil && w != nil {
			w.CSVs = append(w.CSVs, c)
		}
	}
	made, err := b.api.List(ctx, plans, "")
	if err != nil {
		return nil, err
	}
	for i := range made {
		var p install.InstallPlan
		if w := worlds[made[i].GetNamespace()]; w != nil && kube.DecodeObject(&made[i], &p) == nil {
			w.Plans = append(w.Plans, p)
		}
	}
	found, err := b.api.List(ctx, groups, "")
	if err != nil {
		return nil, err
	}
	for i := range found {
		var g install.OperatorGroup
		if w := worlds[found[i].GetNamespace()]; w != nil && kube.DecodeObject(&found[i], &g.OperatorGroup) == nil {
			w.Groups = append(w.Groups, g)
		}
	}
	var reqs []*olm.Request
	for _, namespace := range sortedKeys(worlds) {
		reqs = append(reqs, worlds[namespace].Request())
	}
	return reqs, nil
}
