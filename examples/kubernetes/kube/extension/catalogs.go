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

// retryCatalog is the delay before an unreadable catalog is read again, if
// nothing about it changes.
const retryCatalog = 30 * time.Second

// place contains the fields of a ClusterCatalog that locate its content.
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
	sources  []olm.Source // the sources of resolver
	key      string       // identifies them
	resolver *olm.Resolver
}

// loaded is a catalog as it was read.
type loaded struct {
	form    string // identifies the version of the content
	tag     string // identifies the content for a service
	catalog *catalog.Catalog
	err     error
	at      time.Time
}

// current returns the resolver, which exists after the first refresh.
func (s *shelf) current() *olm.Resolver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resolver
}

// refresh reads the catalogs, and the content of those that have changed.
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

// source returns a catalog as a source of the resolver, and its loaded content;
// nil if nothing was loaded.
func (s *shelf) source(ctx context.Context, u *unstructured.Unstructured) (olm.Source, *loaded) {
	var c extension.ClusterCatalog
	var at place
	err := errors.Join(kube.DecodeObject(u, &c), kube.DecodeObject(u, &at))
	src := extension.SourceOf(&c)
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

// load returns the content of a catalog. It reads it again if the version of
// the content has changed, or after the poll interval.
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
		l.catalog = nil // do not resolve from older content: it may lack an update, without anyone noticing
	}
	return l
}

// content returns what identifies the version of a catalog's content, and a
// function that reads it, given an earlier result: from the service in its status,
// or else from its image.
func (s *shelf) content(c *place) (form string, read func(context.Context, *loaded)) {
	opts, base := &s.backend.opts, c.Status.URLs.Base
	image := cmp.Or(c.Status.ResolvedSource.Image.Ref, c.Spec.Source.Image.Ref)
	form = base + " " + image + " " + c.Status.LastUnpacked
	switch {
	case base != "" && opts.Services != nil:
		return form, func(ctx context.Context, l *loaded) {
			var changed *catalog.Catalog
			if !strings.HasPrefix(l.form, base+" ") {
				l.tag = "" // it is a tag of another service
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
		l.err = fmt.Errorf("nothing serves it (status.urls.base is empty), and its image %s cannot be opened here: run catalogd, or give the controller an Images", image)
	}
}

// bundle returns a chosen bundle.
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
	return nil, fmt.Errorf("catalog %s no longer has bundle %s of package %s; the next pass chooses another one", c.Catalog, c.Name, c.Package)
}
