// Package latest rereads from the server only objects that have changed since
// they were last read, according to the manager's watches.
package latest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client reads from the server and writes to it, and remembers the results of [List]
// and [Get].
//
//  1. All returned data was read from the server. A remembered result is
//     returned again if a cache of metadata has the same UIDs and
//     resourceVersions, or if the cache lags behind and has not changed since
//     the result was read.
//  2. So results are never older than the cache, and never go back in time: a
//     remembered result is replaced only by one that is read later.
//  3. A write through the Client drops the remembered results that it may
//     affect, whatever its outcome. Only writes by others may be seen late, by
//     the lag of the cache.
//
// Its methods may be called from several goroutines.
type Client struct {
	client.Client               // without a cache
	writer        client.Client // carries out writes
	*memory
}

// memory is what a Client and those of [Client.As] have in common.
type memory struct {
	cache client.Reader
	kinds map[schema.GroupKind]bool

	mu     sync.Mutex
	known  map[key]reading
	writes map[schema.GroupKind]int // how many writes have returned, by kind
	heard  map[schema.GroupKind]int // how many changes the watches have reported, by kind; nil without Listen
}

// reading is a result, and the state of the cache before it was read.
type reading struct {
	value  any // a list, an object, or absent
	cached versions
	heard  int // how many changes of the kind had been reported; -1 without Listen
}

// key identifies a read: of one object, or of a list.
type key struct {
	kind            schema.GroupKind
	namespace, name string // a list has no name
	what            string // the type and version, and for a list its selector
}

// New returns a Client. The cache has the metadata of all objects of these kinds;
// objects of other kinds are read each time, as are all objects if the cache is
// nil.
func New(c client.Client, cache client.Reader, kinds []schema.GroupVersionKind) *Client {
	l := &Client{c, c, &memory{cache: cache, kinds: map[schema.GroupKind]bool{}, known: map[key]reading{}, writes: map[schema.GroupKind]int{}}}
	for _, k := range kinds {
		l.kinds[k.GroupKind()] = cache != nil
	}
	return l
}

// As returns a Client that writes through another client, as another user. Reads, and
// what is remembered, are the same.
func (c *Client) As(writer client.Client) *Client { return &Client{c.Client, writer, c.memory} }

// Listen makes the Client take watch events into account: call the returned
// function for each change, with its kind.
func (c *memory) Listen() (hear func(schema.GroupKind)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = map[schema.GroupKind]int{}
	return func(kind schema.GroupKind) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard[kind]++
	}
}

// current reports whether a cache with these versions has nothing newer than the
// result. If the cache lacked an object then and lacks it now, the object may have
// been added and deleted since, unless no change was reported.
func (r *reading) current(cached, read versions, heard int) bool {
	if maps.Equal(cached, read) {
		return true
	}
	for name := range read {
		if r.cached[name] == "" && (heard < 0 || heard != r.heard) {
			return false
		}
	}
	return maps.Equal(cached, r.cached)
}

