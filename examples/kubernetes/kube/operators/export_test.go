package operators

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/client-go/tools/events"
)

// Read waits until nothing is being read in the background.
func (b *Backend) Read() {
	b.catalogs.Wait()
	b.bundles.Wait()
}

// RetryCatalog is the delay before an unreadable catalog is read again.
const RetryCatalog = retryCatalog

// HealthOf returns the health of a deployment.
var HealthOf = healthOf

// WatchedKinds returns the kinds that the controller watches.
var WatchedKinds = watchedKinds

// Warned calls a function as the step of a plan.
var Warned = warned

// NewReporter returns the function that reports passes over a namespace.
func NewReporter(b *Backend, recorder events.EventRecorder) func(context.Context, string, fairlead.Pass) {
	r := &reporter{backend: b, told: map[string][]string{}}
	r.events = &kube.Events{Recorder: recorder, Action: "Install", Object: r.object}
	return r.report
}
