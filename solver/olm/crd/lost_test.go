package crd_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/crd"
)

// one is a World with one object.
type one string

func (o one) Objects(string, string) ([]crd.Object, error) {
	return []crd.Object{{Namespace: "a", Name: "b", Data: json.RawMessage(o)}}, nil
}

// A field that the API server would drop is reported by its path, unless it was dropped
// before as well.
func TestNoLoss(t *testing.T) {
	const wide = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"},"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}}}}}}`
	const narrow = `{"type":"object","properties":{"spec":{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}}}`
	const object = `{"apiVersion":"birds.com/v1","kind":"Eagle","metadata":{"name":"b"},"spec":`
	for _, c := range []struct{ name, old, new, object, want string }{
		{"it goes", wide, narrow, object + `{"a":1}}`, "spec.a"},
		{"in a list", wide, narrow, object + `{"list":[{"x":1},{"x":1,"y":2}]}}`, "spec.list[1].y"},
		{"nobody has it", wide, narrow, object + `{"list":[{"x":1}]}}`, ""},
		{"dropped before", narrow, narrow, object + `{"a":1}}`, ""},
		{"dropped before, and one that goes", wide, narrow, object + `{"A":1,"a":1}}`, "spec.a"},
		{"any boolean", wide, `{"type":"object","properties":{"spec":{"type":"object","additionalProperties":true}}}`, object + `{"a":{"b":1}}}`, ""},
		{"a new one", narrow, wide, object + `{"a":1}}`, ""},
		{"all was kept", `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, narrow, object + `{"z":1}}`, "spec.z"},
		{"all is kept", wide, `{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, object + `{"a":1}}`, ""},
		{"by any name", wide, `{"type":"object","properties":{"spec":{"type":"object","additionalProperties":{"type":"integer"}}}}`, object + `{"a":1}}`, ""},
		{"a resource within", `{"type":"object","properties":{"pod":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`,
			`{"type":"object","properties":{"pod":{"type":"object","x-kubernetes-embedded-resource":true}}}`, `{"pod":{"kind":"Pod","spec":{}}}`, "pod.spec"},
	} {
		v := crd.Replace(definition("v1!", c.old), definition("v1!", c.new), 1, one(c.object), crd.Structural{}, &crd.Options{NoLoss: true})
		want := ""
		if c.want != "" {
			want = "CRD eagles.birds.com: the new version v1 drops the field " + c.want + ", which a/b has; keep the field, or remove it from the object first"
		}
		if v.String() != want {
			t.Errorf("%s: got %q, want %q", c.name, v, want)
		}
		if v := crd.Replace(definition("v1!", c.old), definition("v1!", c.new), 1, one(c.object), crd.Structural{}, nil); !v.Allowed() {
			t.Errorf("%s: without NoLoss: %s", c.name, v)
		}
	}
	was, is := definition("v1!", narrow), definition("v1!", narrow)
	was.Spec.Scope, is.Spec.Scope = "Namespaced", "Cluster"
	v := crd.Replace(was, is, 1, one(`{}`), crd.Structural{}, &crd.Options{NoLoss: true})
	if len(v.Problems) != 1 || v.Problems[0].Rule != crd.ScopeChanged {
		t.Errorf("another scope: %q", v)
	}
}
