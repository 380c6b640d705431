package payload

import (
	"slices"
	"strings"
)

// Capabilities are the optional parts of a cluster.
type Capabilities struct {
	Known   []string `json:"known"`   // all existing ones
	Enabled []string `json:"enabled"` // those that this cluster has
	// AllowUnknown lets manifests name unknown capabilities; they must still be
	// enabled.
	AllowUnknown bool `json:"allowUnknown,omitempty"`
}

// Capabilities returns all capabilities that the manifest needs, as listed.
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

// ImplicitlyEnabled returns the capabilities that an update enables even if the
// cluster does not request them, sorted: otherwise a resource of the cluster
// that needs another capability in the new release would vanish.
//
//  1. A resource counts as the cluster's if the current release has it, and the
//     filter selects it. Unknown capabilities do not exclude it, and overrides
//     do not count: the resource exists anyway.
//  2. A manifest of the update counts if it belongs to the cluster, apart from
//     its capabilities. It enables those of them that are not enabled.
//  3. Those in prior stay.
//
// A nil filter means [NewFilter]. If it has no capabilities, all are enabled,
// and only prior is returned.
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

// turnedOn returns the capabilities, sorted, that tasks of the update need for
// the resources of current, and that are not enabled. Those that tasks of
// current need are enabled, or the tasks would not be in current.
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
