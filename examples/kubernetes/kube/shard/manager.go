package shard

import (
	"context"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Manager returns a manager for controllers whose objects are shared: those of this
// module, and any other whose reconciler is a [kube.Reconciler]. They run in all
// members at once, so mgr must not elect a leader.
func (m *Member) Manager(mgr ctrl.Manager) ctrl.Manager { return &sharing{mgr, m} }

// sharing is a manager whose controllers know the member, and are told of all
// objects when it takes shards over.
type sharing struct {
	ctrl.Manager
	member *Member
}

func (s *sharing) Add(r manager.Runnable) error {
	return s.Manager.Add(&owning{r, s.member})
}

func (s *sharing) GetCache() cache.Cache {
	return &repeating{s.Manager.GetCache(), &s.member.subscriptions}
}

// owning is a controller in whose contexts the member is.
type owning struct {
	manager.Runnable
	member *Member
}

func (o *owning) Start(ctx context.Context) error {
	return o.Runnable.Start(kube.WithOwner(ctx, o.member))
}

// repeating is a cache that remembers who wants to be told of its objects: controllers
// ask it for informers by an object.
type repeating struct {
	cache.Cache
	to *subscriptions
}

func (r *repeating) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := r.Cache.GetInformer(ctx, o, opts...)
	if err != nil {
		return nil, err
	}
	return &informer{i, r.to}, nil
}

// informer is one that remembers the handlers that are added to it.
type informer struct {
	cache.Informer
	to *subscriptions
}

func (i *informer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.to.mu.Lock() // what is taken over from now on is repeated to it
	defer i.to.mu.Unlock()
	r, err := i.Informer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.to.all = append(i.to.all, subscription{i.Informer, h, o})
	}
	return r, err
}

// subscriptions are the handlers that are told of objects.
type subscriptions struct {
	mu      sync.Mutex
	all     []subscription
	repeats []repeat
}

type subscription struct {
	informer cache.Informer
	handler  toolscache.ResourceEventHandler
	options  toolscache.HandlerOptions
}

// repeat is a handler that was added once more, until it was told of all objects.
type repeat struct {
	informer cache.Informer
	handle   toolscache.ResourceEventHandlerRegistration
}

// replay tells all handlers of all objects: it adds them once more.
func (s *subscriptions) replay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		handle, err := one.informer.AddEventHandlerWithOptions(one.handler, one.options)
		if err == nil { // or else the informer has stopped, and so does the controller
			s.repeats = append(s.repeats, repeat{one.informer, handle})
		}
	}
}

// tidy takes away what was added by replay and has done its work.
func (s *subscriptions) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repeats = slices.DeleteFunc(s.repeats, func(r repeat) bool {
		return r.handle.HasSynced() && r.informer.RemoveEventHandler(r.handle) == nil
	})
}
