package source_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver/olm/source"
)

// documented is the example in the documentation.
const documented = `{
	"metadata": {"name": "example-catalog", "namespace": "openshift-marketplace", "generation": 1, "creationTimestamp": "2021-08-26T16:16:37Z",
		"annotations": {"olm.catalogImageTemplate": "quay.io/example-org/example-catalog:v{kube_major_version}.{kube_minor_version}.{kube_patch_version}"}},
	"spec": {"displayName": "Example Catalog", "image": "quay.io/example-org/example-catalog:v1", "priority": -400, "publisher": "Example Org",
		"sourceType": "grpc",
		"grpcPodConfig": {"securityContextConfig": "restricted", "nodeSelector": {"custom_label": "x"}, "priorityClassName": "system-node-critical",
			"tolerations": [{"key": "key1", "operator": "Equal", "value": "value1", "effect": "NoSchedule"}]},
		"updateStrategy": {"registryPoll": {"interval": "30m0s"}}},
	"status": {"connectionState": {"address": "example-catalog.openshift-marketplace.svc:50051", "lastConnect": "2021-08-26T18:14:31Z", "lastObservedState": "READY"},
		"latestImageRegistryPoll": "2021-08-26T18:46:25Z"}}`

func read(t *testing.T, text string) *source.CatalogSource {
	t.Helper()
	c := &source.CatalogSource{}
	if err := json.Unmarshal([]byte(text), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func at(text string) time.Time {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return instant
}

func TestDocumented(t *testing.T) {
	c := read(t, documented)
	if err := c.Err(); err != nil || !c.Health().Healthy || c.Spec.Priority != -400 || c.Key().String() != "openshift-marketplace/example-catalog" {
		t.Errorf("%v, %+v", err, c)
	}
	if image, reason, err := c.Image("v1.32.5+abc"); image != "quay.io/example-org/example-catalog:v1.32.5" || reason != source.ImageFromTemplate || err != nil {
		t.Errorf("%s, %s, %v", image, reason, err)
	}
	p, ok := c.Placement()
	want := source.Placement{
		NodeSelector: map[string]string{"custom_label": "x"}, PriorityClassName: "system-node-critical", Security: source.SecurityRestricted,
		Tolerations: []source.Toleration{{Key: "key1", Operator: "Equal", Value: "value1", Effect: "NoSchedule"}},
	}
	if !ok || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v", p)
	}
}

func TestImage(t *testing.T) {
	for _, c := range []struct{ template, image, version, want, reason, problem string }{
		{"-", "a/b:v1", "1.32", "a/b:v1", "Stated", ""},
		{"quay.io/a/b:v{kube_major_version}.{kube_minor_version}", "", "v1.32.5", "quay.io/a/b:v1.32", "FromTemplate", ""},
		{"quay.io/a/b:v{kube_major_version}.{kube_minor_version}", "a/b:v1", "1.33.0", "quay.io/a/b:v1.33", "FromTemplate", ""},
		{"quay.io/a/b:latest", "a/b:v1", "?", "quay.io/a/b:latest", "FromTemplate", ""},
		{"quay.io/a/b:v{kube_minor_version}", "a/b:v1", "unknown", "a/b:v1", "Fallback", ""},
		{"quay.io/a/b:v{kube_minor_version}", "", "unknown", "", "", `{kube_minor_version} is not known, since the cluster's version is "unknown"`},
		{"quay.io/a/b:v{ocp_version}", "a/b:v1", "1.32", "a/b:v1", "Fallback", ""},
		{"quay.io/a/b:v{ocp_version}", "", "1.32", "", "", "there is no variable {ocp_version}"},
		{"quay.io/a/b:v{kube_minor", "", "1.32", "", "", "is not the name of an image"},
		{"", "", "1.32", "", "", `"" is not the name of an image`},
		{"", "a/b:v1", "1.32", "a/b:v1", "Fallback", ""},
		{"quay.io:443/a/b@sha256:0123456789abcdef0123456789abcdef", "", "1", "quay.io:443/a/b@sha256:0123456789abcdef0123456789abcdef", "FromTemplate", ""},
		{"quay.io/a b", "", "1", "", "", "is not the name"},
	} {
		made := &source.CatalogSource{Spec: source.Spec{SourceType: source.TypeGRPC, Image: c.image}}
		if c.template != "-" {
			made.Annotations = map[string]string{source.ImageTemplateAnnotation: c.template}
		}
		got, reason, err := made.Image(c.version)
		var bad *source.ImageError
		if got != c.want || string(reason) != c.reason || errors.As(err, &bad) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q on %s: %q, %s, %v", c.template, c.version, got, reason, err)
		}
	}
}

