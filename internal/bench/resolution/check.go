package resolution

import (
	"fmt"
	"slices"

	registry "github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/fairlead/fairlead/solver/olm"
)

// Fault says which rule a selection breaks.
type Fault string

// The faults.
const (
	Unserved   Fault = "leaves a subscription unserved"
	Unmet      Fault = "leaves a requirement unmet"
	Duplicate  Fault = "two of a package or of an API"
	Prohibited Fault = "what is deprecated or not offered"
	Unwanted   Fault = "what nothing asks for"
)

// faultError is a fault with its details.
type faultError struct {
	fault Fault
	text  string
}

func (e *faultError) Error() string { return string(e.fault) + ": " + e.text }

func fault(f Fault, format string, args ...any) error {
	return &faultError{f, fmt.Sprintf(format, args...)}
}

// stay adds to what is newly chosen what stays installed: everything except what a
// chosen update replaces.
func (u *rules) stay(chosen []*operator) []*operator {
	selected := slices.Clone(chosen)
	for _, o := range u.installed {
		if !slices.ContainsFunc(chosen, func(c *operator) bool { return u.replaces(c, o) }) {
			selected = append(selected, o)
		}
	}
	return selected
}

// replaces reports whether a choice replaces what is installed for a subscription that
// it serves.
func (u *rules) replaces(chosen, installed *operator) bool {
	if chosen.source == nil || installed.source != nil {
		return false
	}
	for _, s := range u.subs {
		if u.current(s) != installed {
			continue
		}
		if candidates, _ := u.forSubscription(s); serves(s, candidates, chosen) {
			return true
		}
	}
	return false
}

// serves reports whether o is among the candidates of a subscription. One that names
// no channel may be served by a candidate's entry in any channel: OLM's resolver picks
// the channel of such a bundle at random.
func serves(s *olm.Subscription, candidates []*operator, o *operator) bool {
	return slices.Contains(candidates, o) || s.Spec.Channel == "" && has(candidates, o)
}

// has reports whether a list contains an operator, in whichever channel.
func has(list []*operator, o *operator) bool {
	k := o.key()
	return slices.ContainsFunc(list, func(x *operator) bool { return x.key() == k })
}

// check returns the first rule that a selection breaks, as a *faultError. It
// does not judge preference. An installed operator that nothing refers to may
// always stay.
func (u *rules) check(selected []*operator) error {
	wanted := make(map[*operator]bool)
	for _, o := range u.installed {
		if wanted[o] = !slices.ContainsFunc(u.subs, func(s *olm.Subscription) bool { return u.current(s) == o }); wanted[o] && !has(selected, o) {
			return fault(Unserved, "%s has no subscription and was dropped", o)
		}
	}
	for _, s := range u.subs {
		candidates, ok := u.forSubscription(s)
		served := false
		for _, o := range selected {
			if serves(s, candidates, o) {
				served, wanted[o] = true, true
			}
		}
		if !ok || !served {
			return fault(Unserved, "subscription %s", s.Name)
		}
	}
	for i, o := range selected {
		if o.deprecated || o.source != nil && !u.offered(o) {
			return fault(Prohibited, "%s", o)
		}
		for _, other := range selected[:i] {
			if excludes(o, other) {
				return fault(Duplicate, "%s and %s", other, o)
			}
		}
	}
	return u.checkNeeds(selected, wanted)
}

func (u *rules) checkNeeds(selected []*operator, wanted map[*operator]bool) error {
	for range selected { // often enough for what is wanted to spread
		for _, by := range selected {
			for _, n := range by.needs {
				met := false
				for _, o := range selected {
					if n.metBy(o) {
						met = true
						wanted[o] = wanted[o] || wanted[by]
					}
				}
				if !met {
					return fault(Unmet, "%s requires %s", by, n.text)
				}
			}
		}
	}
	for _, o := range selected {
		if !wanted[o] {
			return fault(Unwanted, "%s", o)
		}
	}
	return nil
}

// excludes reports whether two operators are of one package or provide one API.
func excludes(a, b *operator) bool {
	if a.pkg == b.pkg {
		return true
	}
	for _, p := range a.packages {
		if b.isOf(p.PackageName) {
			return true
		}
	}
	return slices.ContainsFunc(a.apis, func(api registry.GVKProperty) bool { return slices.Contains(b.apis, api) })
}

// offered reports whether some channel offers a bundle, or startingCSV requests it.
func (u *rules) offered(o *operator) bool {
	for _, l := range u.lanes[o.source] {
		if l.pkg == o.pkg && has(l.chain, o) {
			return true
		}
	}
	for _, s := range u.subs {
		if u.current(s) == nil && s.Spec.StartingCSV == o.entry.Name && s.Spec.Package == o.pkg {
			return true
		}
	}
	return false
}
