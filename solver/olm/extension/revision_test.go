package extension_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// TestPhases puts objects into phases: by what needs what, and in one phase by
// group, kind, namespace and name, whatever the order was.
func TestPhases(t *testing.T) {
	var objects []extension.Object
	add := func(group, kind, namespace, name string) {
		objects = append(objects, extension.Object{Ref: extension.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Manifest: json.RawMessage(fmt.Sprintf(`"%s %s/%s"`, kind, namespace, name))})
	}
	add("", "Namespace", "", "n")
	add("policy", "PodDisruptionBudget", "n", "b")
	add("", "ServiceAccount", "n", "s")
	add("", "ConfigMap", "n", "c")
	add("", "PersistentVolumeClaim", "n", "v")
	add("apiextensions.k8s.io", "CustomResourceDefinition", "", "d")
	add("rbac.authorization.k8s.io", "ClusterRole", "", "r")
	add("rbac.authorization.k8s.io", "RoleBinding", "n", "r")
	add("", "Service", "n", "s")
	add("apps", "Deployment", "m", "z")
	add("apps", "Deployment", "n", "a")
	add("apps", "Deployment", "n", "b")
	add("example.com", "Anything", "n", "x")
	add("autoscaling.k8s.io", "VerticalPodAutoscaler", "n", "s")
	add("monitoring.coreos.com", "ServiceMonitor", "n", "m")
	add("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "w")
	const want = `namespaces: "Namespace /n"
policies: "PodDisruptionBudget n/b"
identity: "ServiceAccount n/s"
configuration: "ConfigMap n/c"
storage: "PersistentVolumeClaim n/v"
crds: "CustomResourceDefinition /d"
roles: "ClusterRole /r"
bindings: "RoleBinding n/r"
infrastructure: "Service n/s"
deploy: "Deployment m/z" "Deployment n/a" "Deployment n/b" "Anything n/x"
scaling: "VerticalPodAutoscaler n/s"
publish: "ServiceMonitor n/m"
admission: "ValidatingWebhookConfiguration /w"
`
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		var b strings.Builder
		for _, p := range extension.Phases(objects) {
			b.WriteString(p.Name + ":")
			for _, o := range p.Objects {
				b.WriteString(" " + string(o.Object))
			}
			b.WriteByte('\n')
		}
		if b.String() != want {
			t.Fatalf("got\n%s\nwant\n%s", &b, want)
		}
	}
	if got := extension.Phases(nil); got != nil {
		t.Errorf("without objects there is %v", got)
	}
}

