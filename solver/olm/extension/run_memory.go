package extension

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead/solver/olm/crd"
)

// MemBackend is a Backend in memory: a cluster in which objects are ready at
// once, unless Health says otherwise. Use it to test an embedding of the
// engine. The zero value is an empty cluster. Its methods may be called from
// several goroutines.
type MemBackend struct {
	// Bundles are the manifests of bundles, by name.
	Bundles map[string][]json.RawMessage

	// Health says whether an object is ready, and if not, why. Nil means that all are.
	Health func(Ref) (ready bool, detail string)

	// Changed is called for each action that changed something, in order. It
	// must not call methods of the backend.
	Changed func(name string, a Action)

	mu sync.Mutex
	memState
}

// memState is what is in the cluster.
type memState struct {
	extensions map[string]ClusterExtension
	revisions  map[string]Revision
	objects    map[Ref]memObject
	unpacked   map[string]string // the images that were asked for, by name of the bundle
	cluster    Cluster
	revision   int
}

// memObject is an object of the cluster.
type memObject struct {
	Observed
	manifest json.RawMessage
}

func (b *MemBackend) next() string {
	b.revision++
	return strconv.Itoa(b.revision)
}

// PutExtension creates an extension, or changes what one asks for, as a user would.
func (b *MemBackend) PutExtension(x ClusterExtension) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.extensions == nil {
		b.extensions = map[string]ClusterExtension{}
	}
	is, there := b.extensions[x.Name]
	x.UID, x.Generation, x.Finalizers, x.Status, x.DeletionTimestamp = is.UID, is.Generation, is.Finalizers, is.Status, is.DeletionTimestamp
	if !there {
		x.UID = "uid-" + b.next()
	}
	if !there || !equal(x.Spec, is.Spec) {
		x.Generation++
	}
	x.ResourceVersion = b.next()
	b.extensions[x.Name] = x
}

// DeleteExtension asks for an extension to go, as a user would.
func (b *MemBackend) DeleteExtension(name string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x, ok := b.extensions[name]
	if !ok {
		return
	}
	x.DeletionTimestamp, x.ResourceVersion = &now, b.next()
	b.extensions[name] = x
	b.collect()
}

// PutObject puts an object into the cluster that no extension has made, or changes
// one by hand.
func (b *MemBackend) PutObject(manifest json.RawMessage) error {
	r, err := refOf(manifest)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.objects[r]
	o.Ref, o.Digest, o.manifest = r, "", manifest
	b.put(o)
	return nil
}

// DeleteObject removes an object by hand.
func (b *MemBackend) DeleteObject(r Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, r)
}

// SetCluster says who may do what, and which custom resources there are; the CRDs
// are those among the objects.
func (b *MemBackend) SetCluster(c Cluster) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cluster = c
}

// put stores an object with a new resource version.
func (b *MemBackend) put(o memObject) {
	if b.objects == nil {
		b.objects = map[Ref]memObject{}
	}
	if o.UID == "" {
		o.UID = "uid-" + b.next()
	}
	o.ResourceVersion = b.next()
	b.objects[o.Ref] = o
}

// collect removes extensions that nobody keeps, as the API server does, and what
// belonged to them.
func (b *MemBackend) collect() {
	maps.DeleteFunc(b.extensions, func(_ string, x ClusterExtension) bool {
		return x.DeletionTimestamp != nil && len(x.Finalizers) == 0
	})
	maps.DeleteFunc(b.revisions, func(_ string, r Revision) bool {
		x, ok := b.extensions[r.Labels[OwnerNameLabel]]
		return !ok || x.UID != r.OwnerReferences[0].UID
	})
	maps.DeleteFunc(b.objects, func(_ Ref, o memObject) bool {
		_, ok := b.revisions[o.Controller]
		return o.Controller != "" && !ok
	})
}

// World returns what there is of an extension. The caller owns it.
func (b *MemBackend) World(name string) *World {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &World{Cluster: b.cluster}
	x, ok := b.extensions[name]
	if !ok {
		return w
	}
	w.Extension = &x
	for _, key := range slices.Sorted(maps.Keys(b.revisions)) {
		if r := b.revisions[key]; r.Labels[OwnerNameLabel] == name {
			w.Revisions = append(w.Revisions, r)
		}
	}
	w.Cluster.CRDs = nil
	for _, key := range slices.SortedFunc(maps.Keys(b.objects), Ref.compare) {
		o := b.objects[key]
		o.Ready = true
		if b.Health != nil {
			o.Ready, o.Detail = b.Health(key)
		}
		w.Objects = append(w.Objects, o.Observed)
		var d crd.Definition
		if o.Kind == kindCRD && json.Unmarshal(o.manifest, &d) == nil {
			w.Cluster.CRDs = append(w.Cluster.CRDs, d)
		}
	}
	for _, bundle := range slices.Sorted(maps.Keys(b.unpacked)) {
		c := Content{Bundle: bundle, Reference: b.unpacked[bundle], Manifests: b.Bundles[bundle]}
		if c.Manifests == nil {
			c.Error = "there is no image " + c.Reference
		}
		w.Contents = append(w.Contents, c)
	}
	return w
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, name string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.World(name), nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, name string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.apply(name, action)
	if err == nil {
		b.collect()
		if b.Changed != nil {
			b.Changed(name, action)
		}
	}
	return err
}
