package extension

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/unpacked"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BackendOptions say what a [Backend] knows besides the API server. The zero
// value is useful, and nil counts as that.
type BackendOptions struct {
	// Images gives the content of images: of bundles, and of catalogs that nobody
	// serves. Nil means that catalogs are served, and bundles inline.
	Images operators.Images
	// Services gives the catalogs of services, such as catalogd's: the Client of
	// package served is one. Nil means that catalogs are images.
	Services operators.Services
	// Resolve says how to resolve. Nil means the zero options.
	Resolve *olm.Options
	// Together resolves all extensions jointly, with what their bundles require; see
	// [extension.Together]. All extensions and their revisions are read for it.
	Together bool
	// Certificates is the one of the Policy, which [SetupWithManager] fills in: it
	// says what objects a bundle with webhooks becomes.
	Certificates extension.CertificateProvider
	// Cache has the metadata of all objects of the kinds Cached, in all namespaces. Of
	// these it tells what has changed since it was read, and what has not is not read
	// again; see the package documentation. Nil means that each pass reads all.
	// [SetupWithManager] fills in the manager's, with the kinds that are watched.
	Cache client.Reader
	// Cached are the kinds of Cache.
	Cached []schema.GroupVersionKind
	// Clock tells when catalogs were read. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
}

// Backend is an [extension.Backend] on an API server, and answers what an
// extension is to have ([Backend.Resolve]) from the catalogs that are there. Its
// methods may be called from several goroutines. What it keeps in memory are
// catalogs, what was unpacked, and which objects it knows to be as they were
// applied; all else is on the server.
type Backend struct {
	client  *latest.Client // reads from the server, and remembers where it is told to
	api     *kube.Objects  // writes and reads by client, and remembers nothing
	opts    BackendOptions
	shelf   *shelf
	resolve extension.Resolve

	contents *unpacked.Contents[extension.Content] // by extension

	mu     sync.Mutex
	intact map[types.UID]string // objects whose fields are as they were applied; see shape
	active map[string]string    // by revision: the resourceVersion at which it was active
}

// New returns a Backend. The client must read from the server, as those of
// [kube.Direct] do: the one of a manager does not.
func New(c client.Client, opts *BackendOptions) *Backend {
	b := &Backend{
		contents: unpacked.New(mostContents, func(x, y *extension.Content) bool { return x.Bundle == y.Bundle && x.Reference == y.Reference }),
		intact:   map[types.UID]string{}, active: map[string]string{},
	}
	if opts != nil {
		b.opts = *opts
	}
	b.client = latest.New(c, b.opts.Cache, b.opts.Cached)
	b.api = &kube.Objects{Client: b.client, Manager: FieldManager}
	if b.opts.Clock == nil {
		b.opts.Clock = fairlead.SystemClock{}
	}
	b.shelf = &shelf{backend: b, loaded: map[string]*loaded{}}
	b.resolve = extension.Alone(b.shelf.current)
	if b.opts.Together {
		b.resolve = extension.Together(b.shelf.current, b.others)
	}
	return b
}

// Resolve implements [extension.Resolve] on the catalogs as they are.
func (b *Backend) Resolve(ctx context.Context, x *extension.ClusterExtension) (*extension.Answer, error) {
	if err := b.shelf.refresh(ctx); err != nil {
		return nil, err
	}
	return b.resolve(ctx, x)
}

// others are all extensions but one, with what their revisions say is installed.
func (b *Backend) others(ctx context.Context, name string) ([]extension.ClusterExtension, error) {
	all, err := decoded[extension.ClusterExtension](ctx, b, extensions)
	if err != nil {
		return nil, err
	}
	sets, err := decoded[extension.Revision](ctx, b, revisions)
	if err != nil {
		return nil, err
	}
	var others []extension.ClusterExtension
	for _, x := range all {
		if x.Name == name || x.DeletionTimestamp != nil {
			continue
		}
		var mine []extension.Revision
		for _, r := range sets {
			if r.Labels[extension.OwnerNameLabel] == x.Name {
				mine = append(mine, r)
			}
		}
		x.Status.Install = extension.InstalledOf(mine)
		others = append(others, x)
	}
	return others, nil
}

// list returns the objects of a kind, by namespace and name: as they were read, unless
// they have changed since. Do not change them.
func (b *Backend) list(ctx context.Context, gvk schema.GroupVersionKind, opts ...client.ListOption) ([]unstructured.Unstructured, error) {
	all, err := latest.List(ctx, b.client, gvk, kube.ListOf(gvk), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	return slices.SortedFunc(slices.Values(all.Items), func(x, y unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(x.GetNamespace(), y.GetNamespace()), strings.Compare(x.GetName(), y.GetName()))
	}), nil
}

// decoded is list in the engine's form.
func decoded[T any](ctx context.Context, b *Backend, gvk schema.GroupVersionKind) ([]T, error) {
	items, err := b.list(ctx, gvk)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(items))
	for i := range items {
		if err := kube.DecodeObject(&items[i], &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mostContents is how many bundles are kept unpacked for an extension: the one
// that it has, the next, and one that somebody tries.
const mostContents = 3
