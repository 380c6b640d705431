package plan

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	"github.com/fairlead/fairlead/internal/words"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controller.
type Options struct {
	// Policy limits what may be done; nil means the zero policy.
	Policy *plan.Policy
	// Catalogs and Graph are not known to the API server; see [Backend].
	Catalogs map[string]*catalog.Catalog
	Graph    func(context.Context) (*graph.Graph, error) // see Catalogs
	// Every is how often the cluster is read while steps are left; zero means every
	// minute. Changes of the ClusterPlan, the ClusterVersion and pools trigger a pass
	// at once.
	Every time.Duration
	// Store keeps the state; see [kube.Store]. It is required: the plan must
	// outlive the process.
	Store fairlead.Store
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Client reads and writes, without a cache. Nil means that
	// SetupWithManager creates one from the manager's configuration.
	Client client.Client
}

// SetupWithManager adds the controller to a manager. It runs while the manager leads. The
// error of Policy.Check is returned.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	c, err := newController(&opts)
	if err != nil {
		return err
	}
	told := &kube.Events{Recorder: mgr.GetEventRecorder("fairlead-plan"), Action: "Plan", Object: func(ctx context.Context, name string) runtime.Object {
		u := kube.Stub(Kind, "", name)
		if opts.Client.Get(ctx, client.ObjectKey{Name: name}, u) != nil {
			return nil
		}
		return u
	}}
	build := ctrl.NewControllerManagedBy(mgr).Named("fairlead-plan").WithOptions(kube.Options(1))
	for _, kind := range []schema.GroupVersionKind{Kind, kindVersion, rollout.Kind} {
		matters := predicate.Predicate(predicate.Funcs{UpdateFunc: changed})
		if kind == Kind { // its status is written here
			matters = predicate.GenerationChangedPredicate{}
		}
		build = build.Watches(kube.Stub(kind, "", ""), handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{kube.RequestOf(Name)}
		}), builder.WithPredicates(matters))
	}
	return build.Complete(&kube.Reconciler{MinInterval: minInterval, Pass: c.pass, Report: told.Report, Clock: opts.Clock})
}

// changed reports whether a ClusterVersion or a pool differs in more than its metadata.
func changed(e event.UpdateEvent) bool {
	o, is := e.ObjectOld.(*unstructured.Unstructured)
	n, too := e.ObjectNew.(*unstructured.Unstructured)
	return !is || !too || !reflect.DeepEqual(o.Object["spec"], n.Object["spec"]) || !reflect.DeepEqual(o.Object["status"], n.Object["status"])
}

// minInterval is between two passes: each reads all nodes, pods and operators.
const minInterval = 10 * time.Second

// controller carries out plans, and reports the progress.
type controller struct {
	*Backend
	runner *plan.Runner
	every  time.Duration
}

func newController(opts *Options) (*controller, error) {
	if opts.Store == nil {
		return nil, fmt.Errorf("kube/plan: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Clock == nil {
		opts.Clock = fairlead.SystemClock{}
	}
	c := &controller{Backend: &Backend{Client: opts.Client, Clock: opts.Clock, Catalogs: opts.Catalogs, Graph: opts.Graph}, every: opts.Every}
	if opts.Policy != nil {
		c.Accept = opts.Policy.Accept
	}
	if c.every <= 0 {
		c.every = time.Minute
	}
	var err error
	c.runner, err = plan.NewRunner(c.Backend, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	return c, err
}

// pass makes one pass: a step of the plan, and the status.
func (c *controller) pass(ctx context.Context, name string) fairlead.Pass {
	p, err := c.read(ctx, name)
	if apierrors.IsNotFound(err) {
		return fairlead.Pass{Err: c.GiveBack(ctx, &plan.Goal{})}
	}
	if err != nil {
		return fairlead.Pass{Err: err}
	}
	d, err := c.runner.Reconcile(ctx, name)
	out := fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: d.Wake, Err: err}
	if err != nil && len(d.Actions) == 0 {
		return out // nothing was decided
	}
	if soon := c.Clock.Now().Add(c.every); len(d.Blocked) > 0 && (out.Wake.IsZero() || soon.Before(out.Wake)) {
		out.Wake = soon
	}
	if failed := c.GiveBack(ctx, &p.Spec.Goal); out.Err == nil {
		out.Err = failed
	}
	if failed := c.tell(ctx, p, &d); out.Err == nil {
		out.Err = failed
	}
	return out
}

// tell writes the status, if it has changed.
func (c *controller) tell(ctx context.Context, p *ClusterPlan, d *plan.Decision) error {
	now := c.Clock.Now()
	s := p.Status.next(p, d, now)
	if reflect.DeepEqual(s, p.Status) {
		return nil
	}
	objects := &kube.Objects{Client: c.Client, Manager: "fairlead-plan"}
	_, err := objects.ReplaceStatus(ctx, Kind, "", p.Name, p.ResourceVersion, s)
	return err
}

// next returns the status after a decision.
func (s Status) next(p *ClusterPlan, d *plan.Decision, now time.Time) Status {
	if !reflect.DeepEqual(s.Goal, p.Spec.Goal) {
		s = Status{Conditions: s.Conditions}
	}
	s.Goal, s.ObservedGeneration = p.Spec.Goal, p.Generation
	if left := d.State.Steps; len(left) > 0 || len(s.Steps) > 0 && len(d.Blocked) == 0 { // otherwise the remaining steps are unknown
		played := s.Played()
		if len(s.Steps) == 0 {
			played = plan.NewPlayed(left, now)
		}
		played.Follow(left, now)
		s.take(played)
	}
	done := fairlead.Condition{Type: Completed, Status: fairlead.ConditionTrue, Reason: "GoalMet", Message: "the cluster meets the goal"}
	going := fairlead.Condition{Type: Progressing, Status: fairlead.ConditionFalse, Reason: "GoalMet", Message: done.Message}
	if len(d.Blocked) > 0 || len(d.State.Steps) > 0 {
		done.Status, done.Reason, done.Message = fairlead.ConditionFalse, "StepsLeft", words.Count(len(d.State.Steps), "step is", "steps are")+" left"
		going.Reason, going.Message = "Begins", "the first step begins"
	}
	if len(d.Blocked) > 0 {
		b := &d.Blocked[0]
		if b.Reason == plan.ReasonUnderWay {
			going.Status = fairlead.ConditionTrue
		}
		going.Reason, going.Message = b.Reason, b.Message
		if b.Unblock != "" {
			going.Message += "; to unblock: " + b.Unblock
		}
	}
	for _, c := range []fairlead.Condition{done, going} {
		c.ObservedGeneration, c.LastTransitionTime = p.Generation, now.UTC().Truncate(time.Second)
		s.Conditions = fairlead.SetCondition(s.Conditions, c)
	}
	return s
}
