package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/crd"
)

// For each keyword of a structural schema: an object that is valid, one that is
// not, and its error.
func TestStructural(t *testing.T) {
	for _, tt := range []struct{ schema, good, bad, says string }{
		{`{"type":"object"}`, `{}`, `[]`, "the object is of type array, and must be object"},
		{`{"type":"integer"}`, `1e2`, `1.5`, "of type number, and must be integer"},
		{`{"type":"number"}`, `3`, `"3"`, "must be number"},
		{`{"type":"string","nullable":true}`, `null`, `4`, "must be string"},
		{`{"type":"string"}`, `"x"`, `null`, "of type null"},
		{`{"type":"boolean"}`, `true`, `"true"`, "must be boolean"},
		{`{"x-kubernetes-int-or-string":true}`, `"10%"`, `1.5`, "must be integer or string"},
		{`{"enum":["a",2]}`, `2.0`, `"b"`, `is "b", which is not among ["a",2]`},
		{`{"enum":[1,2]}`, `1.00`, `3`, "is 3, which is not among [1,2]"},
		{`{"enum":[1e1000]}`, `1e1000`, `1e1001`, "not among [1e1000]"},
		{`{"required":["a","b"],"properties":{"b":{"default":1}}}`, `{"a":1}`, `{"b":2}`, "a is required"},
		{`{"properties":{"spec":{"properties":{"n":{"maximum":3}}}}}`, `{"spec":{"n":3,"more":9}}`, `{"spec":{"n":4}}`, "spec.n is 4, and the maximum is 3"},
		{`{"additionalProperties":{"type":"string"}}`, `{"x":"y"}`, `{"x":1}`, "x is of type integer"},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1}`, `{"b":1}`, "b is not allowed"},
		{`{"items":{"minLength":2}}`, `["ab"]`, `["ab","c"]`, "[1] has 1 characters, and must have 2 or more"},
		{`{"maxLength":2}`, `"éé"`, `"abc"`, "must have 2 or fewer"},
		{`{"minItems":1,"maxItems":2}`, `[1,2]`, `[]`, "has 0 items"},
		{`{"uniqueItems":true}`, `[1,2]`, `[1,1]`, "[1] is there twice"},
		{`{"minProperties":1}`, `{"a":1}`, `{}`, "has 0 properties"},
		{`{"pattern":"^a+$"}`, `"aa"`, `"b"`, `is "b", which does not match ^a+$`},
		{`{"minimum":1,"exclusiveMinimum":true}`, `1.1`, `1`, "the minimum is 1"},
		{`{"maximum":9007199254740993}`, `9007199254740993`, `9007199254740994`, "the maximum is 9007199254740993"},
		{`{"multipleOf":0.1}`, `0.3`, `0.35`, "not a multiple of 0.1"},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `2`, `3`, "the maximum is 2"},
		{`{"anyOf":[{"type":"string"},{"minimum":5}]}`, `5`, `4`, "valid under none of 2 schemas"},
		{`{"oneOf":[{"minimum":1},{"minimum":5}]}`, `2`, `6`, "valid under 2 of 2 schemas"},
		{`{"not":{"type":"string"}}`, `1`, `"x"`, "is what it must not be"},
		{`{"type":"number","maximum":5}`, `5`, `1e999999999`, "beyond all bounds"},
	} {
		if err := (crd.Structural{}).Validate(json.RawMessage(tt.good), json.RawMessage(tt.schema)); err != nil {
			t.Errorf("%s under %s: %v", tt.good, tt.schema, err)
		}
		err := crd.Structural{}.Validate(json.RawMessage(tt.bad), json.RawMessage(tt.schema))
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s under %s: got %v, want %q", tt.bad, tt.schema, err, tt.says)
		}
	}
}

// Values that are nested too deep are refused, by members as well as by elements.
func TestStructuralDepth(t *testing.T) {
	for _, kind := range []struct{ open, value, schema string }{
		{`{"a":`, "}", `{"properties":{"a":`}, {"[", "]", `{"items":`},
	} {
		for depth, want := range map[int]string{500: "", 501: "deeper than 500 levels"} {
			data := strings.Repeat(kind.open, depth) + "1" + strings.Repeat(kind.value, depth)
			schema := strings.Repeat(kind.schema, depth) + `{}` + strings.Repeat("}", depth*strings.Count(kind.schema, "{"))
			err := crd.Structural{}.Validate(json.RawMessage(data), json.RawMessage(schema))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s at depth %d: %.200v", kind.open, depth, err)
			}
		}
	}
}

// Validation ends and does not panic, whatever the input.
func FuzzStructural(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",null]}`), []byte(`{"properties":{"a":{"items":{"oneOf":[{"type":"string"},{"nullable":true}]}}},"not":3}`))
	f.Add([]byte(`1e99999`), []byte(`{"multipleOf":1e-99999,"minimum":"3"}`))
	f.Add([]byte(`"x"`), []byte(`{"pattern":"("}`))
	f.Fuzz(func(t *testing.T, data, schema []byte) {
		one := crd.Structural{}.Validate(data, schema)
		two := crd.Structural{}.Validate(data, schema)
		if (one == nil) != (two == nil) || one != nil && one.Error() != two.Error() {
			t.Errorf("got %v, then %v", one, two)
		}
	})
}
