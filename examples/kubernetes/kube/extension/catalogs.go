package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// retryCatalog is how long a catalog that could not be read is left alone, if
// nothing about it changes.
const retryCatalog = 30 * time.Second

// place is what a ClusterCatalog says of where its content is.
type place struct {
	Spec struct {
		Source struct {
			Image struct {
				Ref  string `json:"ref"`
				Poll int    `json:"pollIntervalMinutes"`
			} `json:"image"`
		} `json:"source"`
	} `json:"spec"`
	Status struct {
		ResolvedSource struct {
			Image struct {
				Ref string `json:"ref"`
			} `json:"image"`
		} `json:"resolvedSource"`
		URLs struct {
			Base string `json:"base"`
		} `json:"urls"`
		LastUnpacked string `json:"lastUnpacked"`
	} `json:"status"`
}

// shelf holds the catalogs of the cluster, and the resolver for them.
type shelf struct {
	backend *Backend

	mu       sync.Mutex
	loaded   map[string]*loaded
	sources  []olm.Source // what resolver was made of
	key      string       // names that
	resolver *olm.Resolver
}

// loaded is one catalog as it was read.
type loaded struct {
	form    string // names the form of the content
	tag     string // what a service calls it
	catalog *catalog.Catalog
	err     error
	at      time.Time
}

// current returns the resolver; there is one after the first refresh.
func (s *shelf) current() *olm.Resolver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resolver
}

// refresh reads the catalogs, and again the content of those that have changed.
func (s *shelf) refresh(ctx context.Context) error {
	items, err := s.backend.list(ctx, catalogs)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]*loaded{}
	var sources []olm.Source
	var key strings.Builder
	for i := range items {
		if items[i].GetDeletionTimestamp() != nil {
			continue
		}
		src, l := s.source(ctx, &items[i])
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		known[src.Name] = l
		fmt.Fprintf(&key, "%s %d %v %p %v %v\n", src.Name, src.Priority, src.Disabled, src.Catalog, src.Err, src.Labels)
		sources = append(sources, src)
	}
	s.loaded = known
	if s.key == key.String() && s.resolver != nil {
		return nil
	}
	r, err := olm.NewResolver(sources, s.backend.opts.Resolve)
	if err != nil {
		return err
	}
	s.key, s.sources, s.resolver = key.String(), sources, r
	return nil
}

// source is a catalog as a resolver takes it, with what was read of it; nil where
// nothing was.
func (s *shelf) source(ctx context.Context, u *unstructured.Unstructured) (olm.Source, *loaded) {
	var c extension.ClusterCatalog
	var at place
	err := errors.Join(kube.DecodeObject(u, &c), kube.DecodeObject(u, &at))
	src := c.Source()
	src.Name = u.GetName()
	if err != nil {
		src.Err = err
		return src, nil
	}
	if src.Disabled {
		return src, nil
	}
	l := s.load(ctx, src.Name, &at)
	src.Catalog, src.Err = l.catalog, l.err
	return src, l
}

// load returns what a catalog holds: as it was read, unless something names
// another form of it by now, or its time is over.
func (s *shelf) load(ctx context.Context, name string, c *place) *loaded {
	now := s.backend.opts.Clock.Now()
	form, read := s.content(c)
	if old := s.loaded[name]; old != nil && old.form == form {
		at, limit := fairlead.Past(old.at, now), time.Duration(c.Spec.Source.Image.Poll)*time.Minute
		if old.err != nil {
			limit = retryCatalog
		}
		if limit <= 0 || now.Before(at.Add(limit)) {
			return old
		}
	}
	l := &loaded{}
	if old := s.loaded[name]; old != nil && old.err == nil {
		*l = *old
	}
	read(ctx, l)
	if l.form, l.at = form, now; l.err != nil {
		l.catalog = nil // what is wrong in it may be what keeps an update away
	}
	return l
}

// content returns what names the form of a catalog, and what reads it over one that
// was read before: from the service that its status names, or else from its image.
func (s *shelf) content(c *place) (form string, read func(context.Context, *loaded)) {
	opts, base := &s.backend.opts, c.Status.URLs.Base
	image := cmp.Or(c.Status.ResolvedSource.Image.Ref, c.Spec.Source.Image.Ref)
	form = base + " " + image + " " + c.Status.LastUnpacked
	switch {
	case base != "" && opts.Services != nil:
		return form, func(ctx context.Context, l *loaded) {
			var changed *catalog.Catalog
			if !strings.HasPrefix(l.form, base+" ") {
				l.tag = "" // it is another service's
			}
			if changed, l.tag, l.err = opts.Services.Catalog(ctx, base, l.tag); changed != nil {
				l.catalog = changed
			}
		}
	case opts.Images != nil && image != "":
		return form, func(ctx context.Context, l *loaded) {
			l.tag = ""
			l.catalog, l.err = operators.ReadCatalog(ctx, func(ctx context.Context) (fs.FS, error) { return opts.Images.Open(ctx, image) })
		}
	case image == "":
		return form, func(_ context.Context, l *loaded) {
			l.err = errors.New("spec.source.image.ref is missing; name the image of the catalog")
		}
	}
	return form, func(_ context.Context, l *loaded) {
		l.err = fmt.Errorf("nothing serves it (status.urls.base is empty), and nothing here opens its image %s: run catalogd, or give the controller an Images", image)
	}
}

// bundle returns a bundle that was chosen.
func (s *shelf) bundle(c *extension.Choice) (*catalog.Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.sources {
		if src := &s.sources[i]; src.Name == c.Catalog && src.Catalog != nil {
			if p, ok := src.Catalog.Package(c.Package); ok {
				if b, ok := p.Bundle(c.Name); ok {
					return b, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("catalog %s no longer has bundle %s of package %s; another one is chosen at the next look", c.Catalog, c.Name, c.Package)
}
