package promql

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/cvo"
	"github.com/prometheus/common/model"
)

// Alerts returns the alerts that the server knows, including pending ones, in
// the server's order: the problems that the cluster itself reports, which may
// advise against an update. Behind OpenShift's Thanos querier it needs the same
// permissions as [Evaluator.Evaluate]. Answers are limited like those of
// queries; having no alerts is not an error.
func (e *Evaluator) Alerts(ctx context.Context) ([]cvo.Alert, error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	answer, err := e.api.Alerts(ctx)
	if err != nil {
		_, err := e.explain(err)
		return nil, fmt.Errorf("alerts of the Prometheus server at %s: %w", e.server, err)
	}
	out := []cvo.Alert{}
	for _, a := range answer.Alerts {
		out = append(out, cvo.Alert{
			Labels: texts(a.Labels), Annotations: texts(a.Annotations), State: string(a.State), ActiveAt: a.ActiveAt.UTC(),
		})
	}
	return out, nil
}

func texts(from model.LabelSet) map[string]string {
	out := make(map[string]string, len(from))
	for name, value := range from {
		out[string(name)] = string(value)
	}
	return out
}
