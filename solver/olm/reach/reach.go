package reach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// Resolver answers by the rules of OLM v0. The zero value is ready to use. It is
// safe for concurrent use. It caches the resolvers of the two catalogs that were
// used last, since a release has two.
type Resolver struct {
	// With are the other catalogs of the cluster: what they provide is not missing.
	With []olm.Source
	// Priority is that of the catalog itself among them.
	Priority int

	mu    sync.Mutex
	known [2]known // the most recent one first
}

// known is a catalog with its resolver.
type known struct {
	catalog  *catalog.Catalog
	resolver *olm.Resolver
}

const namespace = "default"

// own is the key of the catalog itself.
var own = olm.SourceKey{Name: "catalog", Namespace: namespace}

// Reach looks for updates from an installed bundle to a head of a channel of the
// catalog, in a namespace with nothing else. It returns "" if there are any, or
// if the head is already installed, and otherwise why there are none. The error
// is that of ctx or of reading the catalog.
func (r *Resolver) Reach(ctx context.Context, c *catalog.Catalog, pkg, channel string, from catalog.Installed) (why string, err error) {
	p, ok := c.Package(pkg)
	if !ok {
		return "there is no such package", nil
	}
	ch, ok := p.Channel(channel)
	if !ok {
		return "there is no such channel", nil
	}
	resolver, err := r.of(c)
	if err != nil {
		return "", err
	}
	installed := olm.ClusterServiceVersion{}
	installed.Name, installed.Namespace = from.Name, namespace
	installed.Spec.Version = from.Version
	sub := olm.Subscription{}
	sub.Name, sub.Namespace = pkg, namespace
	sub.Spec.Package, sub.Spec.Channel = pkg, channel
	if len(r.With) > 0 {
		sub.Spec.Source, sub.Spec.SourceNamespace = own.Name, own.Namespace
	}
	sub.Status.InstalledCSV = from.Name
	request := &olm.Request{Namespace: namespace, Installed: []olm.ClusterServiceVersion{installed}, Subscriptions: []olm.Subscription{sub}}
	var reasons []string
	for _, head := range ch.Heads() {
		if head == from.Name && (len(ch.Heads()) == 1 || ch.HeadFault(catalog.OLMv0) == nil) { // of several none is resolved
			return "", nil
		}
		_, err := resolver.UpgradePath(ctx, request, []olm.Target{{Package: pkg, Name: head}}, nil)
		var no *olm.PathError
		switch {
		case err == nil:
			return "", nil
		case errors.As(err, &no):
			reasons = append(reasons, no.Error())
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		default:
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		return fmt.Sprintf("the channel %s has no head", channel), nil
	}
	return strings.Join(reasons, "; "), nil
}

// of returns the resolver of a catalog, and creates it if it is not cached.
func (r *Resolver) of(c *catalog.Catalog) (*olm.Resolver, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, other := r.known[0], r.known[1]
	if last.catalog == c {
		return last.resolver, nil
	}
	if other.catalog != c {
		sources := []olm.Source{{SourceKey: own, Priority: r.Priority, Catalog: c}}
		for _, s := range r.With {
			s.Namespace = namespace
			sources = append(sources, s)
		}
		made, err := olm.NewResolver(sources, nil)
		if err != nil {
			return nil, err
		}
		other = known{c, made}
	}
	r.known = [2]known{other, last}
	return other.resolver, nil
}
