package graph

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Updates are the releases that a release can be updated to in one step.
type Updates struct {
	Current Release // the release that is updated
	// Available are the updates without risks, in the order of the source.
	Available []Update
	// Conditional are the updates with risks, in the order in which the source
	// first names them. An update that the source lists both with and without
	// risks is here.
	Conditional []Update
}

// Updates returns the updates from a version. The error is a *VersionError.
//
// It agrees with the cluster-version operator except for odd graphs: an update
// is listed once, however often the graph has it; one that several groups name
// has the risks of all of them, and is not dropped; one with a risk whose rules
// are unknown stays conditional, and is not dropped.
func (g *Graph) Updates(from string) (*Updates, error) {
	i, err := g.find(from)
	if err != nil {
		return nil, err
	}
	u := &Updates{Current: g.releases[i]}
	for _, e := range g.out[i] {
		if e.risks == none {
			u.Available = append(u.Available, Update{Release: g.releases[e.to]})
		} else {
			u.Conditional = append(u.Conditional, Update{Release: g.releases[e.to], Risks: g.risks[e.risks]})
		}
	}
	return u, nil
}

// Sort sorts both lists by version, the newest first.
func (u *Updates) Sort() {
	newest := func(a, b Update) int {
		x, _ := semverx.Parse(a.Version) // a graph has only versions
		y, _ := semverx.Parse(b.Version)
		return cmp.Or(y.Compare(x), cmp.Compare(b.Version, a.Version))
	}
	slices.SortStableFunc(u.Available, newest)
	slices.SortStableFunc(u.Conditional, newest)
}