// List returns the objects of a kind, as a list of the type of empty, which it
// may fill. Do not modify them.
func List[L client.ObjectList](ctx context.Context, c *Client, gvk schema.GroupVersionKind, empty L, opts ...client.ListOption) (L, error) {
	if !c.kinds[gvk.GroupKind()] {
		return empty, c.Client.List(ctx, empty, opts...)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	k := key{kind: gvk.GroupKind(), namespace: o.Namespace, what: fmt.Sprintf("%T %s %v", empty, gvk.Version, o.LabelSelector)}
	known, writes, heard := c.remembered(k)
	heads := &metav1.PartialObjectMetadataList{}
	heads.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	failed := c.cache.List(ctx, heads, append(slices.Clone(opts), client.UnsafeDisableDeepCopy)...)
	cached := versionsOf(heads)
	if list, is := known.value.(L); is && failed == nil && known.current(cached, versionsOf(list), heard) {
		return list, nil
	}
	if err := c.Client.List(ctx, empty, opts...); err != nil {
		return empty, err
	}
	if failed == nil {
		c.remember(k, reading{empty, cached, heard}, writes)
	}
	return empty, nil
}

// Get returns an object by its name, with the type of empty, which it may
// fill; there is false if it does not exist. Do not modify it.
func Get[O client.Object](ctx context.Context, c *Client, gvk schema.GroupVersionKind, name client.ObjectKey, empty O) (found O, there bool, err error) {
	read := func() (there bool, err error) {
		err = c.Client.Get(ctx, name, empty)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}
	if !c.kinds[gvk.GroupKind()] {
		there, err = read()
		return empty, there, err
	}
	k := key{kind: gvk.GroupKind(), namespace: name.Namespace, name: name.Name, what: fmt.Sprintf("%T %s", empty, gvk.Version)}
	known, writes, heard := c.remembered(k)
	head := &metav1.PartialObjectMetadata{}
	head.SetGroupVersionKind(gvk)
	failed := c.cache.Get(ctx, name, head)
	cached := versions{}
	if failed == nil {
		cached.add(head)
	}
	if known.value != nil && client.IgnoreNotFound(failed) == nil {
		o, is := known.value.(O)
		now := versions{}
		if is {
			now.add(o)
		}
		if known.current(cached, now, heard) {
			if !is {
				o = empty
			}
			return o, is, nil
		}
	}
	if there, err = read(); err != nil {
		return empty, false, err
	}
	r := reading{absent{}, cached, heard}
	if there {
		r.value = empty
	}
	if client.IgnoreNotFound(failed) == nil {
		c.remember(k, r, writes)
	}
	return empty, there, nil
}

// absent is the remembered value of an object that does not exist.
type absent struct{}

// Cached reports whether the cache has an object; it may lag behind. For kinds
// that are not cached it returns true.
func (c *Client) Cached(ctx context.Context, gvk schema.GroupVersionKind, name client.ObjectKey) bool {
	if !c.kinds[gvk.GroupKind()] {
		return true
	}
	head := &metav1.PartialObjectMetadata{}
	head.SetGroupVersionKind(gvk)
	return !apierrors.IsNotFound(c.cache.Get(ctx, name, head))
}

// Forget drops the results of a namespace.
func (c *memory) Forget(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.known {
		if namespace != "" && k.namespace == namespace {
			delete(c.known, k)
		}
	}
}

// remembered returns the last result, how many writes of the kind have returned,
// and how many changes were reported.
func (c *memory) remembered(k key) (known reading, writes, heard int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard = -1
	if c.heard != nil {
		heard = c.heard[k.kind]
	}
	return c.known[k], c.writes[k.kind], heard
}

// remember keeps a result that was read after the given number of writes had
// returned. If more have returned by now, it may be older than one of them.
func (c *memory) remember(k key, read reading, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes[k.kind] == writes {
		c.known[k] = read
	} else {
		delete(c.known, k)
	}
}

// wrote drops the results that a write may have changed: the object, and lists of
// the kind. A status write does not add an object to a list.
func (c *memory) wrote(kind schema.GroupKind, namespace, name string, status bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes[kind]++
	for k, r := range c.known {
		if k.kind != kind || k.name != "" && (k.name != name || k.namespace != namespace) || k.namespace != "" && k.namespace != namespace {
			continue
		}
		if list, is := r.value.(client.ObjectList); is && status && !versionsOf(list).have(namespace, name) {
			continue
		}
		delete(c.known, k)
	}
}

// noting carries out a write and records it.
func (c *Client) noting(o client.Object, status bool, write func() error) error {
	namespace, name := o.GetNamespace(), o.GetName()
	err := write()
	if gvk, failed := c.GroupVersionKindFor(o); failed == nil {
		c.wrote(gvk.GroupKind(), namespace, name, status)
	}
	return err
}

// Create implements [client.Writer].
func (c *Client) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return c.noting(o, false, func() error { return c.writer.Create(ctx, o, opts...) })
}

// Update implements [client.Writer].
func (c *Client) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return c.noting(o, false, func() error { return c.writer.Update(ctx, o, opts...) })
}

// Patch implements [client.Writer].
func (c *Client) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.noting(o, false, func() error { return c.writer.Patch(ctx, o, p, opts...) })
}

// Delete implements [client.Writer].
func (c *Client) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return c.noting(o, false, func() error { return c.writer.Delete(ctx, o, opts...) })
}

// Apply implements [client.Writer]. A dry run does not affect remembered
// results.
func (c *Client) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := c.writer.Apply(ctx, o, opts...)
	var how client.ApplyOptions
	if how.ApplyOptions(opts); slices.Contains(how.DryRun, metav1.DryRunAll) {
		return err
	}
	if u, is := o.(interface {
		GroupVersionKind() schema.GroupVersionKind
		GetNamespace() string
		GetName() string
	}); is {
		c.wrote(u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName(), false)
	}
	return err
}

// Status implements [client.StatusClient].
func (c *Client) Status() client.SubResourceWriter { return status{c.writer.Status(), c} }

// status records status writes.
type status struct {
	client.SubResourceWriter
	client *Client
}

func (s status) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.client.noting(o, true, func() error { return s.SubResourceWriter.Update(ctx, o, opts...) })
}

func (s status) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.client.noting(o, true, func() error { return s.SubResourceWriter.Patch(ctx, o, p, opts...) })
}

// versions contains the UIDs and resourceVersions of objects.
type versions map[types.NamespacedName]string

func (v versions) add(o metav1.Object) {
	v[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}] = string(o.GetUID()) + " " + o.GetResourceVersion()
}

func (v versions) have(namespace, name string) bool {
	_, is := v[types.NamespacedName{Namespace: namespace, Name: name}]
	return is
}

// versionsOf returns the versions of a list.
func versionsOf(list client.ObjectList) versions {
	v := versions{}
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err == nil {
			v.add(m)
		}
		return err
	})
	return v
}
