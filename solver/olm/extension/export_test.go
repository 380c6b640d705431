package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
)

// Look returns a world with the resolver's answer, as a Runner's Step is given it.
func Look(ctx context.Context, b Backend, resolve Resolve, name string) (*World, error) {
	return asking{b, resolve}.Observe(ctx, name)
}

// Fork returns a copy of a backend in which each object has a resource version that
// follows from what it is: a copy is the same as another if the objects are.
func (b *MemBackend) Fork() *MemBackend {
	b.lock()
	defer b.all.Unlock()
	n := &MemBackend{Bundles: b.Bundles, memState: &memState{
		extensions: maps.Clone(b.extensions), revisions: maps.Clone(b.revisions), objects: maps.Clone(b.objects), unpacked: maps.Clone(b.unpacked),
		cluster: b.cluster,
	}}
	version := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		h := fnv.New32a()
		_, _ = h.Write(data)
		return fmt.Sprintf("v%d", h.Sum32())
	}
	for k, x := range n.extensions {
		x.ResourceVersion = ""
		x.ResourceVersion = version(x)
		n.extensions[k] = x
	}
	for k, r := range n.revisions {
		r.ResourceVersion = ""
		r.ResourceVersion = version(r)
		n.revisions[k] = r
	}
	for k, o := range n.objects {
		o.ResourceVersion, o.UID = "", "u"
		o.ResourceVersion = version(o.Observed)
		n.objects[k] = o
	}
	return n
}

// DigestOf returns the digest of a revision.
func DigestOf(r *Revision) string { return r.digest() }

// MarshalJSON writes everything that is in the cluster.
func (b *MemBackend) MarshalJSON() ([]byte, error) {
	b.lock()
	defer b.all.Unlock()
	objects := map[string]Observed{}
	for r, o := range b.objects {
		objects[r.String()] = o.Observed
	}
	return json.Marshal(map[string]any{"extensions": b.extensions, "revisions": b.revisions, "objects": objects, "unpacked": b.unpacked, "cluster": b.cluster})
}