// TestProbe says of objects whether they are ready.
func TestProbe(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{`{"kind":"ConfigMap","apiVersion":"v1"}`, "true "},
		{`{"kind":"Deployment","apiVersion":"apps/v1","status":{"replicas":2,"updatedReplicas":1}}`, "false 1 of 2 replicas are updated"},
		{`{"kind":"Deployment","apiVersion":"apps/v1","status":{"replicas":2,"updatedReplicas":2}}`, "false condition Available is not reported"},
		{`{"kind":"Deployment","apiVersion":"apps/v1","status":{"conditions":[{"type":"Available","status":"False","message":"no pods"}]}}`, "false condition Available is False: no pods"},
		{`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Available","status":"True"}]}}`, "false its status is of generation 2, but its spec is of generation 3"},
		{`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"generation":3},"status":{"observedGeneration":3,"conditions":[{"type":"Available","status":"True"}]}}`, "true "},
		{`{"kind":"StatefulSet","apiVersion":"apps/v1","status":{"conditions":[{"type":"Available","status":"True"}]}}`, "true "},
		{`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1"}`, "false condition Established is not reported"},
		{`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","status":{"conditions":[{"type":"Established","status":"True"}]}}`, "true "},
		{`{"kind":"Certificate","apiVersion":"cert-manager.io/v1","status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, "false condition Ready is Unknown"},
		{`{"kind":"Namespace","apiVersion":"v1","status":{"phase":"Terminating"}}`, `false its phase is "Terminating", not Active`},
		{`{"kind":"PersistentVolumeClaim","apiVersion":"v1","status":{"phase":"Bound"}}`, "true "},
		{`3`, "false json: cannot unmarshal number into Go value of type struct { APIVersion string \"json:\\\"apiVersion\\\"\"; Kind string \"json:\\\"kind\\\"\"; Metadata fairlead.ObjectMeta \"json:\\\"metadata\\\"\" }"},
	} {
		ready, detail := extension.Probe(json.RawMessage(c.object))
		if got := fmt.Sprint(ready, " ", detail); got != c.want {
			t.Errorf("%s: got %s, want %s", c.object, got, c.want)
		}
	}
}

// TestCurrent: what is installed is the newest that has succeeded and is active.
func TestCurrent(t *testing.T) {
	revision := func(n int64, succeeded bool, l extension.Lifecycle) extension.Revision {
		r := extension.Revision{Spec: extension.RevisionSpec{Revision: n, Lifecycle: l}}
		if succeeded {
			r.Status.Conditions = []fairlead.Condition{{Type: extension.TypeSucceeded, Status: fairlead.ConditionTrue}}
		}
		return r
	}
	for _, c := range []struct {
		list []extension.Revision
		want string
	}{
		{nil, "0 []"},
		{[]extension.Revision{revision(1, false, "")}, "0 [1]"},
		{[]extension.Revision{revision(2, false, "Active"), revision(1, true, "")}, "1 [2]"},
		{[]extension.Revision{revision(3, true, ""), revision(2, false, ""), revision(1, true, "")}, "3 []"},
		{[]extension.Revision{revision(10, false, ""), revision(9, false, ""), revision(2, true, "Archived"), revision(1, true, "")}, "1 [9 10]"},
	} {
		installed, rolling := extension.Current(c.list)
		is, numbers := int64(0), []int64{}
		if installed != nil {
			is = installed.Spec.Revision
		}
		for _, r := range rolling {
			numbers = append(numbers, r.Spec.Revision)
		}
		if got := fmt.Sprint(is, numbers); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestDigest: a revision is the same as another if its objects are, in the same
// phases and order, however they are written.
func TestDigest(t *testing.T) {
	of := func(phase string, objects ...string) string {
		r := extension.Revision{Spec: extension.RevisionSpec{Phases: []extension.Phase{{Name: phase}}}}
		for _, o := range objects {
			r.Spec.Phases[0].Objects = append(r.Spec.Phases[0].Objects, extension.PhaseObject{Object: json.RawMessage(o)})
		}
		return extension.DigestOf(&r)
	}
	one := of("deploy", `{"a":1,"b":[10000000000000000001]}`, `{}`)
	for _, same := range []string{of("deploy", `{ "b":[10000000000000000001], "a":1}`, `{ }`)} {
		if same != one {
			t.Error("another way to write it is another digest")
		}
	}
	for i, other := range []string{
		of("crds", `{"a":1,"b":[10000000000000000001]}`, `{}`), of("deploy", `{}`, `{"a":1,"b":[10000000000000000001]}`),
		of("deploy", `{"a":1,"b":[10000000000000000000]}`, `{}`), of("deploy", `{"a":1,"b":[10000000000000000001]}`), of("deploy"),
	} {
		if other == one {
			t.Errorf("%d has the same digest", i)
		}
	}
}

// world is an extension with a revision that is installed.
func world(installed string) *extension.World {
	x := asks("")
	x.UID, x.Finalizers = "u", []string{extension.Finalizer}
	w := &extension.World{Extension: &x, Answer: &extension.Answer{Catalogs: 1, Refusal: "no"}}
	if installed != "" {
		r := extension.Revision{Spec: extension.RevisionSpec{Revision: 1}}
		r.Name, r.Annotations = "a-1", map[string]string{extension.BundleAnnotation: installed, extension.VersionAnnotation: "1.0.0"}
		r.Status.Conditions = []fairlead.Condition{{Type: extension.TypeSucceeded, Status: fairlead.ConditionTrue}}
		w.Revisions = []extension.Revision{r}
	}
	return w
}

// told is the status that a Step writes.
func told(t *testing.T, w *extension.World) extension.Status {
	t.Helper()
	for _, a := range extension.Step(extension.State{}, w, noon, nil).Actions {
		if a, ok := a.(extension.UpdateStatus); ok {
			return a.Status
		}
	}
	t.Fatal("no status is written")
	return extension.Status{}
}

// TestDeprecated: the four conditions, by what is known, asked for and installed.
func TestDeprecated(t *testing.T) {
	all := []catalog.Deprecation{
		{Reference: catalog.Reference{Schema: catalog.SchemaPackage}, Message: "P"},
		{Reference: catalog.Reference{Schema: catalog.SchemaChannel, Name: "old"}, Message: "C"},
		{Reference: catalog.Reference{Schema: catalog.SchemaBundle, Name: "a.v1"}, Message: "B"},
	}
	for _, c := range []struct {
		known     bool
		list      []catalog.Deprecation
		channels  []string
		installed string
		want      string
	}{
		{false, nil, nil, "", "Unknown Unknown Unknown Unknown/Absent"},
		{false, all, nil, "a.v1", "Unknown Unknown Unknown Unknown"},
		{true, nil, nil, "", "False False False Unknown/Absent"},
		{true, nil, nil, "a.v1", "False False False False"},
		{true, all, nil, "", "True:P\nC True:P True:C Unknown/Absent"},
		{true, all, []string{"new"}, "", "True:P True:P False Unknown/Absent"},
		{true, all[1:2], []string{"new"}, "a.v1", "False False False False"},
		{true, all[1:], []string{"new", "old"}, "a.v1", "True:C\nB False True:C True:B"},
		{true, all, []string{"old"}, "a.v1", "True:P\nC\nB True:P True:C True:B"},
		{true, all[2:], nil, "a.v2", "False False False False"},
	} {
		w := world(c.installed)
		w.Answer.Known, w.Answer.Deprecations = c.known, c.list
		w.Extension.Spec.Source.Catalog.Channels = c.channels
		var got []string
		for _, kind := range []string{extension.TypeDeprecated, extension.TypePackageDeprecated, extension.TypeChannelDeprecated, extension.TypeBundleDeprecated} {
			is := fairlead.FindCondition(told(t, w).Conditions, kind)
			text := string(is.Status)
			switch {
			case is.Reason == "Absent":
				text += "/Absent"
			case is.Status == fairlead.ConditionTrue:
				text += ":" + is.Message
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: got %q, want %q", c, text, c.want)
		}
	}
}

// TestLongMessage: no message is longer than the API takes.
func TestLongMessage(t *testing.T) {
	for _, n := range []int{0, 32765, 32766, 100_000} {
		w := world("")
		w.Answer.Refusal = strings.Repeat("x", n)
		c := fairlead.FindCondition(told(t, w).Conditions, extension.TypeProgressing)
		want := n
		if n > 32765 {
			want = 32768 // with three dots
		}
		if len(c.Message) != want {
			t.Errorf("of %d bytes there are %d, want %d", n, len(c.Message), want)
		}
	}
}

// TestCreateAgain: a revision that cannot be made is tried again after a while, under
// the number that it has; another one gets the next.
func TestCreateAgain(t *testing.T) {
	w := world("")
	choose := func(bundle string) {
		w.Answer = &extension.Answer{Catalogs: 1, Choice: &extension.Choice{BundleName: extension.BundleName{Name: bundle}}}
		w.Contents = []extension.Content{{Bundle: bundle, Manifests: contents()[bundle]}}
	}
	choose("a.v1")
	var state extension.State
	step := func(now time.Time) string {
		d := extension.Step(state, w, now, nil)
		state = d.State
		for _, a := range d.Actions {
			if a, ok := a.(extension.CreateRevision); ok {
				return a.Revision.Name
			}
		}
		return ""
	}
	var got []string
	for _, wait := range []time.Duration{0, 0, time.Second, time.Second, 2 * time.Second} {
		got = append(got, step(noon.Add(wait)))
	}
	choose("a.v2")
	got = append(got, step(noon.Add(3*time.Second)), step(noon.Add(3*time.Second)), step(noon.Add(5*time.Second)))
	if text := fmt.Sprintf("%q", got); text != `["a-1" "" "a-1" "" "" "a-2" "" "a-2"]` {
		t.Errorf("got %s", text)
	}
}

// TestStateOfAnother: what is remembered counts for the extension that it is about. Its
// next revision has the next number although the last is not observed; another extension
// of the same name begins with 1.
func TestStateOfAnother(t *testing.T) {
	w := world("")
	w.Answer = &extension.Answer{Catalogs: 1, Choice: &extension.Choice{BundleName: extension.BundleName{Name: "a.v1"}}}
	w.Contents = []extension.Content{{Bundle: "a.v1", Manifests: contents()["a.v1"]}}
	for uid, want := range map[string]string{w.Extension.UID: "a-8", "former": "a-1"} {
		d := extension.Step(extension.State{UID: uid, Revision: 7}, w, noon, nil)
		got := ""
		for _, a := range d.Actions {
			if a, ok := a.(extension.CreateRevision); ok {
				got = a.Revision.Name
			}
		}
		if got != want || d.State.UID != w.Extension.UID {
			t.Errorf("state of %q: revision %q of %q, want %q", uid, got, d.State.UID, want)
		}
	}
}

// TestUnpackOnce: content is unpacked to make a revision of it. Once there is one for the
// same bundle, reference and spec, it is not unpacked again, although it is gone.
func TestUnpackOnce(t *testing.T) {
	p := newPassage(t)
	p.PutExtension(asks(""))
	p.until("installed", p.has("a.v1"))
	for name, c := range map[string]struct {
		change func(*extension.World)
		asks   bool
	}{
		"nothing has changed": {func(*extension.World) {}, false},
		"the spec":            {func(w *extension.World) { w.Extension.Generation++ }, true},
		"the bundle":          {func(w *extension.World) { w.Answer.Choice.Name = "a.v2" }, true},
		"the reference":       {func(w *extension.World) { w.Answer.Choice.Reference += "2" }, true},
	} {
		w, err := extension.Look(t.Context(), p.MemBackend, p.resolve, "a")
		if err != nil {
			t.Fatal(err)
		}
		x, answer, choice := *w.Extension, *w.Answer, *w.Answer.Choice
		answer.Choice, w.Extension, w.Answer, w.Contents = &choice, &x, &answer, nil
		c.change(w)
		d := extension.Step(extension.State{UID: x.UID}, w, p.clock.Now(), nil)
		unpacks := slices.ContainsFunc(d.Actions, func(a extension.Action) bool { _, is := a.(extension.Unpack); return is })
		if unpacks != c.asks {
			t.Errorf("%s: %v", name, d.Actions)
		}
	}
}
