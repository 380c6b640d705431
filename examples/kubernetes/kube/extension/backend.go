package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/unpacked"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BackendOptions configures a [Backend]. The zero value is usable, and nil
// means the same.
type BackendOptions struct {
	// Images provides the content of images: of bundles, and of catalogs that are
	// not served. Nil means that catalogs are served, and bundles inline.
	Images operators.Images
	// Services provides the catalogs of services, such as catalogd; the Client
	// of package served implements it. Nil means that catalogs are images.
	Services operators.Services
	// Resolve configures resolution. Nil means the zero options.
	Resolve *olm.Options
	// As returns a client that acts as a service account of a namespace, without a
	// cache, such as that of [kube.Accounts]: objects are written and deleted in the
	// name of the extension's account. Nil means that none is written for extensions that name one.
	// [SetupWithManager] sets it.
	As func(namespace, account string) (client.Client, error)
	// Together resolves all extensions jointly, with the requirements of their
	// bundles; see [extension.Together]. It reads all extensions and their
	// revisions.
	Together bool
	// Certificates is that of the Policy, which [SetupWithManager] fills in. The
	// objects of a bundle with webhooks depend on it.
	Certificates extension.CertificateProvider
	// Cache has the metadata of all objects of the kinds Cached, in all namespaces. It
	// shows which of them have changed since they were read; the others are not read
	// again, see the package documentation. Nil means that each pass reads everything.
	// [SetupWithManager] sets the manager's cache, with the kinds that are watched.
	Cache client.Reader
	// Cached lists the kinds in Cache.
	Cached []schema.GroupVersionKind
	// Clock is the clock for the time when catalogs were read. Nil means
	// [fairlead.SystemClock].
	Clock fairlead.Clock
}

// Backend is an [extension.Backend] on an API server, and resolves extensions
// ([Backend.Resolve]) from the catalogs of the cluster. Its methods may be
// called from several goroutines. It keeps in memory only catalogs, unpacked
// bundles, and which objects are known to be as they were applied; everything
// else is on the server.
type Backend struct {
	client  *latest.Client // reads from the server, and remembers on request
	api     *kube.Objects  // reads and writes through client, and remembers nothing
	opts    BackendOptions
	shelf   *shelf
	resolve extension.Resolve

	catalogs *reading.Sources[content]
	bundles  *reading.Sources[struct{}]            // their images, by extension and name
	contents *unpacked.Contents[extension.Content] // by extension

	mu     sync.Mutex
	intact map[types.UID]string // objects whose fields are as they were applied; see shape
	active map[string]string    // by revision: the resourceVersion at which it was active
}

// New returns a Backend. The client must read from the server, like those of
// [kube.Direct] and unlike that of a manager.
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
	b.shelf = &shelf{backend: b}
	b.catalogs = &reading.Sources[content]{Clock: b.opts.Clock, Timeout: 5 * time.Minute, Each: 1, Retry: fairlead.Backoff{Min: retryCatalog, Max: 10 * time.Minute}}
	b.bundles = &reading.Sources[struct{}]{Clock: b.opts.Clock, Timeout: 5 * time.Minute, Each: 2, Retry: fairlead.Backoff{Min: time.Second, Max: time.Minute}}
	b.resolve = extension.Alone(b.shelf.current)
	if b.opts.Together {
		b.resolve = extension.Together(b.shelf.current, b.others)
	}
	return b
}

// acting returns what writes as a service account of an extension's namespace, or with the
// controller's own rights if account is empty. Reads are its own always.
func (b *Backend) acting(ctx context.Context, name, account string) (*kube.Objects, error) {
	if account == "" {
		return b.api, nil
	}
	if b.opts.As == nil {
		return nil, fmt.Errorf("kube/extension: nothing can be written as service account %s: the backend has no BackendOptions.As", account)
	}
	u := kube.Stub(extensions, "", name)
	if err := b.api.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return nil, kube.Outcome(kube.RefOf(extensions, "", name), err)
	}
	var x extension.ClusterExtension
	if err := kube.DecodeObject(u, &x); err != nil {
		return nil, err
	}
	if x.Spec.ServiceAccount.Name != account {
		return nil, &kube.ChangedError{Object: kube.RefOf(extensions, "", name), Problem: "it no longer names service account " + account}
	}
	c, err := b.opts.As(x.Spec.Namespace, account)
	if err != nil {
		return nil, err
	}
	return &kube.Objects{Client: b.client.As(c), Manager: FieldManager}, nil
}

// answer is the outcome of a write as a service account, if account is not empty: what is
// refused then is the account's to be given, not the controller's.
func answer(account string, ref kube.Ref, err error) error {
	if account == "" || !apierrors.IsForbidden(err) {
		return err
	}
	var status apierrors.APIStatus
	errors.As(err, &status)
	return &fairlead.RefusedError{Code: http.StatusForbidden, Reason: string(metav1.StatusReasonForbidden), Message: ref.String() + ": " + status.Status().Message}
}

// Resolve implements [extension.Resolve] with the current catalogs.
func (b *Backend) Resolve(ctx context.Context, x *extension.ClusterExtension) (*extension.Answer, error) {
	if err := b.shelf.refresh(ctx); err != nil {
		return nil, err
	}
	return b.resolve(ctx, x)
}

// others returns all extensions except one, with what is installed according to
// their revisions.
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

// list returns the objects of a kind, by namespace and name, and reads them only if
// they have changed since the last time. Do not modify them.
func (b *Backend) list(ctx context.Context, gvk schema.GroupVersionKind, opts ...client.ListOption) ([]unstructured.Unstructured, error) {
	all, err := latest.List(ctx, b.client, gvk, kube.ListOf(gvk), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	return slices.SortedFunc(slices.Values(all.Items), func(x, y unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(x.GetNamespace(), y.GetNamespace()), strings.Compare(x.GetName(), y.GetName()))
	}), nil
}

// decoded returns the objects of list as the engine's types.
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

// mostContents limits how many unpacked bundles are kept for an extension: the
// installed one, the next one, and one being tried.
const mostContents = 3
