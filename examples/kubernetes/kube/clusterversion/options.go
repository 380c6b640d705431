package clusterversion

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// FieldManager is the name under which manifests are applied.
	FieldManager = "fairlead-clusterversion"
	// Label is on every resource that was applied; its value is the name of the
	// ClusterVersion.
	Label = "fairlead.io/clusterversion"
)

// Options configures New and SetupWithManager. The zero value applies
// nothing, because it has no Source.
type Options struct {
	// Name is the name of the only ClusterVersion that is used. Empty means
	// "version".
	Name string
	// Own is the release that contains the engine, see cvo.World: the first one
	// that the cluster should run, which needs no verification.
	Own cvo.Release
	// Pod is the pod that this process runs in; its image then takes the place of
	// Own, because it is what actually runs. Nil means that Own is used.
	Pod *Pod
	// Source provides the files of releases. Nil means that none is available.
	Source Source
	// Verifier verifies release images. Nil accepts none.
	Verifier cvo.Verifier
	// Updates configures queries of the update service. Nil means that there
	// are none.
	Updates *Updates
	// Alerts returns the cluster's alerts; it is called every half minute at most.
	// Nil means that alerts are unknown.
	Alerts Alerts
	// Policy is that of the engine; nil means the zero policy. New reads its
	// RetrieveTimeout and the profile of its Filter.
	Policy *cvo.Policy
	// Force makes applying manifests take over fields from other managers.
	Force bool
	// Parallel limits the concurrent requests of one pass. Zero means 16.
	Parallel int
	// Timeout limits the time of one request. Zero means 30 seconds.
	Timeout time.Duration
	// Reports reads ClusterOperators and the resources that take time, possibly from
	// a cache; if it has the ClusterVersion, it also shows whether that has changed.
	// Nil means the client. SetupWithManager sets its own.
	Reports client.Reader
	// Clock is the clock. Nil means fairlead.SystemClock.
	Clock fairlead.Clock
	// Changed is called in its own goroutine when a release was retrieved or the
	// update service has answered. It may be nil. SetupWithManager sets its own.
	Changed func()

	// Store keeps the engine's state; see kube.Store. SetupWithManager requires
	// it. This field and the following ones are used only by SetupWithManager.
	Store fairlead.Store
	// Trace is called as things happen, for example that of kube.Metrics. It
	// may be nil.
	Trace *fairlead.Trace
	// Registry registers the metrics of the backend. It may be nil.
	Registry prometheus.Registerer

	reported bool // Reports was set
}

func (o *Options) withDefaults(c client.Client) (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Name == "" {
		out.Name = "version"
	}
	if problems := validation.IsValidLabelValue(out.Name); len(problems) > 0 {
		return out, fmt.Errorf("clusterversion: the name %q must be a label value: %s", out.Name, strings.Join(problems, "; "))
	}
	if out.Parallel <= 0 {
		out.Parallel = 16
	}
	if out.Timeout <= 0 {
		out.Timeout = 30 * time.Second
	}
	if out.reported = out.Reports != nil; !out.reported {
		out.Reports = c
	}
	if out.Clock == nil {
		out.Clock = fairlead.SystemClock{}
	}
	if out.Changed == nil {
		out.Changed = func() {}
	}
	if u := out.Updates; u != nil && u.Architecture == "" {
		return out, errors.New("clusterversion: Updates.Architecture is empty: the update service needs one, such as amd64")
	}
	return out, nil
}

// profile returns the cluster profile for which the operator's own manifests
// are rendered; empty means the default.
func (o *Options) profile() string {
	if o.Policy == nil || o.Policy.Filter == nil || o.Policy.Filter.Profile == nil {
		return ""
	}
	return *o.Policy.Filter.Profile
}

// retrieveTimeout returns the engine's timeout for retrieving a release.
func (o *Options) retrieveTimeout() time.Duration {
	if o.Policy != nil && o.Policy.RetrieveTimeout > 0 {
		return o.Policy.RetrieveTimeout
	}
	return 4 * time.Minute
}
