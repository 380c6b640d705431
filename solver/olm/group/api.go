package group

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// API names a kind of object.
type API struct {
	Group   string `json:"group"`   // the API group
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // as objects state it
}

// ParseAPI parses "Kind.version.group".
func ParseAPI(text string) (API, error) {
	kind, rest, _ := strings.Cut(text, ".")
	version, group, _ := strings.Cut(rest, ".")
	if kind == "" || version == "" || group == "" {
		return API{}, fmt.Errorf("API %q: expected KIND.VERSION.GROUP, such as Prometheus.v1.monitoring.coreos.com", text)
	}
	return API{Group: group, Version: version, Kind: kind}, nil
}

// String returns "Kind.version.group".
func (a API) String() string { return a.Kind + "." + a.Version + "." + a.Group }

func compareAPIs(a, b API) int { return cmp.Compare(a.String(), b.String()) }

// APIs is a set of APIs, sorted by text and without duplicates. The nil set is
// empty. Methods return new sets.
type APIs []API

// NewAPIs returns the set of the given APIs.
func NewAPIs(apis ...API) APIs {
	set := APIs(slices.Clone(apis))
	slices.SortFunc(set, compareAPIs)
	return slices.Compact(set)
}

// ParseAPIs parses the value of ProvidedAPIsAnnotation: APIs separated by commas.
// Parts that are not APIs are left out of the set and returned in dropped, as
// written, in order.
func ParseAPIs(list string) (set APIs, dropped []string) {
	if list == "" {
		return nil, nil
	}
	var apis []API
	for _, part := range strings.Split(list, ",") {
		api, err := ParseAPI(strings.TrimSpace(part))
		if err != nil {
			dropped = append(dropped, part)
			continue
		}
		apis = append(apis, api)
	}
	return NewAPIs(apis...), dropped
}

// String returns the value of ProvidedAPIsAnnotation.
func (s APIs) String() string {
	parts := make([]string, len(s))
	for i, a := range s {
		parts[i] = a.String()
	}
	return strings.Join(parts, ",")
}

// Contains reports whether an API is in the set.
func (s APIs) Contains(a API) bool {
	_, ok := slices.BinarySearchFunc(s, a, compareAPIs)
	return ok
}

// SubsetOf reports whether every API of the set is in the other.
func (s APIs) SubsetOf(o APIs) bool { return len(s.Minus(o)) == 0 }

// Union returns what is in either set.
func (s APIs) Union(o APIs) APIs { return NewAPIs(slices.Concat(s, o)...) }

// Intersection returns what is in both sets.
func (s APIs) Intersection(o APIs) APIs {
	return s.filter(o.Contains)
}

// Minus returns what is in the set and not in the other.
func (s APIs) Minus(o APIs) APIs {
	return s.filter(func(a API) bool { return !o.Contains(a) })
}

func (s APIs) filter(keep func(API) bool) APIs {
	var kept APIs
	for _, a := range s {
		if keep(a) {
			kept = append(kept, a)
		}
	}
	return kept
}
