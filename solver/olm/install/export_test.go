package install

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Fork returns a copy of a backend in which each object has a revision that follows
// from what it is: a copy is the same as another if the objects are.
func (b *MemBackend) Fork() *MemBackend {
	n := &MemBackend{Unserved: b.Unserved, Sources: b.Sources, memState: &memState{namespaces: maps.Clone(b.namespaces), cluster: b.cluster, generated: slices.Clone(b.generated)}}
	for name, w := range n.namespaces {
		c := *w
		revise(reflect.ValueOf(&c).Elem())
		n.namespaces[name] = &c
	}
	revise(reflect.ValueOf(&n.cluster).Elem())
	for i := range n.generated {
		n.generated[i].Revision = n.generated[i].Digest
	}
	return n
}

// revise copies the lists of a struct, and gives revisions to what they hold.
func revise(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Slice || f.Len() == 0 {
			continue
		}
		list := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
		reflect.Copy(list, f)
		f.Set(list)
		for k := range list.Len() {
			e := list.Index(k)
			if e.Kind() != reflect.Struct {
				continue
			}
			if r := e.FieldByName("Revision"); r.IsValid() && r.Kind() == reflect.String {
				r.SetString("")
				data, err := json.Marshal(e.Interface())
				if err != nil {
					panic(err)
				}
				h := fnv.New32a()
				_, _ = h.Write(data)
				r.SetString(fmt.Sprint(h.Sum32()))
			}
		}
	}
}

// MarshalJSON writes everything that is in the cluster.
func (b *MemBackend) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"namespaces": b.namespaces, "cluster": b.cluster, "generated": b.generated})
}

// Look returns a world with the resolver's answer, as a Runner's Step is given it.
func Look(b Backend, resolve Resolve, namespace string) (*World, error) {
	a := &asking{backend: b, resolve: resolve, clock: fairlead.SystemClock{}, trace: new(Trace), limit: time.Minute}
	return a.Observe(context.Background(), namespace)
}
