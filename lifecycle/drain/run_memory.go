package drain

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// MemBackend is a Backend in memory: nodes with their pods and budgets, and requests
// for them. Evictions respect budgets, pods take their grace period to end, and stay
// on nodes that are silent; a node that is out of service loses its pods. Use it to
// test an embedding of the engine. The zero value is an empty cluster. Its methods may
// be called from several goroutines.
//
// It owns its arguments.
type MemBackend struct {
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Cluster is the cluster that this is a view of. If set, its Clock is used, and
	// controllers replace pods that are gone. Nil means a cluster of its own. See
	// [fairlead.MemCluster].
	Cluster *fairlead.MemCluster
	// Changed is called for each action that changed something, in order. It
	// must not call the backend.
	Changed func(node string, action Action)
	// Show adds to what is observed of a node what the backend does not know, such as
	// Slots. Nil adds nothing. It must not call the backend.
	Show func(*World)

	once sync.Once
	all  *cluster.Cluster
}

// memRequest is a stored request: its namespace is the node.
type memRequest struct {
	fairlead.ObjectMeta
	request Request
}

func requests() cluster.Kind[memRequest] {
	return cluster.Kind[memRequest]{Name: "DrainRequest", Meta: func(r *memRequest) *fairlead.ObjectMeta { return &r.ObjectMeta }}
}

// lock takes the lock and advances the cluster to the present.
func (b *MemBackend) lock() {
	b.once.Do(func() { b.all = cluster.Of(b.Cluster, b.Clock, &cluster.Options{Still: true}) })
	b.all.Lock()
	b.all.Run()
}

// PutNode creates a node, or replaces the one with its name. Without a UID, it gets
// that of the node it replaces, or a new one.
func (b *MemBackend) PutNode(n Node) {
	b.lock()
	defer b.all.Unlock()
	if old := cluster.Ref(b.all, cluster.Nodes(), n.Name); old != nil {
		n.UID = cmp.Or(n.UID, old.UID)
	}
	if n.UID == "" {
		n.UID = b.all.UID("Node")
	}
	cluster.Put(b.all, cluster.Nodes(), &n)
}

// Node returns a node, nil if there is none. It must not be changed.
func (b *MemBackend) Node(name string) *Node {
	b.lock()
	defer b.all.Unlock()
	return cluster.Ref(b.all, cluster.Nodes(), name)
}

// RemoveNode removes a node with its pods.
func (b *MemBackend) RemoveNode(name string) {
	b.lock()
	defer b.all.Unlock()
	b.all.RemoveNode(name)
}

// Boot reboots a node: it gets a new boot ID.
func (b *MemBackend) Boot(node string) {
	b.lock()
	defer b.all.Unlock()
	b.all.Boot(node)
}

// Fence provides the evidence that a node is powered off, or withdraws it. It applies
// to the node that has the name now.
func (b *MemBackend) Fence(node string, is bool) {
	b.lock()
	defer b.all.Unlock()
	if n := cluster.Ref(b.all, cluster.Nodes(), node); n != nil {
		b.all.Fence(n.UID, is)
	}
}

// PutPod creates a pod on the node that it names, or replaces the one with its
// namespace and name. Without a UID, it gets one.
func (b *MemBackend) PutPod(p Pod) {
	b.lock()
	defer b.all.Unlock()
	if p.UID == "" {
		p.UID = b.all.UID("Pod")
	}
	cluster.Put(b.all, cluster.Pods(), &p)
}

// PutBudget creates a disruption budget, or replaces the one with its name. Its status
// is computed at each observation.
func (b *MemBackend) PutBudget(p PodDisruptionBudget) error {
	if err := p.Check(); err != nil {
		return err
	}
	b.lock()
	defer b.all.Unlock()
	cluster.Put(b.all, cluster.Budgets(), &p)
	return nil
}

// PutRequest creates a request for a node, or replaces the one with its name. Without
// a UID it gets one, and without Asked the current time.
func (b *MemBackend) PutRequest(node string, r Request) {
	b.lock()
	defer b.all.Unlock()
	if r.UID == "" {
		r.UID = b.all.UID("DrainRequest")
	}
	if r.Asked.IsZero() {
		r.Asked = b.all.Now()
	}
	b.keep(node, r)
}

func (b *MemBackend) keep(node string, r Request) {
	cluster.Put(b.all, requests(), &memRequest{fairlead.ObjectMeta{Namespace: node, Name: r.Name}, r})
}

// RemoveRequest removes a request.
func (b *MemBackend) RemoveRequest(node, name string) {
	b.lock()
	defer b.all.Unlock()
	cluster.Drop(b.all, requests(), node+"/"+name)
}

// Requests returns the requests for a node, by name.
func (b *MemBackend) Requests(node string) []Request {
	b.lock()
	defer b.all.Unlock()
	return b.requests(node)
}

func (b *MemBackend) requests(node string) []Request {
	var all []Request
	for _, r := range cluster.Refs(b.all, requests()) {
		if r.Namespace == node {
			all = append(all, r.request)
		}
	}
	return all
}

// Next returns when something will change by the passing of time, and false if nothing
// will.
func (b *MemBackend) Next() (time.Time, bool) {
	b.lock()
	defer b.all.Unlock()
	at := b.all.Next()
	return at, !at.IsZero()
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, node string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.lock()
	defer b.all.Unlock()
	w := &World{Name: node, Requests: b.requests(node), BootID: b.all.BootID(node)}
	if n, ok := cluster.Get(b.all, cluster.Nodes(), node); ok {
		w.Node, w.Fenced = &n, b.all.Fenced(n.UID)
		w.Pods, w.Budgets = b.all.View(node)
	}
	if b.Show != nil {
		b.Show(w)
	}
	return w, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, node string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.lock()
	defer b.all.Unlock()
	changed, err := b.apply(node, action)
	if changed && b.Changed != nil {
		b.Changed(node, action)
	}
	return err
}

func (b *MemBackend) apply(node string, action Action) (changed bool, err error) {
	outOfService := fairlead.Taint{Key: OutOfServiceTaint, Value: "nodeshutdown", Effect: fairlead.NoExecute}
	switch a := action.(type) {
	case Cordon:
		return b.all.Cordon(a.Node, a.UID, true, CordonAnnotation, a.Mark)
	case Uncordon:
		return b.all.Cordon(a.Node, a.UID, false, CordonAnnotation, "")
	case TaintOutOfService:
		return b.all.Taint(a.Node, a.UID, outOfService, true)
	case UntaintOutOfService:
		return b.all.Taint(a.Node, a.UID, outOfService, false)
	case Evict:
		return b.all.EndPod(a.Namespace, a.Name, a.UID, a.GracePeriodSeconds, true)
	case DeletePod:
		return b.all.EndPod(a.Namespace, a.Name, a.UID, a.GracePeriodSeconds, false)
	case Report:
		old := cluster.Ref(b.all, requests(), node+"/"+a.Request)
		if old == nil || old.request.UID != a.UID {
			return false, &fairlead.RefusedError{Code: 404, Reason: "NotFound", Message: "there is no request " + a.Request + " with UID " + a.UID}
		}
		r := old.request
		if r.Status == a.Status {
			return false, nil
		}
		r.Status = a.Status
		b.keep(node, r)
		return true, nil
	}
	return false, fmt.Errorf("action %T is not known", action)
}
