package crd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/crd"
)

// definition parses "v1 v1beta1! v1alpha1-": "!" marks a stored version, "-" one
// that is not served. Each version has the schema.
func definition(versions, schema string) *crd.Definition {
	d := &crd.Definition{ObjectMeta: crd.ObjectMeta{Name: "eagles.birds.com"}}
	for _, word := range strings.Fields(versions) {
		name := strings.Trim(word, "!-")
		v := crd.Version{Name: name, Served: !strings.Contains(word, "-")}
		if schema != "" {
			v.Schema = &crd.Validation{OpenAPIV3Schema: json.RawMessage(schema)}
		}
		if strings.Contains(word, "!") {
			d.Status.StoredVersions = append(d.Status.StoredVersions, name)
		}
		d.Spec.Versions = append(d.Spec.Versions, v)
	}
	return d
}

// nests is a World with two objects in every version except v0.
type nests struct{ asked []string }

func (w *nests) Objects(definition, version string) ([]crd.Object, error) {
	w.asked = append(w.asked, version)
	if version == "v0" {
		return nil, errors.New("timeout")
	}
	return []crd.Object{{Namespace: "a", Name: "big", Data: json.RawMessage(`{"eggs":9}`)}, {Name: "small", Data: json.RawMessage(`{"eggs":1}`)}}, nil
}

// atMost accepts objects with no more eggs than the schema's max.
type atMost struct{}

func (atMost) Validate(data, schema json.RawMessage) error {
	var o struct{ Eggs, Max int }
	if err := errors.Join(json.Unmarshal(data, &o), json.Unmarshal(schema, &o)); err != nil {
		return err
	}
	if o.Eggs > o.Max {
		return fmt.Errorf("eggs: %d are more than %d", o.Eggs, o.Max)
	}
	return nil
}

func TestReplace(t *testing.T) {
	const loose, tight = `{"max":9}`, `{"max":5}`
	for _, c := range []struct {
		name     string
		old, new *crd.Definition
		owners   int
		opts     *crd.Options
		webhook  bool
		want     string // rules with version and object
		warnings int
		asked    string // versions whose objects were read
	}{
		{name: "new", new: definition("v1!", tight), owners: 2},
		{name: "the same", old: definition("v1!", ""), new: definition("v1", loose), owners: 2, asked: "v1"},
		{name: "no schema", old: definition("v1!", ""), new: definition("v1", ""), owners: 2},
		{name: "stored goes", old: definition("v1! v2!", ""), new: definition("v2", ""), owners: 1, want: "StoredVersionRemoved v1"},
		{name: "stored is not served", old: definition("v1! v2!", ""), new: definition("v1- v2", ""), owners: 1},
		{name: "served goes, one owner", old: definition("v1 v2!", ""), new: definition("v2", ""), owners: 1},
		{name: "served goes, two owners", old: definition("v1 v2!", ""), new: definition("v2", ""), owners: 2, want: "ServedVersionRemoved v1"},
		{name: "served no longer, two owners", old: definition("v1 v2!", ""), new: definition("v1- v2", ""), owners: 2, want: "ServedVersionRemoved v1"},
		{name: "was not served", old: definition("v1- v2!", ""), new: definition("v2", ""), owners: 2},
		{name: "too strict, two owners", old: definition("v1!", ""), new: definition("v1", tight), owners: 2, want: "ObjectInvalid v1 a/big", asked: "v1"},
		{name: "too strict, one owner", old: definition("v1!", ""), new: definition("v1", tight), owners: 1, want: "ObjectInvalid v1 a/big", asked: "v1"},
		{name: "too strict, one owner, trusted", old: definition("v1!", ""), new: definition("v1", tight), owners: 1, opts: &crd.Options{TrustSoleOwner: true}},
		{name: "trust is for one", old: definition("v1!", ""), new: definition("v1", tight), owners: 2, opts: &crd.Options{TrustSoleOwner: true}, want: "ObjectInvalid v1 a/big", asked: "v1"},
		{name: "stored goes, trusted", old: definition("v1!", ""), new: definition("v2", ""), owners: 1, opts: &crd.Options{TrustSoleOwner: true}, want: "StoredVersionRemoved v1"},
		{name: "webhook", old: definition("v1!", ""), new: definition("v1", tight), owners: 2, webhook: true, warnings: 1, asked: "v1"},
		{name: "only what is served twice", old: definition("v1- v2! v3 v4", ""), new: definition("v1 v2 v3- v5", tight), owners: 1, want: "ObjectInvalid v2 a/big", asked: "v2"},
		{name: "without a schema, and one with", old: definition("v1! v2", ""), new: func() *crd.Definition {
			d := definition("v1 v2", tight)
			d.Spec.Versions[0].Schema = nil
			return d
		}(), owners: 1, want: "ObjectInvalid v2 a/big", asked: "v2"},
		{name: "no answer", old: definition("v0!", ""), new: definition("v0", loose), owners: 1, want: "ObjectsUnknown v0", asked: "v0"},
		{name: "no answer with webhook", old: definition("v0!", ""), new: definition("v0", loose), owners: 1, webhook: true, want: "ObjectsUnknown v0", asked: "v0"},
	} {
		if c.webhook {
			c.new.Spec.Conversion = &crd.Conversion{Strategy: "Webhook"}
		}
		w := &nests{}
		got := crd.Replace(c.old, c.new, c.owners, w, atMost{}, c.opts)
		var rules []string
		for _, p := range got.Problems {
			rules = append(rules, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Rule, p.Version, p.Object)))
			if !strings.HasPrefix(p.Text, "CRD eagles.birds.com: ") {
				t.Errorf("%s: %s", c.name, p.Text)
			}
		}
		if strings.Join(rules, ", ") != c.want || len(got.Warnings) != c.warnings || strings.Join(w.asked, " ") != c.asked || got.Allowed() != (c.want == "") {
			t.Errorf("%s: %q, %d warnings, asked for %q", c.name, rules, len(got.Warnings), w.asked)
		}
	}
}

