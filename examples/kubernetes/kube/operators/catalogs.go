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
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
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
	revision string // of the ConfigMap that it was read from
	catalog  *catalog.Catalog
	err      error
	at       time.Time // when it was read
	again    time.Time // when to read it again, even without a change; zero means never
}

// content is a catalog that was read in the background.
type content struct {
	catalog *catalog.Catalog
	tag     string // of a service: identifies its catalog
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
	if next := s.backend.catalogs.Next(); !next.IsZero() && (wake.IsZero() || next.Before(wake)) {
		wake = next
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

// refresh reads the catalog sources, and those ConfigMaps among their contents that have
// changed; the other contents are read in the background, and what is known of them
// counts. It returns them by namespace and name. No lock is held over a request.
func (s *shelf) refresh(ctx context.Context) ([]install.Catalog, error) {
	items, err := s.backend.list(ctx, catalogs, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	before := s.loaded
	s.mu.Unlock()
	s.begin(ctx, items)
	var unread []*kube.ObjectError
	var all []install.Catalog
	maps, known := map[client.ObjectKey]bool{}, map[olm.SourceKey]*loaded{}
	for i := range items {
		c, err := catalogOf(&items[i])
		if err != nil {
			unread = append(unread, err.(*kube.ObjectError))
			continue
		}
		if c.Spec.ConfigMap != "" {
			maps[client.ObjectKey{Namespace: c.Namespace, Name: c.Spec.ConfigMap}] = true
		}
		l, err := s.load(ctx, c, before[c.Key()])
		if err != nil {
			return nil, err
		}
		if old := before[c.Key()]; l != nil && old != nil && l.catalog != old.catalog {
			s.backend.contents.Drop(func(x *install.Content) bool { return x.Source == c.Key() })
		}
		c.see(l)
		known[c.Key()] = l
		all = append(all, c.Catalog)
	}
	s.backend.catalogs.Keep(func(key string) bool {
		return slices.ContainsFunc(all, func(c install.Catalog) bool { return c.Key().String() == key })
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread, s.maps, s.loaded = unread, maps, known
	s.resolve(all)
	return all, nil
}

// begin has the sources of the administrator read, and waits a moment for those that have
// not been read before.
func (s *shelf) begin(ctx context.Context, items []unstructured.Unstructured) {
	b := s.backend
	for i := range items {
		if b.tenant(items[i].GetNamespace()) {
			continue
		}
		if c, err := catalogOf(&items[i]); err == nil && c.Check() == nil && c.from() != "" && !strings.HasPrefix(c.from(), "configmap/") {
			s.background(c)
		}
	}
	b.catalogs.Settle(ctx, 3*time.Second, func(namespace string) bool { return !b.tenant(namespace) })
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
	case l.err != nil && l.catalog != nil:
		c.Seen = source.StateTransientFailure
		c.Status.Reason, c.Status.Message = ReasonCatalogUnread, fmt.Sprintf("what it had at %s counts until it can be read again: %v", l.at.UTC().Format(time.RFC3339), l.err)
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
// yet, it was not read yet, or its spec is invalid, which the engine reports. The error
// is that of ctx.
func (s *shelf) load(ctx context.Context, c *seen, old *loaded) (*loaded, error) {
	if c.Check() != nil || c.from() == "" {
		return nil, nil
	}
	if !strings.HasPrefix(c.from(), "configmap/") {
		return s.background(c), nil
	}
	now := s.backend.now()
	revision, err := s.revision(ctx, c)
	if old != nil && err == nil && old.revision == revision && (old.again.IsZero() || now.Before(old.again)) {
		return old, nil
	}
	l := &loaded{revision: revision, err: err, at: now}
	if err == nil {
		b := s.backend
		l.catalog, l.err = ReadCatalog(ctx, func(ctx context.Context) (fs.FS, error) { return b.configMap(ctx, c.Namespace, c.Spec.ConfigMap) })
	}
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if l.err != nil {
		l.again = now.Add(retryCatalog)
	}
	return l, nil
}

// revision identifies the content of a ConfigMap.
func (s *shelf) revision(ctx context.Context, c *seen) (string, error) {
	name := c.Spec.ConfigMap
	h, err := s.backend.head(ctx, configMaps, c.Namespace, name)
	if err != nil {
		return "", err
	}
	if h == nil {
		return "", fmt.Errorf("config map %s/%s does not exist; create it, with the files of a catalog as its data", c.Namespace, name)
	}
	return c.from() + " " + h.ResourceVersion, nil
}

// background returns what is known of a source that is read in the background; nil if it
// was not read yet.
func (s *shelf) background(c *seen) *loaded {
	b := s.backend
	from := reading.Source[content]{Key: c.Key().String(), Group: c.Namespace}
	switch {
	case c.Image == "" && b.services(c.Namespace) == nil:
		return &loaded{err: fmt.Errorf("the catalog is served at %s, but services are not queried here: give the controller a Services, or set spec.image, or make the catalog a ConfigMap", c.Spec.Address)}
	case c.Image == "":
		from.Form, from.Every, from.Read = c.from(), interval(c.Spec.UpdateStrategy), b.service(c.Namespace, c.Spec.Address)
	case b.images(c.Namespace) == nil:
		return &loaded{err: fmt.Errorf("the catalog is in image %s, but images cannot be opened here: give the controller an Images, or make the catalog a ConfigMap", c.Image)}
	default:
		namespace, image := c.Namespace, c.Image
		from.Form = image + " " + c.Status.LatestImageRegistryPoll.UTC().Format(time.RFC3339Nano)
		from.Read = func(ctx context.Context, _ reading.Result[content]) (content, int64, error) {
			read, err := ReadCatalog(ctx, within(b.budget(namespace), func(ctx context.Context) (fs.FS, error) { return b.images(namespace).Open(ctx, image) }))
			if err != nil {
				return content{}, 0, err
			}
			return content{catalog: read}, sizeOf(read), nil
		}
	}
	key, inner := c.Key(), from.Read
	from.Read = func(ctx context.Context, last reading.Result[content]) (content, int64, error) {
		next, size, err := inner(ctx, last)
		if err != nil && b.opts.Unread != nil {
			b.opts.Unread(key, err)
		}
		return next, size, err
	}
	r := b.catalogs.Get(from)
	if !r.Has && r.Err == nil {
		return nil
	}
	l := &loaded{catalog: r.Value.catalog, at: r.At}
	if r.Err != nil {
		l.err = b.told(c.Namespace, r.Err)
	}
	return l
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
		case l.err != nil && l.catalog == nil:
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
