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

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
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
	sources  []olm.Source // the sources of resolver
	key      string       // identifies them
	resolver *olm.Resolver
}

// content is a catalog as it was read.
type content struct {
	catalog *catalog.Catalog
	tag     string // identifies the content for a service
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
	for i := range items {
		s.source(&items[i])
	}
	s.backend.catalogs.Settle(ctx, 3*time.Second, func(string) bool { return true })
	known := map[string]bool{}
	var sources []olm.Source
	var key strings.Builder
	for i := range items {
		if items[i].GetDeletionTimestamp() != nil {
			continue
		}
		src := s.source(&items[i])
		known[src.Name] = true
		fmt.Fprintf(&key, "%s %d %v %p %v %v\n", src.Name, src.Priority, src.Disabled, src.Catalog, src.Err, src.Labels)
		sources = append(sources, src)
	}
	s.backend.catalogs.Keep(func(name string) bool { return known[name] })
	s.mu.Lock()
	defer s.mu.Unlock()
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

// source returns a catalog as a source of the resolver, with what is known of its content.
func (s *shelf) source(u *unstructured.Unstructured) olm.Source {
	var c extension.ClusterCatalog
	var at place
	err := errors.Join(kube.DecodeObject(u, &c), kube.DecodeObject(u, &at))
	src := extension.SourceOf(&c)
	src.Name = u.GetName()
	switch {
	case err != nil:
		src.Err = err
	case !src.Disabled:
		src.Catalog, src.Err = s.load(src.Name, &at)
	}
	return src
}

// load returns the content of a catalog. It is read in the background if its version has
// changed, or after the poll interval; the last content counts until then, and while the
// same version cannot be read again.
func (s *shelf) load(name string, c *place) (*catalog.Catalog, error) {
	form, read := s.content(c)
	r := s.backend.catalogs.Get(reading.Source[content]{
		Key: name, Group: name, Form: form, Every: time.Duration(c.Spec.Source.Image.Poll) * time.Minute, Read: read,
	})
	switch {
	case r.Has:
		return r.Value.catalog, nil
	case r.Err != nil:
		return nil, r.Err
	}
	return nil, errors.New("it has not been read yet")
}

// content returns what identifies the version of a catalog's content, and a
// function that reads it, given an earlier result: from the service in its status,
// or else from its image.
func (s *shelf) content(c *place) (form string, read func(context.Context, reading.Result[content]) (content, int64, error)) {
	opts, base := &s.backend.opts, c.Status.URLs.Base
	image := cmp.Or(c.Status.ResolvedSource.Image.Ref, c.Spec.Source.Image.Ref)
	form = base + " " + image + " " + c.Status.LastUnpacked
	fail := func(err error) func(context.Context, reading.Result[content]) (content, int64, error) {
		return func(context.Context, reading.Result[content]) (content, int64, error) { return content{}, 0, err }
	}
	switch {
	case base != "" && opts.Services != nil:
		return form, func(ctx context.Context, last reading.Result[content]) (content, int64, error) {
			var before content
			if last.Has && strings.HasPrefix(last.Form, base+" ") { // otherwise it is a tag of another service
				before = last.Value
			}
			changed, tag, err := opts.Services.Catalog(ctx, base, before.tag)
			if err != nil {
				return content{}, 0, err
			}
			if changed == nil {
				return before, 0, nil
			}
			return content{changed, tag}, 0, nil
		}
	case opts.Images != nil && image != "":
		return form, func(ctx context.Context, _ reading.Result[content]) (content, int64, error) {
			read, err := operators.ReadCatalog(ctx, func(ctx context.Context) (fs.FS, error) { return opts.Images.Open(ctx, image) })
			return content{catalog: read}, 0, err
		}
	case image == "":
		return form, fail(errors.New("spec.source.image.ref is missing; name the image of the catalog"))
	}
	return form, fail(fmt.Errorf("nothing serves it (status.urls.base is empty), and its image %s cannot be opened here: run catalogd, or give the controller an Images", image))
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
