package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/source"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// retryCatalog is the delay before an unreadable catalog is read again, if
// nothing about it changes.
const retryCatalog = 30 * time.Second

// ReasonCatalogUnread is the reason in the status of an unreadable catalog.
const ReasonCatalogUnread = "CatalogUnreadable"

// shelf holds the catalogs of the cluster, and the resolver for them.
type shelf struct {
	backend *Backend

	mu       sync.Mutex
	loaded   map[olm.SourceKey]*loaded
	maps     map[client.ObjectKey]bool // the ConfigMaps of catalog sources
	unread   []*kube.ObjectError       // catalog sources that are skipped
	all      []olm.Source              // the sources of resolver
	key      string                    // identifies them
	resolver *olm.Resolver
	err      error // why there is no resolver
}

// loaded is a catalog as it was read.
type loaded struct {
	revision string // of the object that it was read from
	tag      string // of a service: identifies its catalog
	catalog  *catalog.Catalog
	err      error
	again    time.Time // when to read it again, even without a change; zero means never
}

// served is the content of ServedAnnotation.
type served struct {
	Image     string            `json:"image"`
	Placement *source.Placement `json:"placement"`
}

// current returns the resolver.
func (s *shelf) current() (*olm.Resolver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resolver == nil && s.err == nil {
		return nil, errors.New("kube/operators: no namespace was observed yet, so no catalog is known")
	}
	return s.resolver, s.err
}

func (s *shelf) sources() []olm.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// holds reports whether an object is a ConfigMap that a catalog source names.
func (s *shelf) holds(m client.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maps[client.ObjectKeyFromObject(m)]
}

// retry returns when to read unreadable catalogs and those of services again: the
// given time, or an earlier one.
func (s *shelf) retry(wake time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loaded {
		if l != nil && !l.again.IsZero() && (wake.IsZero() || l.again.Before(wake)) {
			wake = l.again
		}
	}
	return wake
}

// passedOver returns the unreadable catalog sources that matter to a namespace.
func (s *shelf) passedOver(namespace string) []*kube.ObjectError {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*kube.ObjectError
	for _, e := range s.unread {
		if in := e.Object.Namespace; in == namespace || in == s.backend.opts.Resolve.GlobalNamespace {
			all = append(all, e)
		}
	}
	return all
}

