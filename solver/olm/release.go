package olm

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/semverx"
)

// release is a version with the release of its packaging, which orders bundles
// of the same version: the higher release is newer, and no release is the
// lowest.
type release struct {
	version semverx.Version
	// number is the release as the prerelease of 0.0.0, which has the same
	// grammar and order; zero if there is none.
	number semverx.Version
}

// parseRelease reads a version and, if explicit is not nil, the separately
// stated release. Otherwise build metadata that has the form of a release
// counts as one, as in bundles of registry+v1; other build metadata is not a
// release.
func parseRelease(version string, explicit *string) (release, error) {
	v, err := semverx.Parse(version)
	if err != nil {
		return release{}, err
	}
	r := release{version: v}
	switch {
	case explicit == nil && v.Build() != "":
		r.number, _ = semverx.Parse("0.0.0-" + v.Build())
	case explicit != nil && *explicit != "":
		if r.number, err = semverx.Parse("0.0.0-" + *explicit); err != nil {
			return release{}, fmt.Errorf("release %q: not identifiers of letters, digits and hyphens, separated by dots, numbers without leading zeros", *explicit)
		}
	}
	return r, nil
}

func (r release) compare(o release) int {
	if c := r.version.Compare(o.version); c != 0 {
		return c
	}
	switch {
	case r.number.IsZero() && o.number.IsZero():
		return 0
	case r.number.IsZero():
		return -1
	case o.number.IsZero():
		return 1
	}
	return r.number.Compare(o.number)
}
