package graph

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// DefaultUpstream is the update service if no other is named.
const DefaultUpstream = "https://api.openshift.com/api/upgrades_info/v1/graph"

// ArchitectureMulti is the architecture of releases for several architectures,
// as a ClusterVersion spells it. Services spell it "multi".
const ArchitectureMulti = "Multi"

// Query is a query to an update service.
type Query struct {
	Upstream     string // the service, a URL that may already have a query; empty means DefaultUpstream
	Channel      string // such as stable-4.20
	Architecture string // that the cluster should have: ArchitectureMulti, or a name such as amd64
	Current      string // that it has, likewise
	Cluster      string // the UUID of the cluster
	Version      string // that the cluster runs
}

// FetchError says why there is no list of updates.
type FetchError struct {
	Failure FetchFailure // which kind
	Message string       // what and why, for people
	Err     error        // the cause; may be nil
}

// Error returns kind and message in one line.
func (e *FetchError) Error() string { return string(e.Failure) + ": " + e.Message }

// Unwrap returns the cause of the failure, or nil.
func (e *FetchError) Unwrap() error { return e.Err }

// URL returns the URL to fetch. The error is a *FetchError: something is
// missing, or cannot be read.
func (q *Query) URL() (string, error) {
	fail := func(kind FetchFailure, message string, err error) (string, error) {
		return "", &FetchError{Failure: kind, Message: message, Err: err}
	}
	u, err := url.Parse(q.upstream())
	switch {
	case err != nil:
		return fail(InvalidURI, "the address of the update service: "+err.Error(), err)
	case !u.IsAbs() || u.Host == "":
		return fail(InvalidURI, fmt.Sprintf("the address of the update service, %q, names no server; write one such as %s", q.upstream(), DefaultUpstream), nil)
	case !isUUID(q.Cluster):
		return fail(InvalidID, fmt.Sprintf("the ID of the cluster must be a UUID, and %q is not one; set spec.clusterID", q.Cluster), nil)
	case q.Architecture == "":
		return fail(NoArchitecture, "the architecture of the cluster is unknown", nil)
	case q.Version == "":
		return fail(NoCurrentVersion, "the cluster has no version yet, so its updates are unknown", nil)
	case q.Channel == "":
		return fail(NoChannel, "no channel is set; set spec.channel", nil)
	}
	v, err := semverx.Parse(q.Version)
	if err != nil {
		return fail(InvalidCurrentVersion, "the cluster's version: "+err.Error(), err)
	}
	arch := q.Architecture
	if arch == ArchitectureMulti {
		arch = "multi"
	}
	values := u.Query()
	for _, p := range [][2]string{{"arch", arch}, {"channel", q.Channel}, {"id", strings.ToLower(q.Cluster)}, {"version", v.String()}} {
		values.Add(p[0], p[1])
	}
	u.RawQuery = values.Encode()
	return u.String(), nil
}

func (q *Query) upstream() string {
	if q.Upstream == "" {
		return DefaultUpstream
	}
	return q.Upstream
}

// Migrates reports whether the cluster should change from one architecture to
// several. It then stays at its version.
func (q *Query) Migrates() bool {
	return q.Architecture == ArchitectureMulti && q.Current != ArchitectureMulti
}

// Updates returns the updates in the answer to the query. If the query requests
// a change of architecture, that is only the current version, built for the
// other architecture. The error is a *FetchError that wraps a *VersionError.
func (q *Query) Updates(g *Graph) (*Updates, error) {
	u, err := g.Updates(q.Version)
	if err != nil {
		message := fmt.Sprintf("currently reconciling cluster version %s not found in the %q channel", q.Version, q.Channel)
		return nil, &FetchError{Failure: VersionNotFound, Message: message, Err: err}
	}
	if q.Migrates() {
		u.Available, u.Conditional = []Update{{Release: u.Current}}, nil
	}
	return u, nil
}

// isUUID reports whether text has the form of a UUID.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range text {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !strings.ContainsRune("0123456789abcdefABCDEF", c):
			return false
		}
	}
	return true
}
