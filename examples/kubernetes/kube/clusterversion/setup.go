package clusterversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// SetupWithManager adds the controller to a manager. It watches the
// ClusterVersion of Options.Name, all ClusterOperators, and the resources with
// the label that take time, in its own cache, which starts when the manager
// becomes leader: it then shows nothing older than the actions of an earlier
// leader. The permissions that it needs are in config/rbac-clusterversion.yaml.
func SetupWithManager(mgr ctrl.Manager, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	o := *opts
	if o.Store == nil {
		return errors.New("clusterversion: no Store: give it one that outlives the process, such as a kube.Store")
	}
	c, err := kube.Direct(mgr)
	if err != nil {
		return fmt.Errorf("clusterversion: %w", err)
	}
	reports, err := newReports(mgr, &o)
	if err != nil {
		return fmt.Errorf("clusterversion: %w", err)
	}
	changed := make(chan event.GenericEvent, 1)
	o.Reports = reports
	o.Changed = func() {
		select {
		case changed <- event.GenericEvent{Object: &unstructured.Unstructured{}}:
		default: // one is pending
		}
	}
	b, err := New(c, &o)
	if err != nil {
		return err
	}
	if o.Registry != nil {
		if err := o.Registry.Register(b.Metrics()); err != nil {
			return fmt.Errorf("clusterversion: %w", err)
		}
	}
	if err := mgr.Add(reportsRunnable(reports)); err != nil {
		return fmt.Errorf("clusterversion: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		b.Close()
		return nil
	})); err != nil {
		return fmt.Errorf("clusterversion: %w", err)
	}
	return b.watch(mgr, reports, changed)
}

// reportsRunnable starts the cache when the manager becomes leader: without
// NeedLeaderElection, a Runnable needs leadership.
func reportsRunnable(c cache.Cache) manager.Runnable { return manager.RunnableFunc(c.Start) }

// newReports creates the cache.
func newReports(mgr ctrl.Manager, o *Options) (cache.Cache, error) {
	full, err := o.withDefaults(nil)
	if err != nil {
		return nil, err
	}
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{Label: full.Name})}
	by := map[client.Object]cache.ByObject{}
	for _, s := range slowKinds {
		by[kube.Stub(s.kind, "", "")] = ours
	}
	return cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), ByObject: by, DefaultTransform: trim,
	})
}

// watch builds the controller.
func (b *Backend) watch(mgr ctrl.Manager, reports cache.Cache, changed <-chan event.GenericEvent) error {
	events := &kube.Events{
		Patience: kube.Patience,
		Recorder: mgr.GetEventRecorder(FieldManager), Action: "Update",
		Object: func(context.Context, string) runtime.Object {
			b.seen.mu.Lock()
			defer b.seen.mu.Unlock()
			if b.seen.object == nil {
				return nil
			}
			return b.seen.object
		},
	}
	runner, err := cvo.NewRunner(b, b.opts.Policy, &fairlead.RunnerOptions{Store: b.opts.Store, Clock: b.opts.Clock, Trace: b.opts.Trace})
	if err != nil {
		return err
	}
	if err := kube.SweptBut(mgr, runner.Sweep, b.opts.Name); err != nil {
		return err
	}
	to := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if object.GetObjectKind().GroupVersionKind() == kindVersion && object.GetName() != b.opts.Name {
			return nil
		}
		return []reconcile.Request{kube.RequestOf(b.opts.Name)}
	})
	build := builder.ControllerManagedBy(mgr).Named(FieldManager).WithOptions(kube.Options(1)).
		WatchesRawSource(source.Channel(changed, to))
	for _, kind := range watched() {
		build = build.WatchesRawSource(source.Kind[client.Object](reports, kube.Stub(kind, "", ""), to, predicate.Funcs{UpdateFunc: differs}))
	}
	return build.Complete(&kube.Reconciler{
		Pass: b.Pass(runner), Report: events.Report, Clock: b.opts.Clock, MinRetry: soon,
	})
}

// differs reports whether an object differs in more than its resourceVersion: of annotations, and of
// who manages which fields, the cache has nothing, and nothing depends on them.
func differs(e event.UpdateEvent) bool {
	o, is := e.ObjectOld.(*unstructured.Unstructured)
	n, too := e.ObjectNew.(*unstructured.Unstructured)
	if !is || !too {
		return true
	}
	o = &unstructured.Unstructured{Object: maps.Clone(o.Object)}
	meta, _ := o.Object["metadata"].(map[string]any)
	o.Object["metadata"] = maps.Clone(meta)
	o.SetResourceVersion(n.GetResourceVersion())
	return !reflect.DeepEqual(o.Object, n.Object)
}

// watched returns the kinds whose events trigger a pass.
func watched() []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{kindVersion, kindOperator}
	for _, s := range slowKinds {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// soon is the delay of a pass after one that has applied something, so that
// reports in between are handled together.
const soon = 50 * time.Millisecond

// Pass returns what a [kube.Reconciler] needs: passes of a Runner of this
// backend.
//
//  1. A pass that has applied manifests is followed by another one at once,
//     because manifests that waited for them can be applied now.
//  2. Manifests that could not be applied do not fail the pass: the engine
//     reports them, and retries each on its own schedule.
//  3. If a status could not be written because the ClusterVersion has changed,
//     the next pass decides again at once.
//  4. Any other failure fails the pass.
//  5. A failed step to a release has its cause as reason, so that kube.Events
//     distinguishes it from one that is under way.
//  6. The pass is also repeated when the update service must be queried.
func (b *Backend) Pass(runner *cvo.Runner) kube.Pass {
	return func(ctx context.Context, name string) fairlead.Pass {
		d, err := runner.Reconcile(ctx, name)
		p := fairlead.Pass{Actions: len(d.Actions), Blocked: refusals(&d), Wake: earliest(d.Wake, b.updates.due())}
		manifests, status := false, false
		for _, a := range d.Actions {
			switch a.(type) {
			case cvo.Apply, cvo.Delete:
				manifests = true
			case cvo.WriteStatus:
				status = true
			}
		}
		var api *fairlead.RefusedError
		var panicked *fairlead.PanicError
		answered := errors.As(err, &api) && !errors.As(err, &panicked)
		switch {
		case manifests && (err == nil || answered), status && answered && api.Reason == string(cvo.ClassConflict):
			p.Wake = b.opts.Clock.Now()
		default:
			p.Err = err
		}
		return p
	}
}

// refusals returns the blocks, a failed step with its cause as reason.
func refusals(d *cvo.Decision) []fairlead.Block {
	a := d.State.Accepted
	if a.Status != cvo.False || a.Cause == "" {
		return d.Blocked
	}
	out := slices.Clone(d.Blocked)
	for i := range out {
		if out[i].Reason == a.Reason {
			out[i].Reason = a.Cause
		}
	}
	return out
}
