package group

import (
	"slices"
	"strings"
)

// AllNamespaces as a member of a set stands for every namespace.
const AllNamespaces = ""

// Namespaces is a set of namespaces, sorted and without duplicates. The set of all
// namespaces is [AllNamespaces], even if others were given with it. The nil set is
// empty. Methods return new sets.
type Namespaces []string

// NewNamespaces returns the set of names.
func NewNamespaces(names ...string) Namespaces {
	if slices.Contains(names, AllNamespaces) {
		return Namespaces{AllNamespaces}
	}
	set := slices.Clone(names)
	slices.Sort(set)
	return slices.Compact(set)
}

// ParseNamespaces parses the value of TargetsAnnotation: names separated by
// commas. The empty text means all namespaces.
func ParseNamespaces(list string) Namespaces {
	return NewNamespaces(strings.Split(list, ",")...)
}

// String returns the value of TargetsAnnotation. It is "" both for the empty set
// and for all namespaces.
func (s Namespaces) String() string { return strings.Join(s, ",") }

// All reports whether the set contains every namespace.
func (s Namespaces) All() bool { return len(s) == 1 && s[0] == AllNamespaces }

// Contains reports whether a namespace is in the set.
func (s Namespaces) Contains(name string) bool {
	return s.All() || slices.Contains(s, name)
}

// Intersection returns what is in both sets.
func (s Namespaces) Intersection(o Namespaces) Namespaces {
	switch {
	case s.All():
		return slices.Clone(o)
	case o.All():
		return slices.Clone(s)
	}
	var both Namespaces
	for _, name := range s {
		if slices.Contains(o, name) {
			both = append(both, name)
		}
	}
	return both
}

// Union returns what is in either set.
func (s Namespaces) Union(o Namespaces) Namespaces {
	return NewNamespaces(slices.Concat(s, o)...)
}
