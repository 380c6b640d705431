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
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/unpacked"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BackendOptions configures a [Backend]. The zero value is usable, and nil
// means the same.
type BackendOptions struct {
	// Images provides the content of images: of catalogs and of bundles. With
	// nil, catalogs are ConfigMaps, and bundles are inline.
	Images Images
	// Services provides the catalogs of services. Nil means that no service is
	// queried.
	Services Services
	// Tenants limits the catalog sources of all namespaces but
	// Resolve.GlobalNamespace.
	Tenants Tenants
	// Unread is called when a catalog source could not be read, with the whole error:
	// its status says less. It may be nil; [SetupWithManager] sets it to log.
	Unread func(source olm.SourceKey, err error)
	// Resolve configures resolution. Nil means the zero options.
	Resolve *olm.Options
	// As returns a client that acts as a service account of a namespace, without a
	// cache, such as that of [kube.Accounts]: what operators bring is written in the
	// name of the account of their operator group. Nil means that nothing is written
	// for groups that name one. [SetupWithManager] sets it.
	As func(namespace, account string) (client.Client, error)
	// Across prevents conflicts between namespaces, see [install.Across]. Each
	// pass then reads the subscriptions and CSVs of all namespaces.
	Across bool
	// ClusterVersion is World.Version, of the distribution; empty means that
	// operators do not block its updates.
	ClusterVersion string
	// KubeVersion is World.KubeVersion; empty means unknown.
	KubeVersion string
	// ReportNamespace is the namespace for the reports of
	// [install.ReportUpgradeable], one ConfigMap for each namespace. It must be
	// set if ClusterVersion is.
	ReportNamespace string
	// Proxy is that of the cluster, or nil.
	Proxy *config.Proxy
	// Copies determines where copies of CSVs are created; nil means everywhere.
	Copies *group.CopyOptions
	// Cache has the metadata of all objects of the kinds Cached, in all namespaces. It
	// shows which of them have changed since they were read; the others are not read
	// again, see the package documentation. Nil means that each pass reads everything.
	Cache client.Reader
	// Cached lists the kinds in Cache. [SetupWithManager] sets it to the kinds that
	// are watched.
	Cached []schema.GroupVersionKind
	// Clock is the clock for the times in statuses. Nil means
	// [fairlead.SystemClock].
	Clock fairlead.Clock
}

// Backend is an [install.Backend] on an API server, and resolves what to install
// ([Backend.Resolve]) from the catalogs of the cluster. Its methods may be called
// from several goroutines. It keeps in memory only catalogs and unpacked bundles;
// everything else is on the server.
type Backend struct {
	client *latest.Client // reads from the server, and remembers on request
	api    *kube.Objects  // reads and writes through client
	opts   BackendOptions
	shelf  *shelf

	contents *unpacked.Contents[install.Content] // by namespace
	catalogs *reading.Sources[content]           // those that are not ConfigMaps
	bundles  *reading.Sources[struct{}]          // those in images, by namespace and name

	mu      sync.Mutex
	faults  map[string][]fairlead.Block // by namespace: the objects that were skipped
	defined map[string]map[string]bool  // by namespace: the CRDs and API services that its objects name
	written map[step]string             // the digests written by steps of plans under way
	limited map[string]bool             // the namespaces whose group names a service account
}

// New returns a Backend. The client must read from the server, like those of
// [client.New] without a cache and unlike that of a manager.
func New(c client.Client, opts *BackendOptions) (*Backend, error) {
	b := &Backend{
		contents: unpacked.New(mostContents, func(x, y *install.Content) bool { return x.Source == y.Source && x.Bundle == y.Bundle }),
		faults:   map[string][]fairlead.Block{}, defined: map[string]map[string]bool{}, written: map[step]string{}, limited: map[string]bool{},
	}
	if opts != nil {
		b.opts = *opts
	}
	b.client = latest.New(c, b.opts.Cache, b.opts.Cached)
	b.api = &kube.Objects{Client: b.client, Manager: FieldManager}
	if b.opts.ClusterVersion != "" && b.opts.ReportNamespace == "" {
		return nil, fmt.Errorf("kube/operators: ClusterVersion without ReportNamespace: name the namespace for the reports on whether operators block updates")
	}
	if b.opts.Clock == nil {
		b.opts.Clock = fairlead.SystemClock{}
	}
	if b.opts.Resolve == nil {
		b.opts.Resolve = &olm.Options{}
	}
	b.shelf = &shelf{backend: b, loaded: map[olm.SourceKey]*loaded{}}
	retry := fairlead.Backoff{Min: retryCatalog, Max: 10 * time.Minute}
	b.catalogs = &reading.Sources[content]{Clock: b.opts.Clock, Timeout: timeToRead, Each: readAtOnce, Retry: retry, Budget: b.budget}
	b.bundles = &reading.Sources[struct{}]{Clock: b.opts.Clock, Timeout: timeToRead, Each: readAtOnce, Retry: fairlead.Backoff{Min: time.Second, Max: time.Minute}}
	return b, nil
}

// Resolve implements [install.Resolve] with the catalogs as of the last
// observation of a namespace.
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

// Faults returns the objects that the last observation of a namespace skipped
// because they cannot be read, as blocks like those of the engine.
func (b *Backend) Faults(namespace string) []fairlead.Block {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.faults[namespace]
}

// speaksOf returns the observed namespaces whose objects name a CRD or an API
// service.
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

// withAccounts returns the namespaces whose operator group names a service account.
func (b *Backend) withAccounts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sortedKeys(b.limited)
}

// acting returns what writes as a service account of a namespace, or with the
// controller's own rights if account is empty. Reads are its own always.
func (b *Backend) acting(namespace, account string) (*kube.Objects, error) {
	if account == "" {
		return b.api, nil
	}
	if b.opts.As == nil {
		return nil, fmt.Errorf("kube/operators: nothing can be written as service account %s/%s: the backend has no BackendOptions.As", namespace, account)
	}
	c, err := b.opts.As(namespace, account)
	if err != nil {
		return nil, err
	}
	return &kube.Objects{Client: b.client.As(c), Manager: FieldManager}, nil
}

// observed returns the observed namespaces, by name.
func (b *Backend) observed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sortedKeys(b.defined)
}

// step identifies the step of a plan that writes a CRD.
type step struct{ namespace, plan, crd string }

// wrote records the digest of the CRD that a step has written.
func (b *Backend) wrote(s step, digest string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written[s] = digest
}

// isDone reports whether a CRD is as a step has written it. Such a step no
// longer endangers the objects of the CRD.
func (b *Backend) isDone(s step, digest string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return digest != "" && b.written[s] == digest
}

// forgetSteps drops the records of the plans of a namespace, except some.
func (b *Backend) forgetSteps(namespace string, but func(plan string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.written, func(s step, _ string) bool { return s.namespace == namespace && !but(s.plan) })
}

func (b *Backend) now() time.Time { return b.opts.Clock.Now().UTC() }

// mostContents limits how many unpacked bundles are kept for a namespace. A
// plan needs all of its own at once.
const mostContents = 256
