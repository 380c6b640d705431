package install_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// Whatever a bundle holds, it is made a plan of, always the same, or refused.
func FuzzContent(f *testing.F) {
	for _, s := range []string{
		`null`, `{}`, `[]`, `{"kind":"ClusterServiceVersion","metadata":{"name":"a.v1"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":1e400}`,
		`{"kind":"ClusterServiceVersion","metadata":{"name":"a.v1"},"spec":{"install":{"spec":{"permissions":[null,3,{"serviceAccountName":"s","rules":null}]}}}}`,
		`{"kind":"ClusterServiceVersion","metadata":null,"spec":[]}`, `{"kind":3}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		choice := olm.Choice{Replaces: "a.v0"}
		choice.Name = "a.v1"
		w := &install.World{
			Namespace:  ns,
			Resolution: &olm.Resolution{Chosen: []olm.Choice{choice}},
			Contents: []install.Content{{Bundle: "a.v1", Manifests: []json.RawMessage{
				[]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a.v1"}}`), manifest,
			}}},
		}
		plan, err := install.NewInstallPlan(w, 1)
		var content *install.ContentError
		if err != nil {
			if !errors.As(err, &content) || content.Bundle != "a.v1" {
				t.Errorf("got %v, want a *ContentError", err)
			}
			return
		}
		again, err := install.NewInstallPlan(w, 1)
		if err != nil || describePlan(plan) != describePlan(again) {
			t.Errorf("got %s, then %s, %v", describePlan(plan), describePlan(again), err)
		}
		for _, s := range plan.Status.Plan {
			if !json.Valid([]byte(s.Resource.Manifest)) || s.Resource.Name == "" || s.Resource.Kind == "" {
				t.Errorf("a step is malformed: %+v", s)
			}
		}
	})
}

// Whatever a world and a state hold, Step ends, and decides the same again.
func FuzzStep(f *testing.F) {
	cluster := new(install.MemBackend)
	err := cluster.Edit(ns, func(w *install.World) error {
		return patch(w, `{"groups":[{"metadata":{"name":"g"},"spec":{"serviceAccountName":"s","selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}}],
			"subscriptions":[{"metadata":{"name":"a","annotations":{"fairlead.io/removal":"refresh"}},"spec":{"name":"a","config":{"volumeMounts":[{"name":"x"}]}},"status":{"installedCSV":"a.v1"}}],
			"csvs":[{"metadata":{"name":"a.v1"},"spec":{"replaces":"a.v1","customresourcedefinitions":{"owned":[{"name":"as","kind":"A"}]},"install":{"spec":{"deployments":[{"name":"d","spec":{"template":{"spec":{}}}}]}}},"status":{"phase":"Succeeded"},"deployed":"Ready"}],
			"plans":[{"metadata":{"name":"install-1"},"spec":{"approved":true,"generation":1,"clusterServiceVersionNames":["a.v1"]},"status":{"phase":"Installing","plan":[{"resolving":"a.v1","resource":{"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","name":"as.g","manifest":"{"}}]}}],
			"crds":[{"metadata":{"name":"as.g"},"spec":{"version":"v1"},"status":{"storedVersions":["v0"]}}],
			"catalogs":[{"metadata":{"name":"c","namespace":"ns","annotations":{"olm.catalogImageTemplate":"{x"}},"spec":{"sourceType":"grpc","updateStrategy":{"registryPoll":{"interval":"-1s"}}},"seen":"READY"}],
			"version":"4.x","kubeVersion":"?","generated":[{"kind":"Role","name":"r","owner":"ns"}],"objects":[{"kind":"ConfigMap","name":"c","owner":"a.v1"}]}`)
	})
	if err != nil {
		f.Fatal(err)
	}
	world, _ := json.Marshal(cluster.World(ns)) // it was decoded from JSON
	f.Add(world, []byte(`{}`))
	f.Add(world, []byte(`{"plan":{"name":"install-1","generation":1,"current":[{"subscription":"a","csv":"a.v1"}],"steps":[{"resolving":"a.v1","ref":{"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","name":"as.g"}}],"started":true}}`))
	f.Add(world, []byte(`{"removal":{"subscription":"a","kind":"refresh","generation":1,"steps":[{"verb":"delete","object":{"kind":"Subscription","name":"a"},"done":true},{"verb":"create","object":{"kind":"Subscription"}}]}}`))
	f.Fuzz(func(t *testing.T, world, saved []byte) {
		var w install.World
		var state install.State
		if json.Unmarshal(world, &w) != nil || json.Unmarshal(saved, &state) != nil {
			return
		}
		first := describeAll(install.Step(state, &w, start, nil))
		if again := describeAll(install.Step(state, &w, start, nil)); again != first {
			t.Errorf("got %s\nthen %s", first, again)
		}
	})
}

