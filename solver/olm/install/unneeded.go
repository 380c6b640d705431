package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/removal"
)

// removalUnneeded is the kind of a removal that nobody requested: see
// Policy.KeepUnneeded.
const removalUnneeded = "unneeded"

// dropUnneeded starts to remove a dependency that nothing has needed for as long as
// the policy says, and reports those whose time is not over.
func (s *stepper) dropUnneeded() bool {
	if s.policy.KeepUnneeded <= 0 || s.state.Plan != nil || s.Refusal != nil {
		return false
	}
	for _, sub := range sorted(s.Subscriptions, func(x *Subscription) string { return x.Name }) {
		if sub.Annotations[RemovalAnnotation] != "" || !s.unneeded(sub) {
			continue
		}
		since := s.block("subscription "+sub.Name, ReasonUnneeded, fmt.Sprintf("its operator %s was installed because another required it, and none does any longer; it is removed after %v", sub.Status.InstalledCSV, s.policy.KeepUnneeded),
			"whoever owns the subscriptions", "install an operator that requires it, or wait until it is removed")
		if limit := since.Add(s.policy.KeepUnneeded); s.now.Before(limit) {
			s.At(limit)
			continue
		}
		s.state.Generation = s.nextGeneration()
		s.state.Removal = &Removal{Subscription: sub.Name, Kind: removalUnneeded, Generation: s.state.Generation, Since: s.now}
		return true
	}
	return false
}

// unneeded reports whether a subscription was made for a dependency, its operator
// is installed, nothing in the namespace requires that, nobody has objects of its
// CRDs, and no other subscription asks for its package.
func (s *stepper) unneeded(sub *Subscription) bool {
	c := s.csvs[sub.Status.InstalledCSV]
	if !forDependency(&sub.Subscription) || c == nil || c.Status.Phase != olm.PhaseSucceeded || s.next[c.Name] != nil || s.chosen(sub.Spec.Package) {
		return false
	}
	if slices.ContainsFunc(s.Subscriptions, func(o Subscription) bool { return o.Name != sub.Name && o.Spec.Package == sub.Spec.Package }) {
		return false
	}
	for _, d := range c.Spec.CustomResourceDefinitions.Owned {
		if slices.ContainsFunc(s.Resources, func(r Resource) bool { return r.CRD == d.Name }) {
			return false
		}
	}
	p, err := removal.Uninstall(s.removable(), sub.Name)
	return err == nil && len(p.Dependents) == 0
}

// chosen reports whether the resolver has chosen something of a package, or for
// what may require it.
func (s *stepper) chosen(pkg string) bool {
	return s.Resolution != nil && slices.ContainsFunc(s.Resolution.Chosen, func(c olm.Choice) bool { return c.Package == pkg || c.Updates == "" })
}

// forDependency reports whether a subscription is named as those are that the resolver
// makes for dependencies.
func forDependency(sub *olm.Subscription) bool {
	parts := []string{sub.Spec.Package, sub.Spec.Channel, sub.Spec.Source}
	if sub.Spec.SourceNamespace != "" {
		parts = append(parts, sub.Spec.SourceNamespace)
	}
	return sub.Name == strings.Join(parts, "-")
}
