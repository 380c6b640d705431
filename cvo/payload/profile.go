package payload

import (
	"slices"
	"strings"
)

// Profiles returns the cluster profiles that a payload has manifests for,
// sorted.
func (p *Payload) Profiles() []string {
	var names []string
	for _, m := range p.Manifests {
		for key, value := range m.Annotations {
			if name, ok := strings.CutPrefix(key, annotationProfile); ok && value == "true" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Any reports whether any manifest of a payload belongs to the cluster: whether
// Select would return a task. It stops at the first one.
func (f *Filter) Any(p *Payload) bool {
	f = p.filter(f)
	return slices.ContainsFunc(p.Manifests, func(m *Manifest) bool { return f.Evaluate(m).Rule == RuleNone })
}
