package payload

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Selection is the part of a payload that belongs to one cluster.
type Selection struct {
	Payload  *Payload    // the whole payload
	Tasks    []*Manifest // the manifests to apply, in load order
	Excluded []Excluded  // the others, in load order
	// Warnings are resources that more than one task is about: both would be
	// applied, and the last one would win, each time.
	Warnings Diagnostics
}

// Excluded is a manifest that is left out, and why.
type Excluded struct {
	*Manifest // what is left out
	Exclusion // why
}

// Select returns the manifests that belong to a cluster. A nil filter means
// [NewFilter]. If it has no major version, the release's is used.
func (p *Payload) Select(f *Filter) *Selection {
	f = p.filter(f)
	s := &Selection{Payload: p, Tasks: make([]*Manifest, 0, len(p.Manifests))}
	for _, m := range p.Manifests {
		if x := f.Evaluate(m); x.Rule != RuleNone {
			s.Excluded = append(s.Excluded, Excluded{m, x})
		} else {
			s.Tasks = append(s.Tasks, m)
		}
	}
	s.Warnings = duplicates(s.Tasks)
	return s
}

// filter returns a copy of f for this release.
func (p *Payload) filter(f *Filter) *Filter {
	if f == nil {
		f = NewFilter()
	}
	out := *f
	if v, err := semverx.Parse(p.Release.Version); out.Major == nil && err == nil {
		major := v.Major()
		out.Major = &major
	}
	return &out
}

// duplicates finds the resources that several manifests are about.
func duplicates(tasks []*Manifest) (found Diagnostics) {
	first := make(map[ID]*Manifest, len(tasks))
	for _, m := range tasks {
		o := first[m.ID]
		if o == nil {
			first[m.ID] = m
			continue
		}
		found = append(found, &Diagnostic{
			Pos: m.Pos, Code: LintTwice, Subject: m.ID.String(),
			Message: fmt.Sprintf("the resource is also in %s: both would be applied, and the last one would win", o.Pos),
			Hint:    "keep one, or make them exclude each other by their annotations",
		})
	}
	return found.Sorted()
}
