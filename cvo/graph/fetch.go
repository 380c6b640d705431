package graph

import "time"

// FetchState is what is remembered about queries to the update service: enough to
// decide when to query again. In the zero value, there was none.
type FetchState struct {
	Upstream     string    `json:"upstream,omitempty"`     // the service that was last queried
	Channel      string    `json:"channel,omitempty"`      // for which channel
	Version      string    `json:"version,omitempty"`      // for which release
	Architecture string    `json:"architecture,omitempty"` // for which architecture
	Attempt      time.Time `json:"attempt,omitzero"`       // when it was last queried
	Success      time.Time `json:"success,omitzero"`       // when it last answered, or the query last changed
}

// FetchPolicy says how often an update service is queried. Nil means the
// defaults.
type FetchPolicy struct {
	// Every is the minimum time between two attempts; default 3 minutes, the
	// middle of the cluster-version operator's random range.
	Every time.Duration
	// Stale is the age at which old answers are dropped; default 24 hours.
	Stale time.Duration
}

// FetchFailure says why a service returned no graph.
type FetchFailure string

// The failures, by the reasons of the condition RetrievedUpdates.
const (
	RemoteFailed          FetchFailure = "RemoteFailed"          // the service cannot be reached
	ResponseFailed        FetchFailure = "ResponseFailed"        // it refused
	ResponseInvalid       FetchFailure = "ResponseInvalid"       // its answer is not a graph
	VersionNotFound       FetchFailure = "VersionNotFound"       // its graph lacks the cluster's version
	NoChannel             FetchFailure = "NoChannel"             // no channel is set
	NoArchitecture        FetchFailure = "NoArchitecture"        // the architecture of the cluster is unknown
	NoCurrentVersion      FetchFailure = "NoCurrentVersion"      // the cluster has no version
	InvalidCurrentVersion FetchFailure = "InvalidCurrentVersion" // its version is not a semantic version
	InvalidID             FetchFailure = "InvalidID"             // its ID is not a UUID
	InvalidURI            FetchFailure = "InvalidURI"            // the address of the service cannot be read
)

// Due reports whether to query the service now, and if not, when. It is queried
// if it never was, if the query has changed, if no answer arrived within Stale,
// and otherwise at intervals of Every.
func (s FetchState) Due(q *Query, now time.Time, policy *FetchPolicy) (due bool, wake time.Time) {
	p := policy.withDefaults()
	if s.Attempt.IsZero() || s.changed(q) || s.Attempt.After(now) {
		return true, time.Time{}
	}
	next := s.Attempt.Add(p.Every)
	return !next.After(now), next
}

// changed reports whether the previous query was different. Naming the default
// service is the same as naming none.
func (s FetchState) changed(q *Query) bool {
	before := Query{Upstream: s.Upstream}
	return before.upstream() != q.upstream() || s.Channel != q.Channel || s.Version != q.Version || s.Architecture != q.Architecture
}

// Fetched returns the state after an attempt, and whether to keep the old lists
// of updates after a failure. They are kept if the service could not be reached
// or returned no graph, unless the query has changed or the last answer is stale.
// failure is empty after a success.
func (s FetchState) Fetched(q *Query, failure FetchFailure, now time.Time, policy *FetchPolicy) (next FetchState, keep bool) {
	p := policy.withDefaults()
	changed := s.changed(q)
	next = FetchState{Upstream: q.Upstream, Channel: q.Channel, Version: q.Version, Architecture: q.Architecture, Attempt: now, Success: s.Success}
	if failure == "" || changed {
		next.Success = now
	}
	switch failure {
	case "":
		return next, false
	case RemoteFailed, ResponseFailed, ResponseInvalid:
		return next, !changed && now.Sub(s.Success) <= p.Stale
	}
	return next, false
}

func (p *FetchPolicy) withDefaults() FetchPolicy {
	out := FetchPolicy{Every: 3 * time.Minute, Stale: 24 * time.Hour}
	if p != nil && p.Every > 0 {
		out.Every = p.Every
	}
	if p != nil && p.Stale > 0 {
		out.Stale = p.Stale
	}
	return out
}
