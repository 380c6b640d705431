package extension

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// MemBackend is a Backend in memory: a cluster in which objects are ready at
// once, unless Health says otherwise. Use it to test an embedding of the
// engine. The zero value is an empty cluster. Its methods may be called from
// several goroutines.
type MemBackend struct {
	// Bundles are the manifests of bundles, by name.
	Bundles map[string][]json.RawMessage

	// Health says whether an object is ready, and if not, why. Nil means that all are,
	// except that with Cluster, deployments are as ready as their pods.
	Health func(Ref) (ready bool, detail string)

	// Changed is called for each action that changed something, in order. It
	// must not call methods of the backend.
	Changed func(name string, a Action)

	// Cluster is the cluster that this is a view of: deployments are pods on its
	// nodes. Nil means a cluster of its own. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once sync.Once
	all  *cluster.Cluster
	*memState
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
	b.lock()
	defer b.all.Unlock()
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

// DeleteExtension requests the deletion of an extension, as a user would.
func (b *MemBackend) DeleteExtension(name string, now time.Time) {
	b.lock()
	defer b.all.Unlock()
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
	b.lock()
	defer b.all.Unlock()
	o := b.objects[r]
	o.Ref, o.Digest = r, ""
	b.put(o, manifest)
	return nil
}

// DeleteObject removes an object by hand.
func (b *MemBackend) DeleteObject(r Ref) {
	b.lock()
	defer b.all.Unlock()
	b.drop(r)
}

// SetCluster sets permissions and custom resources; the CRDs are those among the
// objects.
func (b *MemBackend) SetCluster(c Cluster) {
	b.lock()
	defer b.all.Unlock()
	b.cluster = c
}

// put stores an object from a manifest, with a new resource version.
func (b *MemBackend) put(o memObject, manifest json.RawMessage) {
	if b.objects == nil {
		b.objects = map[Ref]memObject{}
	}
	if o.UID == "" {
		o.UID = "uid-" + b.next()
	}
	o.ResourceVersion = b.next()
	if b.runs(o.Ref) && !equal(podsOf(o.manifest), podsOf(manifest)) {
		b.all.Deploy(o.Namespace, o.Name, o.UID, podsOf(manifest))
	}
	o.manifest = manifest
	b.objects[o.Ref] = o
}

// drop removes an object, with its pods.
func (b *MemBackend) drop(r Ref) {
	if b.runs(r) {
		b.all.RemoveWorkload(r.Namespace, r.Name, b.objects[r].UID)
	}
	delete(b.objects, r)
}

// runs reports whether an object has pods on the nodes of the cluster.
func (b *MemBackend) runs(r Ref) bool {
	return b.Cluster != nil && r.Group == "apps" && r.Kind == "Deployment"
}

// podsOf returns a deployment's pods, nil if there are none.
func podsOf(manifest json.RawMessage) json.RawMessage {
	var d struct {
		Spec json.RawMessage `json:"spec"`
	}
	_ = json.Unmarshal(manifest, &d) // it was read before
	return d.Spec
}

// collect removes deleted extensions without finalizers, as the API server does, and
// what belonged to them.
func (b *MemBackend) collect() {
	maps.DeleteFunc(b.extensions, func(_ string, x ClusterExtension) bool {
		return x.DeletionTimestamp != nil && len(x.Finalizers) == 0
	})
	maps.DeleteFunc(b.revisions, func(_ string, r Revision) bool {
		x, ok := b.extensions[r.Labels[OwnerNameLabel]]
		return !ok || x.UID != r.OwnerReferences[0].UID
	})
	for _, r := range slices.SortedFunc(maps.Keys(b.objects), Ref.compare) {
		controller := b.objects[r].Controller
		if _, ok := b.revisions[controller]; controller != "" && !ok {
			b.drop(r)
		}
	}
}

// World returns the world of an extension. The caller owns it.
func (b *MemBackend) World(name string) *World {
	b.lock()
	defer b.all.Unlock()
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
		switch o.Ready = true; {
		case b.Health != nil:
			o.Ready, o.Detail = b.Health(key)
		case b.runs(key):
			o.Detail = b.all.Unready(key.Namespace, key.Name)
			o.Ready = o.Detail == ""
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
	b.lock()
	defer b.all.Unlock()
	err := b.apply(name, action)
	if err == nil {
		b.collect()
		if b.Changed != nil {
			b.Changed(name, action)
		}
	}
	return err
}
