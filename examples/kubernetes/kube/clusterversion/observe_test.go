package clusterversion_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelled returns an object as applied, from YAML of spec and status.
func labelled(apiVersion, kind, name, spec, status string) *unstructured.Unstructured {
	u := object(apiVersion, kind, name)
	u.SetLabels(map[string]string{clusterversion.Label: "version"})
	u.SetGeneration(2)
	set(u, "spec", spec)
	return set(u, "status", status)
}

func TestRollouts(t *testing.T) {
	const rolled = "observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2"
	for _, c := range []struct {
		what         string
		object       *unstructured.Unstructured
		waits, fails string
	}{
		{"rolled out", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", "{"+rolled+"}"), "", ""},
		{"scaled to nothing", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 0}", "{observedGeneration: 2}"), "", ""},
		{"one replica by default", labelled("apps/v1", "Deployment", "ns/d", "{}", "{observedGeneration: 2}"), "of 1 replicas 0 are updated", ""},
		{"not observed", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", strings.Replace("{"+rolled+"}", "n: 2", "n: 1", 1)), "has not observed it", ""},
		{"being deleted", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", "{observedGeneration: 2, replicas: 3, updatedReplicas: 1, availableReplicas: 2}"), "of 2 replicas 1 are updated and 2 available; 3 exist", ""},
		{"one is left over", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", "{observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 3}"), "3 exist", ""},
		{"quota", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", `{observedGeneration: 2, conditions: [{type: ReplicaFailure, status: "True", message: exceeded quota}]}`), "", "exceeded quota"},
		{"stopped", labelled("apps/v1", "Deployment", "ns/d", "{replicas: 2}", `{observedGeneration: 2, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: timed out}]}`), "", "timed out"},
		{"daemons", labelled("apps/v1", "DaemonSet", "ns/d", "{}", "{observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3}"), "", ""},
		{"daemons on their way", labelled("apps/v1", "DaemonSet", "ns/d", "{}", "{observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2}"), "of 3 pods 3 are updated and 2 available", ""},
		{"daemons not observed", labelled("apps/v1", "DaemonSet", "ns/d", "{}", "{observedGeneration: 1}"), "has not observed it", ""},
		{"daemons updated manually", labelled("apps/v1", "DaemonSet", "ns/d", "{updateStrategy: {type: OnDelete}}", "{observedGeneration: 2, desiredNumberScheduled: 3}"), "", ""},
		{"complete", labelled("batch/v1", "Job", "ns/j", "{}", `{conditions: [{type: Complete, status: "True"}]}`), "", ""},
		{"at work", labelled("batch/v1", "Job", "ns/j", "{}", `{active: 1, conditions: [{type: Failed, status: "False"}]}`), "1 of its pods are running", ""},
		{"failed", labelled("batch/v1", "Job", "ns/j", "{}", `{conditions: [{type: Failed, status: "True", message: backoff}]}`), "", "backoff"},
		{"served", labelled("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.example.com", "{}", `{conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}`), "", ""},
		{"new", labelled("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.example.com", "{}", `{}`), "has not observed it", ""},
		{"installing", labelled("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.example.com", "{}", `{conditions: [{type: Established, status: "False", message: installing}]}`), "installing", ""},
		{"names taken", labelled("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.example.com", "{}", `{conditions: [{type: NamesAccepted, status: "False", message: taken}]}`), "", "taken"},
		{"wrong form", labelled("apps/v1", "Deployment", "ns/d", "{replicas: two}", "{}"), "", "replicas"},
	} {
		k := newCluster(t, clusterversion.Options{}, clusterVersion())
		if err := k.WithWatch.Create(t.Context(), c.object); err != nil && c.what != "wrong form" {
			t.Fatal(c.what, err)
		} else if err != nil {
			continue
		}
		w := k.observe().Workloads
		if c.waits == "" && c.fails == "" {
			if len(w) != 0 {
				t.Errorf("%s: %+v", c.what, w)
			}
			continue
		}
		if len(w) != 1 || w[0].ID.Kind != c.object.GetKind() || w[0].ID.Name != c.object.GetName() ||
			!strings.Contains(w[0].Waiting, c.waits) || !strings.Contains(w[0].Failed, c.fails) || (w[0].Failed == "") != (c.fails == "") {
			t.Errorf("%s: %+v", c.what, w)
		}
	}
}

// behind is a cache that shows the data of another client.
type behind struct{ client.Reader }

// A report from before the last patch says nothing about the patched object.
func TestReportsMayLag(t *testing.T) {
	rolled := labelled("apps/v1", "Deployment", "ns/d", "{replicas: 1}", "{observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1}")
	before := newCluster(t, clusterversion.Options{}, rolled.DeepCopy())
	reports := &behind{before}
	c := newCluster(t, clusterversion.Options{Reports: reports}, clusterVersion(), rolled.DeepCopy())
	told := func(want string) {
		t.Helper()
		if got := fmt.Sprint(c.observe().Workloads); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	told("[]")
	if _, err := c.apply(cvo.Apply{Manifest: manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns}, spec: {replicas: 1, paused: false}}`)}); err != nil {
		t.Fatal(err)
	}
	told(`[{deployment "ns/d" it has not been observed since it was applied }]`)
	reports.Reader = c
	told("[]")
}

// A resource that was applied and is gone is a failure, so that it is applied
// again; one that the cache does not show yet is not.
func TestGone(t *testing.T) {
	c := newCluster(t, clusterversion.Options{}, clusterVersion())
	c.source[imageA] = files("1.0.0", map[string]string{
		"0000_50_x_a": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns, annotations: {a: b}}, spec: {replicas: 1}}`,
		"0000_50_x_b": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: e, namespace: ns, annotations: {release.openshift.io/create-only: "true"}}}`,
		"0000_50_x_c": `{apiVersion: batch/v1, kind: Job, metadata: {name: f, namespace: ns, annotations: {release.openshift.io/delete: "true"}}}`,
	})
	c.wants(cvo.Retrieve{Release: releaseA, Force: true})
	c.retrieved()
	told := func(want string) {
		t.Helper()
		var got []string
		for _, w := range c.observe().Workloads {
			got = append(got, fmt.Sprintf("%s waits %q failed %q", w.ID.Name, w.Waiting, w.Failed))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	gone := `d waits "" failed "it does not exist, or has lost the label fairlead.io/clusterversion"`
	told(gone)
	c.wants(cvo.Apply{Manifest: c.observe().Retrieved[0].Payload.Manifests[0]}, "apply Deployment/d by fairlead-clusterversion")
	told(`d waits "of 1 replicas 0 are updated and 0 available; 0 exist" failed ""`)
	if err := c.WithWatch.Delete(t.Context(), c.read("apps/v1", "Deployment", "ns/d")); err != nil {
		t.Fatal(err)
	}
	told(`d waits "it has not been observed since it was applied" failed ""`)
	c.clock.Set(noon.Add(10 * time.Second))
	told(gone)
}

func TestOperatorsOfAWrongForm(t *testing.T) {
	good := set(object("config.openshift.io/v1", "ClusterOperator", "b"), "status", `{versions: [{name: operator, version: 1.0.0}], conditions: [{type: Available, status: "True"}]}`)
	bad := set(object("config.openshift.io/v1", "ClusterOperator", "a"), "status", `{versions: 7}`)
	c := newCluster(t, clusterversion.Options{}, clusterVersion(), good, bad)
	got := c.observe().Operators
	if len(got) != 2 || got[0].Name != "a" || got[1].Status.Versions[0].Version != "1.0.0" {
		t.Fatalf("%+v", got)
	}
	e := cvo.Gate("a", []cvo.Operand{{Name: "operator", Version: "1.0.0"}}, &got[0], cvo.Updating)
	if e == nil || !strings.Contains(e.Message, "ClusterOperator a: does not have the expected form") {
		t.Errorf("%+v", e)
	}
}

func TestObserveFails(t *testing.T) {
	c := newCluster(t, clusterversion.Options{})
	if w := c.observe(); w.Cluster != nil {
		t.Errorf("there is no ClusterVersion, and %+v", w.Cluster)
	}
	if w, err := c.backend.Observe(t.Context(), "another"); err != nil || w.Cluster != nil {
		t.Errorf("%+v, %v", w, err)
	}
	c = newCluster(t, clusterversion.Options{}, set(clusterVersion(), "spec.overrides", "{a: b}"))
	if _, err := c.backend.Observe(t.Context(), "version"); err == nil || !strings.Contains(err.Error(), "ClusterVersion version: does not have the expected form") {
		t.Errorf("%v", err)
	}
	c = newCluster(t, clusterversion.Options{Reports: forbidden{}}, clusterVersion())
	if _, err := c.backend.Observe(t.Context(), "version"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "list of ClusterOperator") {
		t.Errorf("%v", err)
	}
}

type forbidden struct{ client.Reader }

func (forbidden) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("not allowed")
}

func (forbidden) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "clusteroperators"}, "", nil)
}

func TestOptions(t *testing.T) {
	for want, opts := range map[string]clusterversion.Options{
		"label":        {Name: "a b"},
		"Architecture": {Updates: &clusterversion.Updates{}},
	} {
		if _, err := clusterversion.New(nil, &opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// verifier accepts some digests and records those it was asked about.
type verifier struct {
	cvo.Digests
	asked []string
}

func (v *verifier) Verify(ctx context.Context, digest string) error {
	v.asked = append(v.asked, digest)
	return v.Digests.Verify(ctx, digest)
}

func TestRetrieve(t *testing.T) {
	v := &verifier{Digests: cvo.Digests{digestA}}
	c := newCluster(t, clusterversion.Options{Verifier: v}, clusterVersion())
	c.source[imageA] = files("1.0.0", nil)
	c.source[imageB] = files("1.1.0", map[string]string{"0000_50_x_a": "{kind: ["})
	broken := "registry.example/release:tagged"
	c.source[broken] = files("1.2.0", nil)
	try := func(image string, n int, force bool) cvo.Retrieved {
		t.Helper()
		c.wants(cvo.Retrieve{Release: cvo.Release{Image: image}, Try: n, Force: force})
		c.retrieved()
		for _, r := range c.observe().Retrieved {
			if r.Image == image {
				return r
			}
		}
		t.Fatal("not retrieved")
		return cvo.Retrieved{}
	}
	if r := try(imageA, 0, false); !r.Verified || r.Payload == nil || r.Payload.Release.Version != "1.0.0" {
		t.Errorf("%+v", r)
	}
	// Its digest is not accepted: it is not even opened.
	if r := try(imageB, 0, false); r.Verified || r.Payload != nil || r.LoadError != "" || !strings.Contains(r.VerifyError, digestB) {
		t.Errorf("%+v", r)
	}
	// With force it is opened, and cannot be read.
	if r := try(imageB, 1, true); r.Verified || r.Payload != nil || !strings.Contains(r.LoadError, "0000_50_x_a.yaml:1") || r.Try != 1 {
		t.Errorf("%+v", r)
	}
	if r := try(broken, 0, true); r.VerifyError == "" || r.Payload == nil {
		t.Errorf("%+v", r)
	}
	if r := try("registry.example/release@sha256:none", 0, true); !strings.Contains(r.Error, "there is no image") {
		t.Errorf("%+v", r)
	}
	if want := []string{digestA, digestB, digestB, broken, "sha256:none"}; !slices.Equal(v.asked, want) {
		t.Errorf("asked for %q", v.asked)
	}
	// An attempt is not repeated.
	c.wants(cvo.Retrieve{Release: cvo.Release{Image: imageA}})
	if len(v.asked) != 5 {
		t.Errorf("asked again: %q", v.asked)
	}
	// No more than four are kept; the first is what the cluster runs.
	c.observe()
	c.wants(cvo.WriteStatus{Status: cvo.Status{Desired: releaseA}}, "update ClusterVersion/status")
	c.observe()
	try("registry.example/release@sha256:fifth", 0, true)
	var images []string
	for _, r := range c.observe().Retrieved {
		images = append(images, strings.TrimPrefix(r.Image, "registry.example/release"))
	}
	if want := []string{":tagged", "@" + digestA, "@sha256:fifth", "@sha256:none"}; !slices.Equal(images, want) {
		t.Errorf("kept %q", images)
	}
}

func TestRetrieveWithoutMeans(t *testing.T) {
	b, err := clusterversion.New(newCluster(t, clusterversion.Options{}, clusterVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for try, want := range []string{"there is no verifier; set Options.Verifier", "there is no source of releases; set Options.Source"} {
		if err := b.Apply(t.Context(), "version", cvo.Retrieve{Release: releaseA, Try: try, Force: try == 1}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			w, err := b.Observe(t.Context(), "version")
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%+v, %v", w, err)
			}
			if len(w.Retrieved) == 1 {
				if r := w.Retrieved[0]; !strings.Contains(r.VerifyError+r.Error, want) {
					t.Errorf("%+v, want %q", r, want)
				}
				break
			}
		}
	}
}
