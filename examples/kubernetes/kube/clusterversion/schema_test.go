package clusterversion_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

var _ configv1.ClusterVersion // the module that contains the definitions

// openapi is the schema that a server validates objects of a kind against.
type openapi struct {
	validator validation.SchemaValidator
	known     *structural.Structural
}

// definition reads a definition of the module github.com/openshift/api.
func definition(t *testing.T, file string) *openapi {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	if err != nil {
		t.Skipf("where the definitions of OpenShift are is not known: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	if err != nil {
		t.Fatal(err)
	}
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	s := &openapi{}
	if s.validator, _, err = validation.NewSchemaValidator(&props); err != nil {
		t.Fatal(err)
	}
	if s.known, err = structural.NewStructural(&props); err != nil {
		t.Fatal(err)
	}
	return s
}

// check validates the status of an object against the schema: it must be valid
// and have no unknown field.
func (s *openapi) check(spec map[string]any, status any) error {
	text, err := json.Marshal(status)
	if err != nil {
		return err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	object := map[string]any{"metadata": map[string]any{"name": "version"}, "spec": spec, "status": tree}
	if errs := validation.ValidateCustomResource(nil, object, s.validator); len(errs) > 0 {
		return fmt.Errorf("%v\n%s", errs.ToAggregate(), text)
	}
	if lost := pruning.PruneWithOptions(object, s.known, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(lost) > 0 {
		return fmt.Errorf("unknown fields %v\n%s", lost, text)
	}
	return nil
}

// situations returns how many situations are tried.
func situations() int {
	if os.Getenv("FAIRLEAD_LONG") != "" {
		return 10_000
	}
	return 1000
}

// Statuses in random situations are valid for OpenShift's schema: those of
// ClusterVersions that are written, and those of ClusterOperators as they are
// read and kept.
func TestStatusesAreValid(t *testing.T) {
	s := definition(t, "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-CustomNoUpgrade.crd.yaml")
	operator := definition(t, "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml")
	want := situations()
	checked, operators, conditions := 0, 0, map[string]int{}
	for seed := uint64(0); checked < want || operators < want; seed++ {
		r := rand.New(rand.NewPCG(1, seed))
		clock := new(fairlead.ManualClock)
		clock.Set(time.Date(2026, 5, 1, 12, 0, 0, r.IntN(1e9), time.UTC))
		b := cvo.NewMemBackend(clock)
		images := []string{"r@sha256:" + strings.Repeat("a", 64), "r@sha256:" + strings.Repeat("b", 64), "r@sha256:" + strings.Repeat("c", 64)}
		for i, image := range images[:2] {
			b.SetRelease(image, smallRelease(t, fmt.Sprintf("4.%d.0", 18+i)), r.IntN(4) > 0, time.Duration(r.IntN(100))*time.Second)
		}
		own := cvo.Release{Version: "4.18.0", Image: images[0]}
		b.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, own)
		policy := &cvo.Policy{ClusterRisks: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			policy.Capabilities = cvo.KnownCapabilities()
		}
		var state cvo.State
		for range 30 {
			situation(r, b, images)
			w, err := b.Observe(t.Context(), "version")
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range w.Operators {
				operators++
				if err := operator.check(map[string]any{}, o.Status); err != nil {
					t.Fatalf("seed %d, operator %s: %v", seed, o.Name, err)
				}
				for _, c := range o.Status.Conditions {
					conditions["operator "+c.Type+"="+string(c.Status)]++
				}
			}
			d := cvo.Step(state, w, clock.Now(), policy)
			state = d.State
			for _, a := range d.Actions {
				err := b.Apply(t.Context(), "version", a)
				if w, ok := a.(cvo.WriteStatus); ok {
					checked++
					if err := s.check(map[string]any{"clusterID": "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, w.Status); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					for _, c := range w.Status.Conditions {
						conditions[c.Type+"="+string(c.Status)]++
					}
					if len(w.Status.ConditionalUpdates) > 0 {
						conditions["conditional"]++
					}
				}
				if o := fairlead.OutcomeOf(a.Key(), err, clock.Now()); o.Key.Kind != "WriteStatus" {
					outcomes = append(outcomes, o)
				}
			}
			clock.Advance(time.Duration(r.IntN(600)) * time.Second)
		}
		outcomes = nil
	}
	for _, kind := range []string{"Failing=True", "Failing=False", "Progressing=True", "Progressing=False", "ReleaseAccepted=False", "ReleaseAccepted=True", "Invalid=True", "Upgradeable=False", "RetrievedUpdates=False", "conditional", "operator Available=False", "operator Degraded=True"} {
		if conditions[kind] == 0 {
			t.Errorf("there was no %s: %v", kind, conditions)
		}
	}
}

// outcomes are the outcomes of the actions of one random run.
var outcomes []fairlead.Outcome

// smallRelease is a release of two components.
func smallRelease(t *testing.T, version string) *payload.Payload {
	const marks = "  annotations: {note: none}\n"
	p, err := payload.Load(files(version, map[string]string{
		"0000_10_a_01_configmap.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n" + marks,
		"0000_20_b_99_clusteroperator.yaml": "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: b\n" + marks + "status: {versions: [{name: operator, version: " + version + "}]}\n",
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// situation changes the cluster at random.
func situation(r *rand.Rand, b *cvo.MemBackend, images []string) {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	if r.IntN(4) == 0 {
		spec := cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f", Channel: one("", "stable-4.19")}
		if r.IntN(3) > 0 {
			spec.DesiredUpdate = &cvo.Update{Version: one("", "4.19.0", "4.18.0", "four"), Image: one("", images[0], images[1], images[2]), Force: r.IntN(3) == 0}
		}
		if r.IntN(4) == 0 {
			spec.Overrides = []payload.Override{{Kind: "ConfigMap", Namespace: "a", Name: "a", Unmanaged: true}}
		}
		b.SetCluster("version", spec, cvo.Release{Version: "4.18.0", Image: images[0]})
	}
	b.Operators["b"] = time.Duration(r.IntN(90)) * time.Minute
	b.Degrade("version", "b", one("", "", "its pods crash"))
	b.Interrupt("version", "b", one("", "", "", "its pods are gone"))
	rule := graph.Rule{Type: graph.RulePromQL, Query: "q"}
	var evaluations graph.Evaluations
	if r.IntN(3) > 0 {
		evaluations = evaluations.With(rule, r.IntN(2) == 0, nil, noon)
	}
	known, answered := r.IntN(3), cvo.UpdatesCondition(nil, noon)
	if known == 1 {
		answered = cvo.UpdatesCondition(&graph.FetchError{Failure: graph.RemoteFailed, Message: "no route"}, noon)
	}
	alert := one("", "PodDisruptionBudgetAtLimit", "KubeNodeNotReady")
	b.Show("version", func(w *cvo.World) {
		w.Outcomes = outcomes
		if known == 0 {
			return
		}
		w.UpdatesCondition, w.Evaluations = answered, evaluations
		w.Updates = &graph.Updates{
			Current:     graph.Release{Version: "4.18.0", Payload: images[0]},
			Available:   []graph.Update{{Release: graph.Release{Version: "4.18.5", Payload: images[2], Metadata: map[string]string{"url": "https://example.com"}}}},
			Conditional: []graph.Update{{Release: graph.Release{Version: "4.19.0", Payload: images[1]}, Risks: []graph.Risk{{Name: "Trouble", URL: "https://example.com/trouble", Message: "It hurts.", MatchingRules: []graph.Rule{rule}}}}},
		}
		w.AdminGates = &cvo.AdminGates{Gates: map[string]string{"ack-4.18-x-in-4.19": "know that https://example.com/x"}}
		if alert != "" {
			w.Alerts = []cvo.Alert{{Labels: map[string]string{"alertname": alert, "severity": "warning"}, State: "firing", ActiveAt: noon, Annotations: map[string]string{"summary": "odd"}}}
		}
	})
}

// A ClusterOperator is created as its schema requires, even from a manifest without a
// spec, as in OpenShift's releases (service-ca).
func TestClusterOperatorsAreValid(t *testing.T) {
	s := definition(t, "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml")
	c := newCluster(t, clusterversion.Options{})
	c.wants(cvo.Apply{Manifest: manifest(t, `{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: service-ca}, status: {versions: [{name: operator, version: "1"}]}}`)},
		"create ClusterOperator/service-ca")
	made := c.read("config.openshift.io/v1", "ClusterOperator", "service-ca")
	if errs := validation.ValidateCustomResource(nil, made.Object, s.validator); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

// Statuses of pools are valid for the schema of MachineConfigPools.
func TestPoolStatusesAreValid(t *testing.T) {
	s := definition(t, "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools-Default.crd.yaml")
	for seed := range uint64(situations()) {
		r := rand.New(rand.NewPCG(2, seed))
		w := &rollout.World{}
		w.Pool.Name, w.Pool.Spec.Configuration.Name, w.Pool.Spec.Paused = "worker", "new", r.IntN(4) == 0
		for i := range r.IntN(5) {
			n := rollout.Node{ObjectMeta: rollout.ObjectMeta{Name: fmt.Sprint("n", i), Annotations: map[string]string{
				rollout.AnnotationCurrent: []string{"old", "new"}[r.IntN(2)], rollout.AnnotationDesired: []string{"old", "new"}[r.IntN(2)],
				rollout.AnnotationState: []string{rollout.StateDone, rollout.StateDegraded, rollout.StateWorking}[r.IntN(3)], rollout.AnnotationReason: "odd",
			}}}
			n.Spec.Unschedulable = r.IntN(3) == 0
			w.Nodes = append(w.Nodes, n)
		}
		if err := s.check(map[string]any{}, rollout.Status(w, time.Date(2026, 5, 1, 12, 0, 0, 5, time.UTC))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
