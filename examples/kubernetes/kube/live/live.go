package live

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is the data read from a cluster.
type Cluster struct {
	plan.Situation
	Gaps []cvo.Gap // what could not be read: why, and how to get it; in the order of reading
}

// Read reads the data for a plan. Its updates are those in the ClusterVersion;
// catalogs, by minor version of the cluster, contain the possible versions of the
// installed operators. The error is that of ctx, of a server that does not answer, or
// of a catalog. It takes one request for every 500 objects of each of [Kinds].
func Read(ctx context.Context, c client.Reader, catalogs map[string]*catalog.Catalog, now time.Time) (*Cluster, error) {
	from, gaps, err := Objects(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := situation.Of(from, catalogs)
	if err != nil {
		return nil, err
	}
	s.At = now
	return &Cluster{s.Situation, gaps}, nil
}

// Objects reads the same objects as Read.
func Objects(ctx context.Context, c client.Reader) (*snapshot.Snapshot, []cvo.Gap, error) {
	r := &reader{client: c}
	err := r.read(ctx, Kinds())
	if err == nil {
		err = r.gates(ctx)
	}
	if err != nil {
		return nil, r.gaps, err
	}
	s, err := r.snapshot()
	return s, r.gaps, err
}

// Alerts returns the alerts of a cluster's monitoring, as promql.Evaluator.Alerts does.
type Alerts func(context.Context) ([]cvo.Alert, error)

// Inspect reports the progress of a cluster's update and what blocks it, using
// cvo.Inspect. Alerts are unknown if alerts is nil or fails. The error is that of ctx,
// or of a server that does not answer.
func Inspect(ctx context.Context, c client.Reader, alerts Alerts, now time.Time) (*cvo.Report, error) {
	r := &reader{client: c}
	if err := r.read(ctx, statusKinds()); err != nil {
		return nil, err
	}
	s, err := r.snapshot()
	if err != nil {
		return nil, err
	}
	d := s.UpdateDump()
	if alerts != nil {
		if d.Alerts, err = alerts(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			d.Alerts = nil
			r.gaps = append(r.gaps, cvo.Gap{What: err.Error(), How: "make sure that Prometheus can be reached and queried, or look at the alerts page of the console"})
		}
	}
	if now.IsZero() {
		now = s.Clock.At // the latest time that a server wrote
	}
	report := cvo.Inspect(d, now)
	report.Gaps = slices.Insert(report.Gaps, 0, r.gaps...)
	return report, nil
}
