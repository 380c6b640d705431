package lifecycle_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/lifecycle"
)

// Documents of both reference formats survive being read and written, with all
// that the engine does not know.
func TestDocumentIsLossless(t *testing.T) {
	for name, text := range map[string]string{
		"machine api": `{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"name":"m","annotations":{"a":"b"},"finalizers":[],"managedFields":[{"x":1e400}]},
			"spec":{"lifecycleHooks":{"preDrain":[{"name":"EtcdQuorumOperator","owner":"clusteroperator/etcd"}]},"providerSpec":{"value":{"n":12345678901234567890}},"taints":[]},
			"status":{"conditions":[{"type":"Drainable","status":"False","severity":"Warning","reason":"HookPresent","lastTransitionTime":"2026-03-01T12:00:00Z","extra":7}],"providerStatus":{"k":null}}}`,
		"cluster api": `{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","metadata":{"name":"m","annotations":{
			"pre-drain.delete.hook.machine.cluster.x-k8s.io/migrate":"app","pre-drain.delete.hook.machine.cluster.x-k8s.io":"",
			"pre-drain.delete.hook.machine.cluster.x-k8s.iofoo":"odd","pre-terminate.delete.hook.machine.cluster.x-k8s.io/a/b":"x","other":"y"}},
			"spec":{"clusterName":"c","nodeDrainTimeout":"10m0s","bootstrap":{"dataSecretName":null}},"status":{"v1beta2":{"conditions":[]}}}`,
	} {
		d, err := lifecycle.ReadDocument([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hooks := d.Machine.Spec.LifecycleHooks
		got, err := d.JSON()
		if err != nil || !sameJSON(t, got, []byte(text)) {
			t.Errorf("%s: %v, written as %s", name, err, got)
		}
		// Every hook goes, one by one, and comes back: the document is as before.
		d.Machine.Spec.LifecycleHooks = lifecycle.LifecycleHooks{}
		bare, err := d.JSON()
		if err != nil || sameJSON(t, bare, []byte(text)) || strings.Contains(string(bare), "delete.hook") || strings.Contains(string(bare), "EtcdQuorum") {
			t.Errorf("%s: %v, without hooks it is written as %s", name, err, bare)
		}
		d, err = lifecycle.ReadDocument(bare)
		if err != nil {
			t.Fatal(err)
		}
		d.Machine.Spec.LifecycleHooks = hooks
		if again, err := d.JSON(); err != nil || !sameJSON(t, again, []byte(text)) {
			t.Errorf("%s: %v, with its hooks again it is written as %s", name, err, again)
		}
	}
}

// sameJSON compares values; numbers by their digits.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, text := range [2][]byte{a, b} {
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// What is written of a condition shows the change, and keeps what else the
// document says of it.
func TestDocumentConditions(t *testing.T) {
	d, err := lifecycle.ReadDocument([]byte(`{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"name":"m"},
		"status":{"phase":"Running","conditions":[{"type":"Drainable","status":"False","severity":"Warning","reason":"HookPresent","extra":7}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	d.Machine.Status.Phase = lifecycle.PhaseDeleting
	d.Machine.Status.Conditions[0] = lifecycle.Condition{Type: "Drainable", Status: "True"}
	got, err := d.JSON()
	want := `{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"name":"m"},"status":{"phase":"Deleting","conditions":[{"type":"Drainable","status":"True","extra":7}]}}`
	if err != nil || !sameJSON(t, got, []byte(want)) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestReadDocumentRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:               "unexpected end",
		`{"kind":"Node"}`: "kind: it is Node",
		`{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","spec":7}`:                                "spec",
		`{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"deletionTimestamp":"soon"}}`: "soon",
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","spec":{"nodeDrainTimeout":"long"}}`:          "spec.nodeDrainTimeout",
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","spec":{"nodeDeletionTimeout":"1000000h"}}`:   "spec.nodeDeletionTimeout",
	} {
		if _, err := lifecycle.ReadDocument([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Conditions of machines of cluster.x-k8s.io/v1beta2 are those of Kubernetes:
// type, status, a time, a reason and a message, and no severity.
func TestMetaConditions(t *testing.T) {
	const text = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"m"},"spec":{"clusterName":"c"}}`
	d, err := lifecycle.ReadDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	at := start
	d.Machine.Status.Conditions = []lifecycle.Condition{
		{Type: "Drainable", Status: "True", LastTransitionTime: at},
		{Type: "Drained", Status: "True", LastTransitionTime: at, Message: "Drain finished successfully"},
		{Type: "Terminable", Status: "False", Severity: lifecycle.SeverityWarning, Reason: "HookPresent", LastTransitionTime: at, Message: "blocked"},
	}
	out, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Status struct {
			Conditions []map[string]any `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Status.Conditions) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range got.Status.Conditions {
		for _, field := range []string{"type", "status", "lastTransitionTime", "reason", "message"} {
			value, there := c[field]
			if !there || value == "" && field != "message" {
				t.Errorf("%v has no %s", c["type"], field)
			}
		}
		if len(c) != 5 {
			t.Errorf("it has other fields, too: %v", c)
		}
	}
	again, err := lifecycle.ReadDocument(out)
	if err != nil || len(again.Machine.Status.Conditions) != 3 {
		t.Errorf("%v: %v", err, again)
	}
}
