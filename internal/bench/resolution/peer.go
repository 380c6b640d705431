package resolution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	peersolver "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/solver"
	"github.com/operator-framework/operator-registry/pkg/api"
	registry "github.com/operator-framework/operator-registry/pkg/registry"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// peer is OLM's resolver over the catalogs of tasks, in the form in which a
// cluster caches them.
type peer struct {
	global     string
	sources    cache.StaticSourceProvider
	priorities priorities
}

// priorities implements the resolver's SourcePriorityProvider.
type priorities map[cache.SourceKey]int

// Priority returns the priority of a catalog.
func (p priorities) Priority(k cache.SourceKey) int { return p[k] }

func newPeer(global string, sources []olm.Source) (*peer, error) {
	p := &peer{global: global, sources: cache.StaticSourceProvider{}, priorities: priorities{}}
	for i := range sources {
		s := &sources[i]
		key := cache.SourceKey(s.SourceKey)
		if s.Err != nil {
			p.sources[key] = unhealthy{s.Err}
			continue
		}
		entries, err := entriesOf(s)
		if err != nil {
			return nil, err
		}
		p.sources[key] = &cache.Snapshot{Entries: entries}
		p.priorities[key] = s.Priority
	}
	return p, nil
}

// unhealthy is a catalog that does not answer.
type unhealthy struct{ err error }

// Snapshot implements the resolver's Source.
func (u unhealthy) Snapshot(context.Context) (*cache.Snapshot, error) { return nil, u.err }

// entriesOf converts a catalog to the resolver's entries, as its registry client does,
// except for requirements: that client states each twice, once as a property and once
// as a dependency.
func entriesOf(s *olm.Source) ([]*cache.Entry, error) {
	var entries []*cache.Entry
	for p := range s.Catalog.Packages() {
		for ch := range p.Channels() {
			for _, stated := range ch.Entries() {
				b, ok := p.Bundle(stated.Name)
				if !ok {
					continue
				}
				e, err := newEntry(b, stated)
				if err != nil {
					return nil, err
				}
				e.SourceInfo = &cache.OperatorSourceInfo{
					Package:        p.Name(),
					Channel:        ch.Name(),
					Catalog:        cache.SourceKey(s.SourceKey),
					DefaultChannel: ch.Name() == p.DefaultChannel(),
				}
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

func newEntry(b *catalog.Bundle, stated catalog.Entry) (*cache.Entry, error) {
	e := &cache.Entry{
		Name: stated.Name, Replaces: stated.Replaces, Skips: stated.Skips,
		ProvidedAPIs: cache.EmptyAPISet(), RequiredAPIs: cache.EmptyAPISet(), BundlePath: b.Image(),
	}
	if v, err := semver.ParseTolerant(b.Version()); err == nil {
		e.Version = &v
	}
	if r, err := semver.ParseRange(stated.SkipRange); err == nil {
		e.SkipRange = r
	}
	properties, err := b.Facts()
	if err != nil {
		return nil, err
	}
	e.Properties = peerProperties(properties)
	resolver.EnsurePackageProperty(e, b.Package().Name(), b.Version())
	return e, nil
}

func peerProperties(properties []catalog.Property) []*api.Property {
	var all []*api.Property
	for _, p := range properties {
		all = append(all, &api.Property{Type: p.Type, Value: string(p.Value)})
	}
	return all
}

// prepare states a request in the resolver's terms. The function that it returns
// resolves it once, and may be called any number of times.
func (p *peer) prepare(req *olm.Request) (func() ([]*cache.Entry, error), error) {
	var subs []*v1alpha1.Subscription
	for i := range req.Subscriptions {
		subs = append(subs, peerSubscription(&req.Subscriptions[i]))
	}
	virtual := cache.NewVirtualSourceKey(req.Namespace)
	installed := &cache.Snapshot{}
	for i := range req.Installed {
		e, err := installedEntry(&req.Installed[i], subs)
		if err != nil {
			return nil, err
		}
		e.SourceInfo.Catalog = virtual
		installed.Entries = append(installed.Entries, e)
	}
	sources := cache.StaticSourceProvider{virtual: installed}
	for k, s := range p.sources {
		sources[k] = s
	}
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	held := cache.New(sources, cache.WithSourcePriorityProvider(p.priorities))
	r := resolver.NewDefaultResolver(held, logger)
	namespaces := []string{req.Namespace}
	if p.global != req.Namespace {
		namespaces = append(namespaces, p.global)
	}
	return func() ([]*cache.Entry, error) { return r.Resolve(namespaces, subs) }, nil
}

func peerSubscription(s *olm.Subscription) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace},
		Spec: &v1alpha1.SubscriptionSpec{
			Package: s.Spec.Package, Channel: s.Spec.Channel, StartingCSV: s.Spec.StartingCSV,
			CatalogSource: s.Spec.Source, CatalogSourceNamespace: s.Spec.SourceNamespace,
		},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: s.Status.InstalledCSV, CurrentCSV: s.Status.CurrentCSV},
	}
}

// installedEntry converts a CSV with projected properties to an entry, as the
// resolver's own source of CSVs does.
func installedEntry(csv *olm.ClusterServiceVersion, subs []*v1alpha1.Subscription) (*cache.Entry, error) {
	var projected struct{ Properties []catalog.Property }
	if err := json.Unmarshal([]byte(csv.Annotations[olm.PropertiesAnnotation]), &projected); err != nil {
		return nil, err
	}
	version, err := semver.Parse(csv.Spec.Version)
	if err != nil {
		return nil, fmt.Errorf("csv %s: version %q: %w", csv.Name, csv.Spec.Version, err)
	}
	e := &cache.Entry{
		Name: csv.Name, Version: &version, Properties: peerProperties(projected.Properties),
		ProvidedAPIs: cache.EmptyAPISet(), RequiredAPIs: cache.EmptyAPISet(), SourceInfo: &cache.OperatorSourceInfo{},
	}
	for _, s := range subs {
		if s.Status.InstalledCSV == csv.Name {
			e.SourceInfo.Subscription = s
		}
	}
	for _, p := range e.Properties {
		var value registry.PackageProperty
		if p.Type == registry.PackageType && json.Unmarshal([]byte(p.Value), &value) == nil {
			e.SourceInfo.Package = value.PackageName
		}
	}
	return e, nil
}

// unsatisfiable reports whether an error of the resolver is that verdict.
func unsatisfiable(err error) bool { return errors.As(err, &peersolver.NotSatisfiable{}) }
