package clusterversion

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// Updates configures queries of the update service and the evaluation of
// conditional updates. The results are kept in memory: after a restart the
// service is queried again, and the lists in the status stay until there is an
// answer.
type Updates struct {
	// Architecture is that of the cluster, such as amd64, or
	// graph.ArchitectureMulti.
	Architecture string
	// HTTP makes the queries; nil means http.DefaultClient.
	HTTP *http.Client
	// Evaluator decides whether a rule matches the cluster. With nil, only risks that
	// apply to every cluster are decided: an update with any other risk stays
	// conditional, Recommended=Unknown with reason EvaluationFailed.
	Evaluator graph.Evaluator
	// Fetch sets how often the service is queried; nil means the zero policy.
	Fetch *graph.FetchPolicy
	// Evaluation sets how often rules are evaluated; nil means the zero policy.
	Evaluation *graph.EvaluationPolicy
	// Timeout limits a query, and then the evaluation. Zero means a minute for
	// each.
	Timeout time.Duration
}

// updates is what is known about updates.
type updates struct {
	mu        sync.Mutex
	busy      bool // a query is under way
	asked     graph.FetchState
	offered   *graph.Updates // nil before the first answer
	condition cvo.Condition
	known     graph.Evaluations
	wake      time.Time // when to query or evaluate again; zero if never
}

// tellUpdates adds to a world what is known about updates, and starts a query if
// one is due.
func (b *Backend) tellUpdates(w *cvo.World) {
	if b.opts.Updates == nil || w.Cluster.Status.Desired.Version == "" {
		return // the release to update from is not known yet
	}
	q := b.query(w.Cluster)
	u := &b.updates
	u.mu.Lock()
	defer u.mu.Unlock()
	w.Updates, w.Evaluations, w.UpdatesCondition = u.offered, u.known, u.condition
	now := b.opts.Clock.Now()
	due, wake := u.asked.Due(q, now, b.opts.Updates.Fetch)
	if u.busy || !due && (u.wake.IsZero() || now.Before(u.wake)) {
		return
	}
	u.busy, u.wake = true, wake
	b.releases.wait.Go(func() {
		b.ask(b.releases.ctx, q, due)
		if b.releases.ctx.Err() == nil {
			b.opts.Changed()
		}
	})
}

// query returns the query for a cluster.
func (b *Backend) query(cv *cvo.ClusterVersion) *graph.Query {
	q := &graph.Query{
		Upstream: cv.Spec.Upstream, Channel: cv.Spec.Channel, Cluster: cv.Spec.ClusterID, Version: cv.Status.Desired.Version,
		Architecture: b.opts.Updates.Architecture, Current: b.opts.Updates.Architecture,
	}
	if d := cv.Spec.DesiredUpdate; d != nil && d.Architecture != "" {
		q.Architecture = d.Architecture
	}
	return q
}

// ask queries the service, if that is due, and evaluates the rules that are
// due.
func (b *Backend) ask(ctx context.Context, q *graph.Query, due bool) {
	u, opts := &b.updates, b.opts.Updates
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = time.Minute
	}
	if due {
		limited, cancel := context.WithTimeout(ctx, timeout)
		offered, _, err := q.Fetch(limited, opts.HTTP, nil)
		cancel()
		if ctx.Err() == nil {
			u.answered(q, offered, err, b.opts.Clock.Now().UTC(), opts.Fetch)
		}
	}
	u.mu.Lock()
	offered, known := u.offered, u.known
	u.mu.Unlock()
	var wake time.Time
	if offered != nil {
		evaluator := opts.Evaluator
		if evaluator == nil {
			evaluator = nobody{}
		}
		limited, cancel := context.WithTimeout(ctx, timeout)
		known, wake = known.Evaluate(limited, evaluator, offered.Conditional, b.opts.Clock, opts.Evaluation)
		cancel()
	}
	_, next := u.asked.Due(q, b.opts.Clock.Now(), opts.Fetch)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy, u.known, u.wake = false, known, earliest(wake, next)
}

// nobody is an Evaluator that evaluates no rule.
type nobody struct{}

func (nobody) Evaluate(context.Context, graph.Rule) (bool, error) {
	return false, errors.New("no Prometheus is configured to evaluate it")
}

// answered records the result of a query.
func (u *updates) answered(q *graph.Query, offered *graph.Updates, err error, now time.Time, policy *graph.FetchPolicy) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := cvo.Condition{Type: "RetrievedUpdates", Status: cvo.True}
	failure := graph.FetchFailure("")
	if err != nil {
		failure = graph.RemoteFailed
		var fetch *graph.FetchError
		if errors.As(err, &fetch) {
			failure = fetch.Failure
		}
		c.Status, c.Reason, c.Message = cvo.False, string(failure), err.Error()
		if fetch != nil {
			c.Message = fetch.Message
		}
	}
	next, keep := u.asked.Fetched(q, failure, now, policy)
	u.asked, u.condition = next, c
	switch {
	case err == nil:
		u.offered = offered
	case !keep:
		u.offered = &graph.Updates{}
	}
}

// due returns when to query or evaluate again, or zero.
func (u *updates) due() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy {
		return time.Time{} // Changed will be called
	}
	return u.wake
}

// earliest returns the earlier of two times; zero times are ignored.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