func describePlan(p *install.InstallPlan) string {
	text, _ := json.Marshal(p) // strings and numbers only: cannot fail
	return string(text)
}

// Objects of a plan are in its namespace, whatever their bundle says, and those of
// the cluster in none.
func TestPlanNamespaces(t *testing.T) {
	choice := olm.Choice{}
	choice.Name = "a.v1"
	w := &install.World{
		Namespace:  ns,
		Resolution: &olm.Resolution{Chosen: []olm.Choice{choice}},
		Contents: []install.Content{{Bundle: "a.v1", Manifests: []json.RawMessage{
			[]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a.v1","namespace":"placeholder"}}`),
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"far","namespace":"elsewhere"}}`),
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"near"}}`),
			[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"all","namespace":"elsewhere"}}`),
		}}},
	}
	plan, err := install.NewInstallPlan(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Status.Plan {
		want := ns
		if s.Resource.Kind == "ClusterRole" {
			want = ""
		}
		var o struct{ Metadata olm.ObjectMeta }
		if err := json.Unmarshal([]byte(s.Resource.Manifest), &o); err != nil || o.Metadata.Namespace != want {
			t.Errorf("%s %s is in namespace %q, want %q, %v", s.Resource.Kind, s.Resource.Name, o.Metadata.Namespace, want, err)
		}
	}
	if len(plan.Status.Plan) != 4 {
		t.Errorf("it has %d steps, want 4", len(plan.Status.Plan))
	}
}

// Of real bundles some hold roles without an apiVersion. A kind that has one meaning
// gets it, and any other is refused.
func TestBareKinds(t *testing.T) {
	choice := olm.Choice{}
	choice.Name = "a.v1"
	plan := func(kind string) (*install.InstallPlan, error) {
		return install.NewInstallPlan(&install.World{
			Namespace:  ns,
			Resolution: &olm.Resolution{Chosen: []olm.Choice{choice}},
			Contents: []install.Content{{Bundle: "a.v1", Manifests: []json.RawMessage{
				[]byte(`{"kind":"ClusterServiceVersion","metadata":{"name":"a.v1"}}`), []byte(`{"kind":"` + kind + `","metadata":{"name":"x"}}`),
			}}},
		}, 1)
	}
	for kind, want := range map[string]string{
		"ClusterRole": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1", "Service": "v1", "Secret": "v1",
		"CustomResourceDefinition": "apiextensions.k8s.io/v1",
	} {
		p, err := plan(kind)
		if err != nil {
			t.Fatal(err)
		}
		r := p.Status.Plan[1].Resource
		var o struct{ APIVersion string }
		if err := json.Unmarshal([]byte(r.Manifest), &o); err != nil || o.APIVersion != want || strings.TrimPrefix(r.Group+"/"+r.Version, "/") != want {
			t.Errorf("%s is of %q and its step of %q/%q, want %q, %v", kind, o.APIVersion, r.Group, r.Version, want, err)
		}
	}
	if _, err := plan("Route"); err == nil || !strings.Contains(err.Error(), "object 2, Route x, has no apiVersion") {
		t.Errorf("a Route without apiVersion: %v", err)
	}
}
