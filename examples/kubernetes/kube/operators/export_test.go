package operators

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/client-go/tools/events"
)

// RetryCatalog is how long a catalog that could not be read is left alone.
const RetryCatalog = retryCatalog

// HealthOf is how a deployment stands.
var HealthOf = healthOf

// WatchedKinds are those that the controller watches.
var WatchedKinds = watchedKinds

// Warned carries something out as the step of a plan.
var Warned = warned

// NewReporter returns what reports passes over a namespace.
func NewReporter(b *Backend, recorder events.EventRecorder) func(context.Context, string, fairlead.Pass) {
	r := &reporter{backend: b, told: map[string][]string{}}
	r.events = &kube.Events{Recorder: recorder, Action: "Install", Object: r.object}
	return r.report
}
