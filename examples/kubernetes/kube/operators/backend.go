package operators

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/unpacked"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BackendOptions say what a [Backend] knows besides the API server. The zero
// value is usable, and nil means the same.
type BackendOptions struct {
	// Images gives the content of images: of catalogs and of bundles. Nil means
	// that there is none: catalogs are ConfigMaps, bundles are inline.
	Images Images
	// Services gives the catalogs of services. Nil means that none is asked.
	Services Services
	// Resolve says how to resolve. Nil means the zero options.
	Resolve *olm.Options
	// Across keeps namespaces out of each other's way, see [install.Across]. Each
	// pass then reads the subscriptions and CSVs of all namespaces.
	Across bool
	// ClusterVersion is World.Version, of the distribution; empty means that
	// operators do not hold up its updates.
	ClusterVersion string
	// KubeVersion is World.KubeVersion; empty means that it is not known.
	KubeVersion string
	// ReportNamespace is where [install.ReportUpgradeable] leaves its reports, one
	// ConfigMap for each namespace. It must be set where ClusterVersion is.
	ReportNamespace string
	// Proxy is the cluster's, or nil.
	Proxy *config.Proxy
	// Copies says where copies of CSVs go; nil means everywhere.
	Copies *group.CopyOptions
	// Cache has the metadata of all objects of the kinds Cached, in all namespaces. Of
	// these it tells what has changed since it was read, and what has not is not read
	// again; see the package documentation. Nil means that each pass reads all.
	Cache client.Reader
	// Cached are the kinds of Cache. The installed Backend of [SetupWithManager] has
	// those that are watched.
	Cached []schema.GroupVersionKind
	// Clock tells the time that is written into statuses. Nil means
	// [fairlead.SystemClock].
	Clock fairlead.Clock
}

// Backend is an [install.Backend] on an API server, and answers what to install
// ([Backend.Resolve]) from the catalogs that are there. Its methods may be called
// from several goroutines. What it keeps in memory are catalogs and what was
// unpacked; all else is on the server.
type Backend struct {
	client *latest.Client // reads from the server, and remembers where it is told to
	api    *kube.Objects  // writes and reads by client
	opts   BackendOptions
	shelf  *shelf

	contents *unpacked.Contents[install.Content] // by namespace

	mu      sync.Mutex
	faults  map[string][]fairlead.Block // by namespace: what was passed over
	defined map[string]map[string]bool  // by namespace: the CRDs and API services that it speaks of
	written map[step]string             // the digests that steps of plans under way have left
}

// New returns a Backend. The client must read from the server, as those of
// [client.New] without a cache do: the one of a manager does not.
func New(c client.Client, opts *BackendOptions) (*Backend, error) {
	b := &Backend{
		contents: unpacked.New(mostContents, func(x, y *install.Content) bool { return x.Source == y.Source && x.Bundle == y.Bundle }),
		faults:   map[string][]fairlead.Block{}, defined: map[string]map[string]bool{}, written: map[step]string{},
	}
	if opts != nil {
		b.opts = *opts
	}
	b.client = latest.New(c, b.opts.Cache, b.opts.Cached)
	b.api = &kube.Objects{Client: b.client, Manager: FieldManager}
	if b.opts.ClusterVersion != "" && b.opts.ReportNamespace == "" {
		return nil, fmt.Errorf("kube/operators: ClusterVersion without ReportNamespace: name the namespace in which to report whether operators hold up updates")
	}
	if b.opts.Clock == nil {
		b.opts.Clock = fairlead.SystemClock{}
	}
	if b.opts.Resolve == nil {
		b.opts.Resolve = &olm.Options{}
	}
	b.shelf = &shelf{backend: b, loaded: map[olm.SourceKey]*loaded{}}
	return b, nil
}

// Resolve implements [install.Resolve] on the catalogs as they were when a
// namespace was observed last.
func (b *Backend) Resolve(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
	r, err := b.shelf.current()
	if err != nil {
		return nil, err
	}
	if b.opts.Across {
		return install.Across(r, b.Requests)(ctx, req)
	}
	return r.Resolve(ctx, req)
}

// Faults returns what the last observation of a namespace has passed over
// because it cannot be read. They are blocks like those of the engine.
func (b *Backend) Faults(namespace string) []fairlead.Block {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.faults[namespace]
}

// speaksOf reports which of the namespaces that were observed speak of a CRD, or
// of an API service.
func (b *Backend) speaksOf(name string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, namespace := range sortedKeys(b.defined) {
		if b.defined[namespace][name] {
			all = append(all, namespace)
		}
	}
	return all
}

// observed returns the namespaces that were observed, by name.
func (b *Backend) observed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sortedKeys(b.defined)
}

// step names the step of a plan that writes a CRD.
type step struct{ namespace, plan, crd string }

// wrote notes what a step has left of a CRD.
func (b *Backend) wrote(s step, digest string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written[s] = digest
}

// isDone reports whether a CRD is as a step has left it. Such a step is a danger
// to the objects of the CRD no more.
func (b *Backend) isDone(s step, digest string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return digest != "" && b.written[s] == digest
}

// forgetSteps drops what is noted of plans of a namespace but for some.
func (b *Backend) forgetSteps(namespace string, but func(plan string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.written, func(s step, _ string) bool { return s.namespace == namespace && !but(s.plan) })
}

func (b *Backend) now() time.Time { return b.opts.Clock.Now().UTC() }

// mostContents is how many bundles are kept unpacked for a namespace. A plan
// needs all of its own at once.
const mostContents = 256