// The old form of a definition has one version.
func TestReplaceV1beta1(t *testing.T) {
	var old crd.Definition
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"eagles.birds.com"},
		"spec":{"version":"v1","validation":{"openAPIV3Schema":{"max":9}}},"status":{"storedVersions":["v1"]}}`), &old); err != nil {
		t.Fatal(err)
	}
	w := &nests{}
	if v := crd.Replace(&old, definition("v1", `{"max":1}`), 2, w, atMost{}, nil); v.Allowed() || len(w.asked) != 1 {
		t.Errorf("%v", v)
	}
	if v := crd.Replace(definition("v1!", ""), &old, 2, w, atMost{}, nil); !v.Allowed() {
		t.Errorf("%v", v)
	}
	old.Spec.Versions = definition("v1 v2", "").Spec.Versions // the list is used if there is one
	if v := crd.Replace(&old, definition("v1", ""), 2, w, atMost{}, nil); v.Allowed() || v.Problems[0].Version != "v2" {
		t.Errorf("%v", v)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"the same", `{"type":"object"}`, `{"type":"object"}`, ""},
		{"descriptions", `{"description":"a"}`, `{"description":"b","title":"c"}`, ""},
		{"a new field", `{}`, `{"properties":{"a":{"type":"string"}}}`, ""},
		{"a field goes", `{"properties":{"spec":{"properties":{"a":{},"b":{}}}}}`, `{"properties":{"spec":{"properties":{"b":{}}}}}`, "v1 spec.a: the field is removed"},
		{"a field goes, another changes", `{"properties":{"a":{},"b":{"type":"string"}}}`, `{"properties":{"b":{"type":"integer"}}}`, `v1 a: the field is removed; v1 b: type changes from "string" to "integer"`},
		{"the same bounds", `{"minimum":1,"maximum":9}`, `{"minimum":1,"maximum":9}`, ""},
		{"required", `{"required":["a"]}`, `{"required":["a","b"]}`, "v1 b: is required now"},
		{"required no more", `{"required":["a"]}`, `{}`, ""},
		{"type", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"integer"}}}`, `v1 a: type changes from "string" to "integer"`},
		{"default", `{"default":1}`, `{"default":2}`, "v1: default changes from 1 to 2"},
		{"default comes", `{}`, `{"default":2}`, "v1: default is new: 2"},
		{"default goes", `{"default":{"b":1,"a":2}}`, `{}`, `v1: default goes: {"a":2,"b":1}`},
		{"enum comes", `{}`, `{"enum":["a"]}`, `v1: only some values are allowed now: ["a"]`},
		{"enum goes", `{"enum":["a"]}`, `{}`, ""},
		{"enum shrinks", `{"enum":["a","b"]}`, `{"enum":["b","c"]}`, `v1: value "a" is no longer allowed`},
		{"bounds", `{"minimum":1,"maximum":9,"maxItems":3}`, `{"minimum":2,"maximum":8,"maxItems":4,"minLength":1}`, "v1: minimum is tighter: 2 instead of 1; v1: minLength is new: 1; v1: maximum is tighter: 8 instead of 9"},
		{"looser", `{"minimum":2,"maximum":8}`, `{"minimum":1}`, ""},
		{"items", `{"items":{"type":"string"}}`, `{"items":{"type":"object"}}`, `v1 [*]: type changes from "string" to "object"`},
		{"items come", `{}`, `{"items":{"type":"object"}}`, `v1: items is new: {"type":"object"}`},
		{"further fields", `{"additionalProperties":{"maxLength":9}}`, `{"additionalProperties":{"maxLength":8}}`, "v1 .*: maxLength is tighter: 8 instead of 9"},
		{"further fields forbidden", `{"additionalProperties":true}`, `{"additionalProperties":false}`, "v1: additionalProperties changes from true to false"},
		{"unknown", `{"pattern":"a"}`, `{"pattern":"b","x-kubernetes-int-or-string":true}`, `v1: pattern changes from "a" to "b"; v1: x-kubernetes-int-or-string is new: true`},
		{"no schema before", ``, `{"type":"object"}`, `v1: type is new: "object"`},
	} {
		got, err := crd.Compare(definition("v1 v2", c.old), definition("v1", c.new))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var texts []string
		for _, change := range got {
			texts = append(texts, change.String())
		}
		if strings.Join(texts, "; ") != c.want {
			t.Errorf("%s: %q", c.name, texts)
		}
	}
}

func TestCompareDefinitions(t *testing.T) {
	old, new := definition("v1! v2!", ""), definition("v2", "")
	old.Spec.Scope, new.Spec.Scope = "Namespaced", "Cluster"
	got, err := crd.Compare(old, new)
	if err != nil || fmt.Sprint(got) != "[scope changes from Namespaced to Cluster v1: the stored version is removed]" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := crd.Compare(definition("v1 v2!", `{"type":"object"}`), definition("v2", `{"type":"string"}`)); err != nil || len(got) != 1 || got[0].Version != "v2" {
		t.Errorf("a version that is gone is followed by one that changes: %v, %v", got, err)
	}
	if _, err := crd.Compare(definition("v1", `[]`), definition("v1", ``)); err == nil {
		t.Error("a list is no schema")
	}
	if _, err := crd.Compare(definition("v1", ``), definition("v1", `7`)); err == nil || !strings.Contains(err.Error(), "new CRD") {
		t.Errorf("%v", err)
	}
}
