package e2e_test

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A silentTime is the time during which a node had the taint of silent nodes.
type silentTime struct {
	since    time.Time // according to the taint
	reported time.Time // when the node was back
	gone     time.Time // when the taint was observed to be gone
}

// tainted records which nodes have the taint of silent nodes, as reported by
// the server.
type tainted struct {
	mu    sync.Mutex
	nodes map[string]silentTime
}

func (w *world) watchTaints() *tainted {
	w.Helper()
	t := &tainted{nodes: map[string]silentTime{}}
	ctx, cancel := context.WithCancel(w.Context())
	var watching sync.WaitGroup
	w.Cleanup(watching.Wait)
	w.Cleanup(cancel)
	watching.Go(func() {
		for ctx.Err() == nil {
			events, err := w.admin.Watch(ctx, &corev1.NodeList{})
			if err != nil {
				time.Sleep(100 * time.Millisecond)
				continue
			}
			for e := range events.ResultChan() {
				t.note(e)
			}
		}
	})
	return t
}

func (t *tainted) note(e watch.Event) {
	n, ok := e.Object.(*corev1.Node)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now, is := t.nodes[n.Name], false
	for _, taint := range n.Spec.Taints {
		if taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute {
			is = true
			if now.since.IsZero() && taint.TimeAdded != nil {
				now.since = taint.TimeAdded.Time
			}
		}
	}
	if !is && !now.since.IsZero() && now.gone.IsZero() {
		now.gone = time.Now()
	}
	t.nodes[n.Name] = now
}

func (t *tainted) of(node string) silentTime {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodes[node]
}

// reporting records that a node is about to report that it is ready.
func (t *tainted) reporting(node string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[node]
	n.reported = time.Now()
	t.nodes[node] = n
}

// A lease is the lease of one node.
type lease struct {
	mu     sync.Mutex
	object *coordinationv1.Lease
	silent bool
}

// leases renews leases every ten seconds, as kubelets do, for many nodes.
type leases struct {
	w  *world
	of []lease // by node number
}

// renewAll starts renewing the leases of the nodes.
func (w *world) renewAll(nodes int) *leases {
	w.Helper()
	w.eventually("the namespace of leases", func() string {
		return problem(client.IgnoreAlreadyExists(w.admin.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: corev1.NamespaceNodeLease}})))
	})
	l := &leases{w: w, of: make([]lease, nodes)}
	together(nodes, func(n int) {
		l.of[n].object = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: nodeName(n)}}
		w.create(l.of[n].object)
	})
	ctx, cancel := context.WithCancel(w.Context())
	var renewing sync.WaitGroup
	w.Cleanup(renewing.Wait)
	w.Cleanup(cancel)
	renewing.Go(func() {
		for round := time.NewTicker(10 * time.Second); ctx.Err() == nil; {
			together(nodes, func(n int) { l.renew(ctx, n) })
			select {
			case <-ctx.Done():
			case <-round.C:
			}
		}
	})
	return l
}

// renew renews the lease of a node that is not silent.
func (l *leases) renew(ctx context.Context, n int) {
	lease := &l.of[n]
	lease.mu.Lock()
	defer lease.mu.Unlock()
	if lease.silent {
		return
	}
	now := metav1.NewMicroTime(time.Now())
	lease.object.Spec.RenewTime = &now
	if err := l.w.admin.Update(ctx, lease.object); err != nil && ctx.Err() == nil {
		l.w.Errorf("lease of node %d: %v", n, err)
	}
}

// quiet sets whether a node stops renewing its lease. If it does not, it renews
// it at once.
func (l *leases) quiet(n int, silent bool) {
	l.of[n].mu.Lock()
	l.of[n].silent = silent
	l.of[n].mu.Unlock()
	l.renew(l.w.Context(), n)
}
