package plan

import (
	"os"
	"strings"
	"testing"

	engine "github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// met fills a server with a cluster that meets the goal of its plan.
func met(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
	s.Rights(t, "rbac-plan.yaml")
	text, err := os.ReadFile("../../../internal/situation/testdata/beside/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, namespaced := map[schema.GroupVersionKind][]any{}, map[schema.GroupVersionKind]bool{}
	for _, k := range live.Kinds() {
		objects[k.GroupVersionKind] = nil
	}
	objects[rollout.Kind], objects[schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}] = nil, nil
	r := snapshot.Reader{Each: func(_ *snapshot.Ref, text []byte) {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(text); err != nil {
			t.Error(err)
		}
		kind := u.GroupVersionKind()
		objects[kind] = append(objects[kind], u.Object)
		namespaced[kind] = namespaced[kind] || u.GetNamespace() != ""
	}}
	if err := r.Stream(strings.NewReader(string(text)), "objects"); err != nil {
		t.Fatal(err)
	}
	goal := clusterPlan(t, engine.Goal{Release: "4.18.1"})
	goal.SetGeneration(1)
	objects[Kind] = []any{goal.Object}
	for kind, all := range objects {
		s.Kind(kind, namespaced[kind], all...)
	}
	return func(mgr ctrl.Manager) error {
		store, err := budget.Store(mgr, "plan")
		if err != nil {
			return err
		}
		return SetupWithManager(mgr, Options{Store: store, Graph: offers})
	}
}

// TestAtRest: once the goal is met, changes of nodes, pods and of others' annotations cause
// no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.AtRest(t, 1000, met(t, s))
}

// TestFaults: whatever goes wrong with the server, the plan says that its goal is met.
func TestFaults(t *testing.T) { budget.Faults(t, "plan: the goal is met, and the plan says so", met) }
