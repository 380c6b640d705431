package install

import (
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/status"
)

// Deprecations returns, for World.Deprecations, what the deprecations of the
// given catalogs mean for subscriptions, in the order of both. A catalog that
// cannot be used, or whose deprecations cannot be read, contributes nothing.
func Deprecations(subs []Subscription, catalogs []olm.Source) []Deprecation {
	var all []Deprecation
	for i := range subs {
		sub := &subs[i].Subscription
		for _, src := range catalogs {
			other := sub.Spec.Source != "" && (src.Name != sub.Spec.Source || src.Namespace != sub.Spec.SourceNamespace)
			if other || src.Catalog == nil || src.Err != nil {
				continue
			}
			pkg, ok := src.Catalog.Package(sub.Spec.Package)
			if !ok {
				continue
			}
			found, err := status.Deprecations(sub, pkg)
			if err != nil {
				continue
			}
			for _, d := range found {
				all = append(all, Deprecation{Subscription: sub.Name, Deprecation: d})
			}
		}
	}
	return all
}
