package install

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/solver/olm"
)

// MemBackend is a Backend in memory: a cluster whose deployments are ready at once, unless
// Health says otherwise. Use it to test an embedding of the engine, or to simulate a
// namespace. The zero value is an empty cluster. Its methods may be called from several
// goroutines.
//
// The content of a bundle is what its olm.bundle.object properties hold. For a bundle
// without them a content is made up: a CSV with the APIs of its properties, all install
// modes and one deployment, and a CRD for each API that it provides.
type MemBackend struct {
	// Health returns the health of the deployments of a CSV, and why. It is called at each
	// observation. Nil means that they are ready, or with Cluster, as ready as their pods.
	Health func(namespace, csv string) (Health, string)

	// Changed is called for each action that changed something, in order. It
	// must not call the backend's methods other than World.
	Changed func(namespace string, action Action)

	// Unserved means that the cluster has no certificates, webhooks, API services or
	// conversions, see Cluster.Serves.
	Unserved bool

	// Sources are the catalogs of the resolver, with the content of bundles and the
	// deprecations that are reported to subscriptions.
	Sources []olm.Source

	// Cluster is the cluster that this is a view of: the deployments of operators are pods
	// on its nodes. Nil means a cluster of its own. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once sync.Once
	all  *cluster.Cluster
	*memState
}

// memState is what is in the namespaces of a cluster.
type memState struct {
	namespaces map[string]*World // what each has of its own
	cluster    Cluster
	generated  []generated // of all namespaces
	revision   int
}

// lock takes the lock and advances the cluster to the present.
func (b *MemBackend) lock() {
	b.once.Do(func() {
		b.all = cluster.Of(b.Cluster, nil, &cluster.Options{Still: true})
		b.memState = cluster.Part(b.Cluster, b.memState)
	})
	b.all.Lock()
	b.all.Run()
}

// generated is an object that a WriteObject wrote.
type generated struct {
	Object
	manifest json.RawMessage
}

// World returns what is in a namespace. The caller owns it.
func (b *MemBackend) World(namespace string) *World {
	b.lock()
	defer b.all.Unlock()
	return b.snapshot(namespace)
}

// Requests returns what to ask the resolver about all other namespaces, by name;
// see [Across].
func (b *MemBackend) Requests(_ context.Context, namespace string) ([]*olm.Request, error) {
	b.lock()
	defer b.all.Unlock()
	var all []*olm.Request
	for _, name := range slices.Sorted(maps.Keys(b.namespaces)) {
		if name != namespace {
			all = append(all, b.snapshot(name).Request())
		}
	}
	return all, nil
}

// Edit changes a namespace, and what it shares with others, as users and other controllers
// would: f may change the world that it is given in any way. Changed objects get a new
// revision, and what belongs to a deleted CSV is deleted. If f returns an error, nothing
// is changed. Changes to copies of CSVs are lost: they belong to the operator group that
// keeps them.
func (b *MemBackend) Edit(namespace string, f func(*World) error) error {
	b.lock()
	defer b.all.Unlock()
	old := b.snapshot(namespace)
	text, err := json.Marshal(old)
	if err != nil {
		return err
	}
	next := new(World)
	if err := json.Unmarshal(text, next); err != nil {
		return err
	}
	if err := f(next); err != nil {
		return err
	}
	next.Namespace = namespace
	next.CSVs = slices.DeleteFunc(next.CSVs, func(c CSV) bool {
		return next.csv(c.Name) != nil && old.csv(c.Name) == nil && slices.ContainsFunc(old.CSVs, func(o CSV) bool { return o.Copied() && o.Name == c.Name })
	})
	b.settle(next, old)
	b.collect(next, old)
	b.cluster, next.Cluster = next.Cluster, Cluster{}
	for i := range old.CSVs {
		if c := &old.CSVs[i]; !c.Copied() && next.csv(c.Name) == nil {
			b.undeploy(namespace, c)
		}
	}
	b.namespaces[namespace] = next
	return nil
}

