package payload

import (
	"slices"
	"strings"
)

// Capabilities are the optional parts of a cluster.
type Capabilities struct {
	Known   []string `json:"known"`   // all that there are
	Enabled []string `json:"enabled"` // those that this cluster has
	// AllowUnknown lets manifests name capabilities that are not known; they
	// still have to be enabled.
	AllowUnknown bool `json:"allowUnknown,omitempty"`
}

// Capabilities returns the capabilities that the manifest needs, all of them,
// as listed.
func (m *Manifest) Capabilities() []string {
	list := m.Annotations[AnnotationCapability]
	if list == "" {
		return nil
	}
	return strings.Split(list, "+")
}

func (f *Filter) capability(m *Manifest) string {
	if f.Capabilities == nil {
		return ""
	}
	var unknown, disabled []string
	for _, c := range m.Capabilities() {
		if !slices.Contains(f.Capabilities.Known, c) && !f.Capabilities.AllowUnknown {
			unknown = append(unknown, c)
		}
		if !slices.Contains(f.Capabilities.Enabled, c) {
			disabled = append(disabled, c)
		}
	}
	switch {
	case len(unknown) > 0:
		return "unrecognized capability names: " + strings.Join(unknown, ", ")
	case len(disabled) > 0:
		return "disabled capabilities: " + strings.Join(disabled, ", ")
	}
	return ""
}

// ImplicitlyEnabled returns the capabilities that an update turns on whether
// the cluster wants them or not, sorted: a resource that the cluster has and
// that needs another capability in the new release would vanish otherwise.
//
//  1. A resource counts as the cluster's if the current release has it, and the
//     filter leaves it in. Capabilities that are not known do not keep it out,
//     and overrides do not count: the resource is there all the same.
//  2. A manifest of the update counts if it belongs to the cluster, apart from
//     its capabilities. It turns on those of them that are not enabled.
//  3. Those in prior stay.
//
// A nil filter is that of [NewFilter]. Without capabilities in it all are
// enabled, and prior is all there is.
func ImplicitlyEnabled(update, current *Payload, f *Filter, prior []string) []string {
	implicit := slices.Clone(prior)
	now, next := current.filter(f), update.filter(f)
	if now.Capabilities != nil {
		caps := *now.Capabilities
		caps.AllowUnknown = true
		now.Capabilities, next.Capabilities = &caps, nil
		now.Overrides, next.Overrides = nil, nil
		implicit = append(implicit, turnedOn(update.Select(next).Tasks, current.Select(now).Tasks, caps.Enabled)...)
	}
	slices.Sort(implicit)
	return slices.Compact(implicit)
}

// turnedOn returns the capabilities, sorted, that tasks of the update need about
// the resources of current, and that are not enabled. Those that tasks of
// current need are enabled, or they were none.
func turnedOn(update, current []*Manifest, enabled []string) []string {
	has := make(map[ID]bool, len(current))
	for _, m := range current {
		has[m.ID] = true
	}
	caps := []string{}
	for _, m := range update {
		if !has[m.ID] {
			continue
		}
		for _, c := range m.Capabilities() {
			if !slices.Contains(enabled, c) {
				caps = append(caps, c)
			}
		}
	}
	slices.Sort(caps)
	return slices.Compact(caps)
}
