package clusterversion

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Alerts returns the cluster's alerts; promql.Evaluator implements it.
type Alerts interface {
	// Alerts returns the alerts, pending ones included. An empty list means that
	// there are none; if they are not known, that is an error.
	Alerts(ctx context.Context) ([]cvo.Alert, error)
}

// How often alerts are requested, how long an answer is used if there is no
// newer one, and how long a request may take.
const (
	alertsEvery = 30 * time.Second
	alertsHold  = 5 * time.Minute
	alertsTime  = 10 * time.Second
)

// alerts keeps the last answer.
type alerts struct {
	mu     sync.Mutex
	asked  time.Time
	at     time.Time // of the answer
	answer []cvo.Alert
}

// tellAlerts adds the alerts of the cluster, from the last answer. A server that
// does not answer delays nothing; its alerts are dropped after a while.
func (b *Backend) tellAlerts(ctx context.Context, w *cvo.World) {
	if b.opts.Alerts == nil {
		return
	}
	a, now := &b.alerts, b.opts.Clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if since := now.Sub(a.asked); a.asked.IsZero() || since < 0 || since >= alertsEvery {
		a.asked = now
		ctx, cancel := context.WithTimeout(ctx, alertsTime)
		answer, err := b.opts.Alerts.Alerts(ctx)
		cancel()
		if err == nil {
			a.at, a.answer = now, answer
		} else {
			log.FromContext(ctx).Info("alerts are unknown", "error", err.Error())
		}
	}
	if held := now.Sub(a.at); !a.at.IsZero() && held >= 0 && held < alertsHold {
		w.Alerts = a.answer
	}
}
