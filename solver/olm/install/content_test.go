package install_test

import (
	"encoding/json"
	"errors"
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

func describePlan(p *install.InstallPlan) string {
	text, _ := json.Marshal(p) // strings and numbers only: cannot fail
	return string(text)
}