// settle gives changed objects their namespace and a new revision.
func (b *MemBackend) settle(next, old *World) {
	for i := range next.Groups {
		g := &next.Groups[i]
		if g.Namespace == "" {
			g.Namespace = next.Namespace
		}
		at := slices.IndexFunc(old.Groups, func(o OperatorGroup) bool { return o.Name == g.Name && o.Namespace == g.Namespace })
		b.touch(&g.Revision, g, found(old.Groups, at))
	}
	for i := range next.Subscriptions {
		s := &next.Subscriptions[i]
		s.Namespace = next.Namespace
		b.touch(&s.Revision, s, old.subscription(s.Name))
	}
	for i := range next.CSVs {
		if c := &next.CSVs[i]; !c.Copied() {
			c.Namespace = next.Namespace
			b.touch(&c.Revision, c, old.csv(c.Name))
		}
	}
	for i := range next.Plans {
		p := &next.Plans[i]
		p.Namespace = next.Namespace
		b.touch(&p.Revision, p, old.plan(p.Name))
	}
	for i := range next.Conditions {
		c := &next.Conditions[i]
		c.Namespace = next.Namespace
		b.touch(&c.Revision, c, old.condition(c.Name))
	}
	for i := range next.CRDs {
		c := &next.CRDs[i]
		b.touch(&c.Revision, c, old.crd(c.Name))
	}
	for i := range next.Catalogs {
		c := &next.Catalogs[i]
		at := slices.IndexFunc(old.Catalogs, func(o Catalog) bool { return o.Key() == c.Key() })
		b.touch(&c.Revision, c, found(old.Catalogs, at))
	}
}

func found[T any](list []T, at int) *T {
	if at < 0 {
		return nil
	}
	return &list[at]
}

// collect removes from a world what is not the namespace's own, what has lost its owner,
// and generated objects that were removed.
func (b *MemBackend) collect(next, old *World) {
	next.Groups = slices.DeleteFunc(next.Groups, func(g OperatorGroup) bool { return g.Namespace != next.Namespace })
	next.CSVs = slices.DeleteFunc(next.CSVs, func(c CSV) bool { return c.Copied() })
	others := b.elsewhere(next.Namespace)
	next.Objects = slices.DeleteFunc(next.Objects, func(o Object) bool {
		return slices.Contains(others, o) || old.csv(o.Owner) != nil && next.csv(o.Owner) == nil
	})
	next.Conditions = slices.DeleteFunc(next.Conditions, func(c OperatorCondition) bool { return old.csv(c.Name) != nil && next.csv(c.Name) == nil })
	b.generated = slices.DeleteFunc(b.generated, func(g generated) bool {
		same := func(o Object) bool { return o.Ref == g.Ref }
		return slices.ContainsFunc(old.Generated, same) && !slices.ContainsFunc(next.Generated, same)
	})
	for _, o := range next.Generated { // by others
		if !slices.ContainsFunc(old.Generated, func(x Object) bool { return x.Ref == o.Ref }) {
			o.Revision = b.next()
			b.generated = append(b.generated, generated{Object: o})
		}
	}
	next.Generated, next.Deprecations = nil, nil
}

// touch gives a changed object a new revision.
func (b *MemBackend) touch(revision *string, changed, old any) {
	x, _ := json.Marshal(changed)
	y, _ := json.Marshal(old)
	if !bytes.Equal(x, y) {
		*revision = b.next()
	}
}

func (b *MemBackend) next() string {
	b.revision++
	return strconv.Itoa(b.revision)
}

func (b *MemBackend) namespace(name string) *World {
	w := b.namespaces[name]
	if w == nil {
		if b.namespaces == nil {
			b.namespaces = make(map[string]*World)
		}
		w = &World{Namespace: name}
		b.namespaces[name] = w
	}
	return w
}

