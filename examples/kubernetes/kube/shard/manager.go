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

// sharing is a manager whose controllers know the member, and receive all
// objects again when it takes over shards.
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

// owning is a controller that runs with the member in its context.
type owning struct {
	manager.Runnable
	member *Member
}

func (o *owning) Start(ctx context.Context) error {
	return o.Runnable.Start(kube.WithOwner(ctx, o.member))
}

// repeating is a cache that records the event handlers of its informers: controllers
// get informers from it by object.
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

// informer is an informer that records the handlers added to it.
type informer struct {
	cache.Informer
	to *subscriptions
}

func (i *informer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.to.mu.Lock() // later replays include the handler
	defer i.to.mu.Unlock()
	r, err := i.Informer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.to.all = append(i.to.all, subscription{i.Informer, h, o})
	}
	return r, err
}

// subscriptions contains the event handlers.
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

// repeat is a handler that was added once more, until it has received all
// objects.
type repeat struct {
	informer cache.Informer
	handle   toolscache.ResourceEventHandlerRegistration
}

// replay sends all objects to all handlers, by adding the handlers once more.
func (s *subscriptions) replay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		handle, err := one.informer.AddEventHandlerWithOptions(one.handler, one.options)
		if err == nil { // otherwise the informer has stopped, and so does the controller
			s.repeats = append(s.repeats, repeat{one.informer, handle})
		}
	}
}

// tidy removes the handlers added by replay that have received all objects.
func (s *subscriptions) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repeats = slices.DeleteFunc(s.repeats, func(r repeat) bool {
		return r.handle.HasSynced() && r.informer.RemoveEventHandler(r.handle) == nil
	})
}
