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

// Options are what New and SetupWithManager are told. The zero value applies
// nothing, for it has no Source.
type Options struct {
	// Name is that of the one ClusterVersion that counts. Empty means "version".
	Name string
	// Own is the release that the engine is part of, see cvo.World: the first one
	// that the cluster is to run, which needs no verification.
	Own cvo.Release
	// Pod is the pod that this process runs in; its image is what Own is then, for
	// that is what runs. Nil means that Own says it.
	Pod *Pod
	// Source brings the files of releases. Nil means that none can be had.
	Source Source
	// Verifier vouches for release images. Nil vouches for none.
	Verifier cvo.Verifier
	// Updates says how to ask for updates. Nil means that nobody is asked.
	Updates *Updates
	// Alerts is where the cluster's alerts are asked for, every half minute at most.
	// Nil means that they are not known.
	Alerts Alerts
	// Policy is the engine's; nil means the zero one. New reads its
	// RetrieveTimeout and the profile of its Filter.
	Policy *cvo.Policy
	// Force takes fields over from other managers when manifests are applied.
	Force bool
	// Parallel is how many requests one pass has under way at a time. Zero means
	// 16.
	Parallel int
	// Timeout is how long one request may take. Zero means 30 seconds.
	Timeout time.Duration
	// Reports is where ClusterOperators and the resources that take time are read,
	// a cache perhaps; and where it is looked whether the ClusterVersion has changed,
	// if it has that. Nil means the client. SetupWithManager sets its own.
	Reports client.Reader
	// Clock tells the time. Nil means fairlead.SystemClock.
	Clock fairlead.Clock
	// Changed is called when a release was retrieved or the update service has
	// answered, from a goroutine of its own. Nil for nobody. SetupWithManager sets
	// its own.
	Changed func()

	// Store keeps the engine's state; see kube.Store. SetupWithManager needs one.
	// Only SetupWithManager reads it, and what follows.
	Store fairlead.Store
	// Trace is called as things happen, as by kube.Metrics. Nil means nothing.
	Trace *fairlead.Trace
	// Registry takes the metrics of the backend. Nil means none does.
	Registry prometheus.Registerer

	reported bool // there are Reports
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
		return out, fmt.Errorf("clusterversion: the name %q is to be a label's value: %s", out.Name, strings.Join(problems, "; "))
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
		return out, errors.New("clusterversion: Updates.Architecture is empty: the update service is to be told one, such as amd64")
	}
	return out, nil
}

// profile is the cluster profile that the operator's own manifests are rendered
// for; empty for the default.
func (o *Options) profile() string {
	if o.Policy == nil || o.Policy.Filter == nil || o.Policy.Filter.Profile == nil {
		return ""
	}
	return *o.Policy.Filter.Profile
}

// retrieveTimeout is how long retrieving may take, as the engine has it.
func (o *Options) retrieveTimeout() time.Duration {
	if o.Policy != nil && o.Policy.RetrieveTimeout > 0 {
		return o.Policy.RetrieveTimeout
	}
	return 4 * time.Minute
}