func TestPoll(t *testing.T) {
	for _, c := range []struct {
		name, interval, last, now string
		due                       bool
		next, problem             string
	}{
		{"soon", "30m0s", "2026-01-01T10:00:00Z", "2026-01-01T10:29:59Z", false, "2026-01-01T10:30:00Z", ""},
		{"now", "30m0s", "2026-01-01T10:00:00Z", "2026-01-01T10:30:00Z", true, "", ""},
		{"late", "30m0s", "2026-01-01T10:00:00Z", "2026-01-02T10:30:00Z", true, "", ""},
		{"never asked", "30m", "", "2026-01-01T09:29:00Z", false, "2026-01-01T09:30:00Z", ""},
		{"never asked, due", "30m", "", "2026-01-01T09:30:00Z", true, "", ""},
		{"no duration", "often", "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", false, "2026-01-01T10:15:00Z", `"often" is not a duration`},
		{"backwards", "-5m", "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", false, "2026-01-01T10:15:00Z", "is not positive"},
		{"none", "", "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", false, "", ""},
	} {
		made := &source.CatalogSource{Spec: source.Spec{SourceType: source.TypeGRPC, Image: "a/b:v1",
			UpdateStrategy: &source.UpdateStrategy{RegistryPoll: &source.RegistryPoll{Interval: c.interval}}}}
		made.CreationTimestamp = at("2026-01-01T09:00:00Z")
		if c.last != "" {
			made.Status.LatestImageRegistryPoll = at(c.last)
		}
		p := made.Poll(at(c.now))
		next := ""
		if !p.Next.IsZero() {
			next = p.Next.Format(time.RFC3339)
		}
		if p.Due != c.due || next != c.next || !strings.Contains(p.Problem, c.problem) || (p.Problem == "") != (c.problem == "") {
			t.Errorf("%s: %+v", c.name, p)
		}
		made.Spec.Image = ""
		if p := made.Poll(at(c.now)); p != (source.Poll{}) {
			t.Errorf("%s, without an image: %+v", c.name, p)
		}
	}
	if p := (&source.CatalogSource{Spec: source.Spec{SourceType: source.TypeGRPC, Image: "a/b:v1"}}).Poll(at("2026-01-01T10:00:00Z")); p != (source.Poll{}) {
		t.Errorf("without a strategy: %+v", p)
	}
}

func TestPlacement(t *testing.T) {
	plain := source.Placement{NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
		PriorityClassName: "system-cluster-critical", Security: source.SecurityLegacy}
	with := func(change func(*source.Placement)) source.Placement {
		p := plain
		change(&p)
		return p
	}
	for _, c := range []struct {
		name, text string
		want       source.Placement
		ok         bool
	}{
		{"defaults", `{"spec":{"sourceType":"grpc","image":"a/b"}}`, plain, true},
		{"a template is an image", `{"metadata":{"annotations":{"olm.catalogImageTemplate":"a/b"}},"spec":{"sourceType":"grpc"}}`, plain, true},
		{"an address needs no pod", `{"spec":{"sourceType":"grpc","address":"a:1"}}`, source.Placement{}, false},
		{"a config map", `{"spec":{"sourceType":"configmap","configMap":"a","image":"x"}}`, source.Placement{}, false},
		{"no class", `{"spec":{"sourceType":"grpc","image":"a/b","grpcPodConfig":{"priorityClassName":""}}}`, with(func(p *source.Placement) { p.PriorityClassName = "" }), true},
		{"the annotation goes first", `{"metadata":{"annotations":{"operatorframework.io/priorityclass":"mine"}},"spec":{"sourceType":"grpc","image":"a/b","grpcPodConfig":{"priorityClassName":"spec"}}}`, with(func(p *source.Placement) { p.PriorityClassName = "mine" }), true},
		{"nothing of the selector stays", `{"spec":{"sourceType":"grpc","image":"a/b","grpcPodConfig":{"nodeSelector":{"a":"b"}}}}`, with(func(p *source.Placement) { p.NodeSelector = map[string]string{"a": "b"} }), true},
	} {
		got, ok := read(t, c.text).Placement()
		if ok != c.ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	managed := read(t, `{"metadata":{"annotations":{"operatorframework.io/managed-by":"marketplace-operator"}},"spec":{"sourceType":"grpc","image":"a/b","grpcPodConfig":{}}}`)
	if p, _ := managed.Placement(); !strings.Contains(p.Warning, "disable the default catalog") {
		t.Errorf("%+v", p)
	}
}

func TestErr(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no image", `{"metadata":{"name":"a","namespace":"b"},"spec":{"sourceType":"grpc"}}`, "catalog source b/a: type grpc needs an image or an address"},
		{"no config map", `{"spec":{"sourceType":"internal"}}`, "type internal needs a config map"},
		{"no type", `{"spec":{}}`, `there is no type ""`},
		{"no mode", `{"spec":{"sourceType":"grpc","image":"a","grpcPodConfig":{"securityContextConfig":"loose"}}}`, `no security mode "loose"`},
		{"not tried", `{"spec":{"sourceType":"configmap","configMap":"a"}}`, "no connection was tried yet"},
		{"failing", `{"spec":{"sourceType":"grpc","address":"a:1"},"status":{"connectionState":{"address":"a:1","lastObservedState":"TRANSIENT_FAILURE","lastConnect":"2026-01-01T10:00:00Z"}}}`,
			"the connection to a:1 is TRANSIENT_FAILURE since 2026-01-01T10:00:00Z"},
		{"connecting", `{"spec":{"sourceType":"grpc","address":"a:1"},"status":{"connectionState":{"lastObservedState":"CONNECTING"}}}`, "is CONNECTING"},
		{"ready", `{"spec":{"sourceType":"grpc","address":"a:1"},"status":{"connectionState":{"lastObservedState":"READY"}}}`, ""},
	} {
		made := read(t, c.text)
		err := made.Err()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || made.Health().Healthy != (err == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestConnect(t *testing.T) {
	var s source.Status
	first, second := at("2026-01-01T10:00:00Z"), at("2026-01-01T11:00:00Z")
	s.ConnectionState = s.Connect("a:1", source.StateConnecting, first)
	if again := s.Connect("a:1", source.StateConnecting, second); !again.LastConnect.Equal(first) {
		t.Errorf("looking changes the instant: %+v", again)
	}
	if ready := s.Connect("a:1", source.StateReady, second); !ready.LastConnect.Equal(second) || ready.LastObservedState != source.StateReady {
		t.Errorf("%+v", ready)
	}
	if moved := s.Connect("b:1", source.StateConnecting, second); !moved.LastConnect.Equal(second) {
		t.Errorf("%+v", moved)
	}
}
