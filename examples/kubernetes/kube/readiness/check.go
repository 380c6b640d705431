// Package readiness adds a plan to the readiness checks of OpenShift's cluster-version
// operator: what to do before an update, in which order, or what blocks it. [Check] has
// the methods of its interface Check (pkg/readiness/check.go at 6e719331fb58), so it
// can be added to its list:
//
//	checks := readiness.AllChecks
//	readiness.AllChecks = func() []readiness.Check { return append(checks(), &ours.Check{}) }
//
// Data that the server lacks, or that may not be read, is listed in not_seen, and is
// never taken for good news.
package readiness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Check is a readiness check that plans the update. The zero value is ready to use. It
// may be used by several goroutines.
type Check struct {
	// Policy limits what may be done; nil means the zero policy.
	Policy *plan.Policy
	// PauseWorkers requests a plan in which all pools except the control plane
	// restart only once.
	PauseWorkers bool
	// Complete adds what the API server does not know: updates of later releases
	// (plan.FromGraph), and possible versions of operators (plan.ReadOperators). It may
	// be nil.
	Complete func(context.Context, *plan.Situation) error
}

// Name returns the name under which the answer is listed.
func (c *Check) Name() string { return "fairlead_plan" }

// Run plans the update to a release. The answer has the fields verdict ("plan" or "no
// plan"); with a plan steps, takes and unseen; without one facts and fixes, each of
// which was tried; and not_seen, what could not be read.
func (c *Check) Run(ctx context.Context, client dynamic.Interface, _, target string) (map[string]any, error) {
	s, err := live.Read(ctx, &reader{client}, nil, time.Now())
	if err != nil {
		return nil, err
	}
	unread := []string{}
	for _, g := range s.Gaps {
		unread = append(unread, g.What+"; "+g.How)
	}
	if s.Cluster == nil {
		return nil, errors.New("there is no ClusterVersion, or it cannot be read: " + fmt.Sprint(unread))
	}
	if c.Complete != nil {
		if err := c.Complete(ctx, &s.Situation); err != nil {
			return nil, err
		}
	}
	out := map[string]any{"not_seen": unread}
	p, err := plan.Make(ctx, &s.Situation, &plan.Goal{Release: target, PauseWorkers: c.PauseWorkers}, c.Policy)
	var none *plan.NoPlanError
	switch {
	case errors.As(err, &none):
		out["verdict"], out["facts"], out["fixes"] = "no plan", none.Facts, none.Fixes
	case err != nil:
		return nil, err
	default:
		steps := []map[string]any{}
		for _, step := range p.Steps {
			steps = append(steps, map[string]any{"do": step.String(), "why": step.Why, "command": step.Command, "done_when": step.After, "back": step.Back, "takes": step.Takes.String()})
		}
		out["verdict"], out["steps"], out["takes"], out["unseen"] = "plan", steps, p.Takes.String(), p.Unseen
	}
	return out, nil
}

// reader reads through a dynamic client.
type reader struct{ client dynamic.Interface }

// Get implements client.Reader for ConfigMaps.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found, err := r.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return copied(found, into)
}

// List implements client.Reader for the kinds that are read.
func (r *reader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	gvk := into.GetObjectKind().GroupVersionKind()
	kinds := live.Kinds()
	i := slices.IndexFunc(kinds, func(k live.Kind) bool { return k.Group == gvk.Group && k.Kind+"List" == gvk.Kind })
	if i < 0 {
		return fmt.Errorf("%s is not read", gvk)
	}
	list, err := r.client.Resource(gvk.GroupVersion().WithResource(kinds[i].Resource)).List(ctx, *(&client.ListOptions{}).ApplyOptions(opts).AsListOptions())
	if err != nil {
		return err
	}
	return copied(list, into)
}

// copied converts an object through its JSON, including metadata-only objects.
func copied(from json.Marshaler, into any) error {
	text, err := from.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
