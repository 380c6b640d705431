package clusterversion

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Apply implements [cvo.Backend]. Every error is a *[fairlead.RefusedError].
func (b *Backend) Apply(ctx context.Context, name string, action cvo.Action) error {
	if name != b.opts.Name {
		return cvo.Refuse(cvo.ClassNotFound, fmt.Errorf("the ClusterVersion %q is ignored here, only %q is used", name, b.opts.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	switch a := action.(type) {
	case cvo.Retrieve:
		b.retrieve(a)
		return nil
	case cvo.Apply:
		return b.apply(ctx, a.Manifest)
	case cvo.Delete:
		return b.delete(ctx, a.Manifest)
	case cvo.WriteStatus:
		return b.writeStatus(ctx, &a)
	}
	return cvo.Refuse(cvo.ClassOther, fmt.Errorf("actions of type %T are not supported", action))
}

// ApplyAll implements [cvo.BatchBackend]: Options.Parallel at a time.
func (b *Backend) ApplyAll(ctx context.Context, name string, actions []cvo.Action) []error {
	errs := make([]error, len(actions))
	free := make(chan struct{}, b.opts.Parallel)
	var wait sync.WaitGroup
	for i, a := range actions {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			errs[i] = b.Apply(ctx, name, a)
		})
	}
	wait.Wait()
	return errs
}

// apply applies a manifest to the cluster.
func (b *Backend) apply(ctx context.Context, m *payload.Manifest) error {
	u, err := b.prepare(m)
	if err != nil {
		return err
	}
	switch {
	case m.ClusterOperator():
		if there, err := b.reported(ctx, m.ID.Name); there || err != nil {
			return err
		}
		fallthrough
	case m.CreateOnly():
		err := b.client.Create(ctx, u, client.FieldOwner(FieldManager))
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		if err != nil {
			return told(err, "create %s", m.ID)
		}
	default:
		opts := []client.ApplyOption{client.FieldOwner(FieldManager)}
		if b.opts.Force {
			opts = append(opts, client.ForceOwnership)
		}
		if err := b.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...); err != nil {
			return told(err, "apply %s", m.ID)
		}
	}
	b.applied.note(m.ID, u.GetResourceVersion(), b.opts.Clock.Now())
	return nil
}

// reported reports whether a ClusterOperator exists, as far as is known without
// a request.
func (b *Backend) reported(ctx context.Context, name string) (bool, error) {
	u := kube.Stub(kindOperator, "", name)
	err := b.opts.Reports.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, told(err, "read ClusterOperator %s", name)
}

// prepare turns a manifest into the object to send: without the fields that
// the server and reporters of status set, and with the label.
func (b *Backend) prepare(m *payload.Manifest) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(m.JSON, &u.Object); err != nil {
		return nil, invalid(m, err)
	}
	if m.APIVersion == "" {
		return nil, invalid(m, fmt.Errorf("it has no apiVersion; set the one of its kind"))
	}
	delete(u.Object, "status")
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	labels, _, err := unstructured.NestedStringMap(u.Object, "metadata", "labels")
	if err != nil {
		return nil, invalid(m, err)
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = b.opts.Name
	u.SetLabels(labels)
	if m.ClusterOperator() && u.Object["spec"] == nil {
		u.Object["spec"] = map[string]any{} // the kind requires it, and some manifests of releases lack it
	}
	return u, nil
}

func invalid(m *payload.Manifest, err error) error {
	return cvo.Refuse(cvo.ClassInvalid, fmt.Errorf("%s: %s cannot be sent: %w", m.Pos, m.ID, err))
}

// writeStatus writes the status of the ClusterVersion at the version that it was made
// for, so that it overwrites nothing that was not observed.
func (b *Backend) writeStatus(ctx context.Context, a *cvo.WriteStatus) error {
	s := &a.Status
	b.seen.mu.Lock()
	object := b.seen.object
	b.seen.mu.Unlock()
	if object == nil {
		return cvo.Refuse(cvo.ClassNotFound, fmt.Errorf("the ClusterVersion %s is gone", b.opts.Name))
	}
	status, err := kube.Encode(s, "", "")
	if err != nil {
		return cvo.Refuse(cvo.ClassOther, err)
	}
	delete(status.Object, "apiVersion")
	delete(status.Object, "kind")
	u := object.DeepCopy()
	if a.Revision != "" {
		u.SetResourceVersion(a.Revision)
	}
	u.Object["status"] = status.Object
	if b.wrote.Load() == nil && b.dropped(ctx, u, object.Object["status"]) {
		b.wrote.Store(&wrote{string(u.GetUID()), u.GetResourceVersion(), s})
		return nil
	}
	cached := b.cached(ctx)
	b.held.set(nil, false, "")
	if err := b.client.Status().Update(ctx, u, client.FieldOwner(FieldManager)); err != nil {
		return told(err, "write the status of ClusterVersion %s", b.opts.Name)
	}
	b.wrote.Store(&wrote{string(u.GetUID()), u.GetResourceVersion(), s})
	var v cvo.ClusterVersion
	if err := kube.Decode(u, &v); err == nil {
		b.held.set(u, settled(&v), cached)
	}
	return nil
}

// dropped reports whether a status that differs from the stored one equals it once
// the server has dropped unknown fields. It is called before the first write, when
// the unknown fields are not known yet.
func (b *Backend) dropped(ctx context.Context, u *unstructured.Unstructured, there any) bool {
	tried := u.DeepCopy()
	err := b.client.Status().Update(ctx, tried, client.FieldOwner(FieldManager), client.DryRunAll)
	return err == nil && reflect.DeepEqual(tried.Object["status"], there) // the write itself reports errors
}

// wrote is a status that was written, and the resulting version of the object. A
// server drops fields that its definition of the kind does not have; they are not
// sent again until the object changes.
type wrote struct {
	uid, version string
	status       *cvo.Status
}

// tell restores the fields that the server has dropped.
func (w *wrote) tell(v *cvo.ClusterVersion) {
	if w != nil && v.UID == w.uid && v.ResourceVersion == w.version {
		v.Status = *w.status
	}
}

// applied remembers how recent a report on a resource must be.
type applied struct {
	mu sync.Mutex
	by map[payload.ID]patch
}

// patch describes the last patch of a resource.
type patch struct {
	version string // the resulting resourceVersion
	at      time.Time
}

func (a *applied) note(id payload.ID, version string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[payload.ID]patch{}
	}
	a.by[id] = patch{version, at}
}

func (a *applied) last(id payload.ID) (patch, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.by[id]
	return p, ok
}
