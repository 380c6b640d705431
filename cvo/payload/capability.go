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
// Those in prior stay. Manifests of current that are not enabled do not count.
func ImplicitlyEnabled(update, current []*Manifest, caps Capabilities, prior []string) []string {
	f := &Filter{Capabilities: &Capabilities{Known: caps.Known, Enabled: caps.Enabled, AllowUnknown: true}}
	has := make(map[ID]*Manifest, len(current))
	for _, m := range current {
		if has[m.ID] == nil && f.capability(m) == "" {
			has[m.ID] = m
		}
	}
	implicit := slices.Clone(prior)
	for _, m := range update {
		old := has[m.ID]
		if old == nil {
			continue
		}
		before := old.Capabilities()
		for _, c := range m.Capabilities() {
			if !slices.Contains(before, c) && !slices.Contains(caps.Enabled, c) {
				implicit = append(implicit, c)
			}
		}
	}
	slices.Sort(implicit)
	return slices.Compact(implicit)
}