// snapshot copies the lists. Their elements are replaced, never changed.
func (b *MemBackend) snapshot(name string) *World {
	w := *b.namespace(name)
	w.Groups = slices.Clone(w.Groups)
	w.Subscriptions = slices.Clone(w.Subscriptions)
	w.CSVs = slices.Clone(w.CSVs)
	w.Plans = slices.Clone(w.Plans)
	w.Conditions = slices.Clone(w.Conditions)
	w.Objects = slices.Clone(w.Objects)
	w.Contents = slices.Clone(w.Contents)
	w.Cluster, w.Certificates = b.cluster, slices.Clone(w.Certificates)
	w.Serves = !b.Unserved
	w.Namespaces = slices.Clone(w.Namespaces)
	w.CRDs = slices.Clone(w.CRDs)
	for i := range w.CRDs {
		w.CRDs[i].OwnedIn = nil
	}
	w.Resources = slices.Clone(w.Resources)
	w.APIServices = slices.Clone(w.APIServices)
	w.Accounts = slices.Clone(w.Accounts)
	w.Catalogs = slices.Clone(w.Catalogs)
	for i := range w.CSVs {
		c := &w.CSVs[i]
		if c.Deployed == "" {
			continue
		}
		switch c.Deployed, c.Detail = Ready, ""; {
		case b.Health != nil:
			c.Deployed, c.Detail = b.Health(name, c.Name)
		case b.Cluster != nil:
			c.Deployed, c.Detail = b.running(name, c)
		}
	}
	w.Objects = append(w.Objects, b.elsewhere(name)...)
	for _, other := range slices.Sorted(maps.Keys(b.namespaces)) {
		if other != name {
			w.Groups = append(w.Groups, b.namespaces[other].Groups...)
			for i := range b.namespaces[other].CSVs {
				w.Generated = append(w.Generated, original(&b.namespaces[other].CSVs[i]))
			}
			for i := range w.CRDs {
				n := ownersOf(w.CRDs[i].Name, b.namespaces[other].CSVs)
				w.CRDs[i].OwnedIn = append(w.CRDs[i].OwnedIn, slices.Repeat([]string{other}, n)...)
			}
		}
	}
	for _, g := range b.generated {
		if g.Owner == name || g.Namespace == "" || g.Kind == kindCSV && g.Namespace != name {
			w.Generated = append(w.Generated, g.Object)
		}
		if g.Namespace == name && g.Kind == kindCSV {
			w.CSVs = append(w.CSVs, copied(&g))
		}
	}
	w.Deprecations = Deprecations(w.Subscriptions, b.Sources)
	return &w
}

// ownersOf counts the CSVs that own a CRD, except those that another replaces.
func ownersOf(crd string, csvs []CSV) int {
	n := 0
	for i := range csvs {
		c := &csvs[i]
		owns := slices.ContainsFunc(c.Spec.CustomResourceDefinitions.Owned, func(d olm.CRDDescription) bool { return d.Name == crd })
		goes := slices.ContainsFunc(csvs, func(o CSV) bool { return o.Spec.Replaces == c.Name && o.Name != c.Name })
		if owns && !goes {
			n++
		}
	}
	return n
}

// original is a CSV, as other namespaces see it.
func original(c *CSV) Object {
	ref := Ref{Group: groupOLM, Kind: kindCSV, Namespace: c.Namespace, Name: c.Name}
	return Object{Ref: ref, Mark: c.Mark, Owner: c.Namespace}
}

// copied is the copy of a CSV in another namespace, with its status.
func copied(g *generated) CSV {
	c := CSV{Mark: g.Mark}
	_ = json.Unmarshal(g.manifest, &c.ClusterServiceVersion) // the engine wrote it
	return c
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, namespace string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.World(namespace), nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, namespace string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	changed, err := b.apply(namespace, action)
	if changed && b.Changed != nil {
		b.Changed(namespace, action)
	}
	return err
}
