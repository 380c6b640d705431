package graph

import "time"

// FetchState is what is remembered of asking the update service: enough to
// decide when to ask again. The zero value has never asked.
type FetchState struct {
	Upstream     string    `json:"upstream,omitempty"`     // where the last answer was asked for
	Channel      string    `json:"channel,omitempty"`      // for which channel
	Architecture string    `json:"architecture,omitempty"` // for which architecture
	Attempt      time.Time `json:"attempt,omitzero"`       // when it was asked last
	Success      time.Time `json:"success,omitzero"`       // when it last answered, or the question last changed
}

// FetchPolicy says how often an update service is asked. Nil is the zero value.
type FetchPolicy struct {
	// Every is the least time between two attempts; default 3 minutes, the middle
	// of what the cluster-version operator draws.
	Every time.Duration
	// Stale is when old answers are no longer held on to; default 24 hours.
	Stale time.Duration
}

// FetchFailure says why a service gave no graph.
type FetchFailure string

// The failures, by the reasons of the condition RetrievedUpdates.
const (
	RemoteFailed          FetchFailure = "RemoteFailed"          // the service cannot be reached
	ResponseFailed        FetchFailure = "ResponseFailed"        // it refuses
	ResponseInvalid       FetchFailure = "ResponseInvalid"       // it answers with no graph
	VersionNotFound       FetchFailure = "VersionNotFound"       // its graph lacks the cluster's version
	NoChannel             FetchFailure = "NoChannel"             // there is no channel to ask for
	NoArchitecture        FetchFailure = "NoArchitecture"        // the architecture of the cluster is unknown
	NoCurrentVersion      FetchFailure = "NoCurrentVersion"      // the cluster has no version
	InvalidCurrentVersion FetchFailure = "InvalidCurrentVersion" // its version is not a semantic version
	InvalidID             FetchFailure = "InvalidID"             // its identity is no UUID
	InvalidURI            FetchFailure = "InvalidURI"            // the address of the service cannot be read
)

// Due reports whether the service is to be asked now, and if not, when. It is
// asked when it never was, when the question has changed, when nothing was heard
// for the time of Stale, and otherwise every so often.
func (s FetchState) Due(q *Query, now time.Time, policy *FetchPolicy) (due bool, wake time.Time) {
	p := policy.withDefaults()
	if s.Attempt.IsZero() || s.changed(q) || s.Attempt.After(now) {
		return true, time.Time{}
	}
	next := s.Attempt.Add(p.Every)
	return !next.After(now), next
}

// changed reports whether another question was asked before. Naming the default
// service is the same as naming none.
func (s FetchState) changed(q *Query) bool {
	before := Query{Upstream: s.Upstream}
	return before.upstream() != q.upstream() || s.Channel != q.Channel || s.Architecture != q.Architecture
}

// Fetched returns the state after an attempt, and whether the lists of updates
// from before are to be kept when it failed. They are kept when the service
// could not be reached or gave no graph, unless the question has changed or the
// last answer is stale. failure is empty after a success.
func (s FetchState) Fetched(q *Query, failure FetchFailure, now time.Time, policy *FetchPolicy) (next FetchState, keep bool) {
	p := policy.withDefaults()
	changed := s.changed(q)
	next = FetchState{Upstream: q.Upstream, Channel: q.Channel, Architecture: q.Architecture, Attempt: now, Success: s.Success}
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