// refresh reads the catalog sources, and those of their contents that have
// changed. It returns them by namespace and name.
func (s *shelf) refresh(ctx context.Context) ([]install.Catalog, error) {
	items, err := s.backend.list(ctx, catalogs, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread, s.maps = nil, map[client.ObjectKey]bool{}
	var all []install.Catalog
	known := map[olm.SourceKey]*loaded{}
	for i := range items {
		c, err := catalogOf(&items[i])
		if err != nil {
			s.unread = append(s.unread, err.(*kube.ObjectError))
			continue
		}
		if c.Spec.ConfigMap != "" {
			s.maps[client.ObjectKey{Namespace: c.Namespace, Name: c.Spec.ConfigMap}] = true
		}
		l, err := s.load(ctx, c)
		if err != nil {
			return nil, err
		}
		c.see(l)
		known[c.Key()] = l
		all = append(all, c.Catalog)
	}
	s.loaded = known
	s.resolve(all)
	return all, nil
}

// seen is an observed catalog source.
type seen struct{ install.Catalog }

// catalogOf decodes a catalog source.
func catalogOf(from *unstructured.Unstructured) (*seen, error) {
	c := &seen{Catalog: install.Catalog{Mark: markOf(from)}}
	if err := kube.DecodeObject(from, &c.CatalogSource); err != nil {
		return nil, err
	}
	var use served
	if note := from.GetAnnotations()[ServedAnnotation]; note != "" && json.Unmarshal([]byte(note), &use) == nil {
		c.Image, c.Placement = use.Image, use.Placement
	}
	return c, nil
}

// see sets the state of the connection: there is none, but a catalog that was
// read counts as connected.
func (c *seen) see(l *loaded) {
	switch {
	case l == nil:
		return
	case l.err != nil:
		c.Seen = source.StateTransientFailure
		c.Status.Reason, c.Status.Message = ReasonCatalogUnread, l.err.Error()
	default:
		c.Seen = source.StateReady
		c.Status.Reason, c.Status.Message = "", ""
	}
	c.Address = c.from()
}

// from returns where the content comes from, in one word; "" if that is not
// known yet.
func (c *seen) from() string {
	s := &c.Spec
	switch {
	case s.SourceType == source.TypeConfigMap || s.SourceType == source.TypeInternal:
		return "configmap/" + s.ConfigMap
	case c.Image != "":
		return c.Image
	case s.Image == "" && s.Address != "" && c.Annotations[source.ImageTemplateAnnotation] == "":
		return s.Address
	}
	return ""
}

// load returns the content of a catalog source: nil if its image is not in use
// yet, or its spec is invalid, which the engine reports. The error is that of
// ctx.
func (s *shelf) load(ctx context.Context, c *seen) (*loaded, error) {
	old := s.loaded[c.Key()]
	if c.Check() != nil || c.from() == "" {
		return nil, nil
	}
	now := s.backend.now()
	revision, read, err := s.content(ctx, c)
	if old != nil && err == nil && old.revision == revision && (old.again.IsZero() || now.Before(old.again)) {
		return old, nil
	}
	l := &loaded{err: err}
	if err == nil {
		l = read(ctx, old)
	}
	l.revision = revision
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if l.err != nil {
		l.again = now.Add(retryCatalog)
	}
	if old == nil || l.catalog != old.catalog {
		s.backend.contents.Drop(func(x *install.Content) bool { return x.Source == c.Key() })
	}
	return l, nil
}

// content returns what identifies the present content of a catalog source, and a
// function that reads it, given an earlier result.
func (s *shelf) content(ctx context.Context, c *seen) (revision string, read func(ctx context.Context, old *loaded) *loaded, err error) {
	b, name := s.backend, c.Spec.ConfigMap
	switch {
	case strings.HasPrefix(c.from(), "configmap/"):
		h, err := b.head(ctx, configMaps, c.Namespace, name)
		if err != nil {
			return "", nil, err
		}
		if h == nil {
			return "", nil, fmt.Errorf("config map %s/%s does not exist; create it, with the files of a catalog as its data", c.Namespace, name)
		}
		return c.from() + " " + h.ResourceVersion, files(func(ctx context.Context) (fs.FS, error) { return b.configMap(ctx, c.Namespace, name) }), nil
	case c.Image == "" && b.opts.Services == nil:
		return "", nil, fmt.Errorf("the catalog is served at %s, but services are not queried here: give the controller a Services, or set spec.image, or make the catalog a ConfigMap", c.Spec.Address)
	case c.Image == "":
		return c.from(), b.service(c), nil
	case b.opts.Images == nil:
		return "", nil, fmt.Errorf("the catalog is in image %s, but images cannot be opened here: give the controller an Images, or make the catalog a ConfigMap", c.Image)
	}
	polled := c.Status.LatestImageRegistryPoll.UTC().Format(time.RFC3339Nano)
	return c.Image + " " + polled, files(func(ctx context.Context) (fs.FS, error) { return b.opts.Images.Open(ctx, c.Image) }), nil
}

// files reads a catalog of files.
func files(open func(context.Context) (fs.FS, error)) func(context.Context, *loaded) *loaded {
	return func(ctx context.Context, _ *loaded) *loaded {
		l := &loaded{}
		l.catalog, l.err = ReadCatalog(ctx, open)
		return l
	}
}

// configMap returns the data of a ConfigMap as files.
func (b *Backend) configMap(ctx context.Context, namespace, name string) (fs.FS, error) {
	var m corev1.ConfigMap
	if err := b.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &m); err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for key, text := range m.Data {
		files[key] = &fstest.MapFile{Data: []byte(text)}
	}
	for key, data := range m.BinaryData {
		files[key] = &fstest.MapFile{Data: data}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("config map %s/%s is empty; its data must be the files of a catalog", namespace, name)
	}
	return files, nil
}

// ReadCatalog reads a catalog. A catalog with faults is an error: the faulty part may
// be what prevents an update. The files are closed when the catalog is no longer in
// use.
func ReadCatalog(ctx context.Context, open func(context.Context) (fs.FS, error)) (*catalog.Catalog, error) {
	fsys, err := open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Open(ctx, fsys, nil)
	if err != nil {
		closeFS(fsys)
		return nil, err
	}
	if closer, ok := fsys.(io.Closer); ok {
		runtime.AddCleanup(c, func(x io.Closer) { _ = x.Close() }, closer)
	}
	return c, nil
}

// resolve recreates the resolver if any catalog has changed.
func (s *shelf) resolve(all []install.Catalog) {
	var made []olm.Source
	var key strings.Builder
	for i := range all {
		c := &all[i]
		src := olm.Source{SourceKey: c.Key(), Priority: c.Spec.Priority, Labels: c.Labels}
		switch l := s.loaded[c.Key()]; {
		case l == nil:
			src.Err = c.Err()
		case l.err != nil:
			src.Err = fmt.Errorf("catalog source %s: %w", c.Key(), l.err)
		default:
			src.Catalog = l.catalog
		}
		if src.Err == nil && src.Catalog == nil {
			src.Err = fmt.Errorf("catalog source %s: it has not been read yet", c.Key())
		}
		fmt.Fprintf(&key, "%s %d %p %v %v\n", c.Key(), src.Priority, src.Catalog, src.Err, src.Labels)
		made = append(made, src)
	}
	if s.key == key.String() && (s.resolver != nil || s.err != nil) {
		return
	}
	s.key, s.all = key.String(), slices.Clone(made)
	s.resolver, s.err = olm.NewResolver(made, s.backend.opts.Resolve)
}

// catalog reads one catalog source.
func (b *Backend) catalog(ctx context.Context, namespace, name string) (*seen, error) {
	o := kube.Stub(catalogs, namespace, name)
	if err := b.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return nil, outcome(refOf(catalogs, namespace, name), err)
	}
	return catalogOf(o)
}
