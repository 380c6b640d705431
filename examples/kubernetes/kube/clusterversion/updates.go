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

// Updates says how the update service is asked, and who evaluates the rules of
// conditional updates. What is learnt is kept in memory: after a restart it is
// asked again, and the lists of the status stay until there is an answer.
type Updates struct {
	// Architecture is that of the cluster, such as amd64, or
	// graph.ArchitectureMulti.
	Architecture string
	// HTTP is used to ask; nil means http.DefaultClient.
	HTTP *http.Client
	// Evaluator tells whether the cluster is one of those that a rule describes.
	// Nil means that only risks of every cluster can be told: an update with any other
	// stays conditional, Recommended=Unknown with reason EvaluationFailed.
	Evaluator graph.Evaluator
	// Fetch says how often the service is asked; nil means the zero policy.
	Fetch *graph.FetchPolicy
	// Evaluation says how often rules are evaluated; nil means the zero policy.
	Evaluation *graph.EvaluationPolicy
	// Timeout is how long an answer, and then the evaluation, may take. Zero means
	// a minute each.
	Timeout time.Duration
}

// updates is what is known of them.
type updates struct {
	mu        sync.Mutex
	busy      bool // a goroutine asks
	asked     graph.FetchState
	offered   *graph.Updates // nil before the first answer
	condition cvo.Condition
	known     graph.Evaluations
	wake      time.Time // when to ask or evaluate again; zero when nobody needs to
}

// tellUpdates adds to a world what is known of updates, and sees to it that more
// becomes known.
func (b *Backend) tellUpdates(w *cvo.World) {
	if b.opts.Updates == nil || w.Cluster.Status.Desired.Version == "" {
		return // nothing is known yet to update from
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

// query is what the service is asked for a cluster.
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

// ask asks the service, if that is due, and has rules evaluated that are.
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

// nobody evaluates no rule.
type nobody struct{}

func (nobody) Evaluate(context.Context, graph.Rule) (bool, error) {
	return false, errors.New("no Prometheus is configured that could evaluate it")
}

// answered notes what became of a question.
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

// due is when updates are to be looked after again, or zero.
func (u *updates) due() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy {
		return time.Time{} // Changed is called
	}
	return u.wake
}

// earliest returns the first of two instants, of which a zero one is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
