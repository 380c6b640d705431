package rule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/rule"
)

func mustParse(t testing.TB, data string) *rule.Constraint {
	t.Helper()
	c, err := rule.ParseConstraint([]byte(data), nil)
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return c
}

const (
	gvkFoo = `{"gvk":{"group":"example.com","version":"v1","kind":"Foo"}}`
	pkgFoo = `{"package":{"packageName":"foo","versionRange":">=1.0.0"}}`
	celFoo = `{"cel":{"rule":"properties.exists(p, p.type == 'foo')"}}`
)

func group(kind string, members ...string) string {
	return fmt.Sprintf(`{"%s":{"constraints":[%s]}}`, kind, strings.Join(members, ","))
}

func TestConstraint(t *testing.T) {
	foo := props("olm.package", `{"packageName":"foo","version":"1.2.0"}`, "olm.gvk", `{"group":"example.com","version":"v1","kind":"Foo"}`, "foo", "1")
	tests := []struct {
		data, text string
		want       bool
	}{
		{gvkFoo, "API Foo (example.com/v1)", true},
		{`{"gvk":{"group":"","version":"v1","kind":"Foo"}}`, "API Foo (v1)", false},
		{`{"gvk":{"group":"example.com","version":"v2","kind":"Foo"}}`, "API Foo (example.com/v2)", false},
		{pkgFoo, "package foo in >=1.0.0", true},
		{`{"package":{"packageName":"foo","versionRange":">=2.0.0"}}`, "package foo in >=2.0.0", false},
		{`{"package":{"packageName":"bar","versionRange":">=1.0.0"}}`, "package bar in >=1.0.0", false},
		{celFoo, "rule {properties.exists(p, p.type == 'foo')}", true},
		{group("all", gvkFoo, pkgFoo), "API Foo (example.com/v1) and package foo in >=1.0.0", true},
		{group("any", gvkFoo, pkgFoo), "API Foo (example.com/v1) or package foo in >=1.0.0", true},
		{group("not", gvkFoo, pkgFoo), "not (API Foo (example.com/v1) or package foo in >=1.0.0)", false},
		{group("not", gvkFoo), "not API Foo (example.com/v1)", false},
		{group("all", celFoo, group("not", group("not", gvkFoo))), "rule {properties.exists(p, p.type == 'foo')} and not not API Foo (example.com/v1)", true},
		{group("all", group("any", gvkFoo, pkgFoo), group("not", group("all", gvkFoo, pkgFoo), celFoo)),
			"(API Foo (example.com/v1) or package foo in >=1.0.0) and not ((API Foo (example.com/v1) and package foo in >=1.0.0) or rule {properties.exists(p, p.type == 'foo')})", false},
		{group("all"), "anything", true},
		{group("any"), "nothing", false},
		{group("not"), "anything", true},
		{`{"all":{}}`, "anything", true},
		{`{"any":{"constraints":null}}`, "nothing", false},
		{group("not", group("any")), "not nothing", true},
		// a cluster accepts what encoding/json accepts
		{`{"GVK":{"Group":"example.com","VERSION":"v1","kind":"Foo"}}`, "API Foo (example.com/v1)", true},
		{`{"cel":null,"package":{"packageName":"foo","versionRange":">=1.0.0"},"failureMessage":null}`, "package foo in >=1.0.0", true},
		{" \n" + gvkFoo + "\t ", "API Foo (example.com/v1)", true},
	}
	for _, tt := range tests {
		c := mustParse(t, tt.data)
		if c.String() != tt.text {
			t.Errorf("%s\n got %s\nwant %s", tt.data, c, tt.text)
		}
		if ok, err := c.Match(t.Context(), foo); ok != tt.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", c, ok, err, tt.want)
		}
		if _, err := c.Match(t.Context(), nil); err != nil {
			t.Errorf("%s on nothing: %v", c, err)
		}
	}
	var none rule.Constraint
	if ok, _ := none.Match(t.Context(), foo); ok || none.String() != "nothing" {
		t.Errorf("a constraint with nothing set: %v %q", ok, none.String())
	}
	byHand := rule.Constraint{Package: &rule.PackageRequirement{PackageName: "foo", VersionRange: "1.x"}}
	if ok, _ := byHand.Match(t.Context(), foo); !ok {
		t.Errorf("%s made by hand does not hold", byHand.String())
	}
}

// TestPackageNameAndVersionTogether checks that both must be in the same
// property.
func TestPackageNameAndVersionTogether(t *testing.T) {
	mixed := props("olm.package", `{"packageName":"foo","version":"0.1.0"}`, "olm.package", `{"packageName":"bar","version":"1.2.0"}`)
	if ok, _ := mustParse(t, pkgFoo).Match(t.Context(), mixed); ok {
		t.Error("the name of one property and the version of another meet a requirement")
	}
}

func TestFailureMessage(t *testing.T) {
	c := mustParse(t, `{"failureMessage":"top","all":{"constraints":[{"failureMessage":"inner","not":{"constraints":[`+gvkFoo+`]}}]}}`)
	if c.FailureMessage != "top" || c.All[0].FailureMessage != "inner" || len(c.All[0].Not) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestParseConstraintErrors(t *testing.T) {
	deep := strings.Repeat(`{"not":{"constraints":[`, rule.MaxDepth) + "{}"
	tests := []struct{ data, want string }{
		{``, "olm.constraint (byte 0): no constraint: the value is empty"},
		{`  `, "olm.constraint (byte 0): no constraint: the value is empty"},
		{`null`, "olm.constraint (byte 0): the constraint is empty; give one of gvk, package, cel, all, any, not"},
		{` {}`, "olm.constraint (byte 1): the constraint is empty; give one of gvk, package, cel, all, any, not"},
		{`{"failureMessage":"x"}`, "olm.constraint (byte 0): the constraint is empty; give one of gvk, package, cel, all, any, not"},
		{`{"gvk":null}`, "olm.constraint (byte 0): the constraint is empty; give one of gvk, package, cel, all, any, not"},
		{group("any", gvkFoo, "null"), "olm.constraint at any.constraints[1] (byte 83): the constraint is empty; give one of gvk, package, cel, all, any, not"},
		{`[]`, "olm.constraint (byte 0): want an object, got a list"},
		{`"x"`, "olm.constraint (byte 0): want an object, got a string"},
		{`{`, "olm.constraint (byte 1): the JSON ends too early"},
		{`{"gvk":`, "olm.constraint at gvk (byte 7): the JSON ends too early"},
		{`{"gvk" 1}`, "olm.constraint at gvk (byte 7): malformed JSON from here on"},
		{`{1:2}`, "olm.constraint (byte 1): malformed JSON from here on"},
		{`{"failureMessage":"\q"}`, "olm.constraint at failureMessage (byte 18): malformed JSON from here on"},
		{`{"failureMessage":"x`, "olm.constraint at failureMessage (byte 20): the JSON ends too early"},
		{gvkFoo + `{`, "olm.constraint (byte 59): something follows the constraint; remove it"},
		{gvkFoo + ` ,`, "olm.constraint (byte 60): something follows the constraint; remove it"},
		{`{"arbitrary":1}`, `olm.constraint (byte 1): unknown key "arbitrary"; the keys here are failureMessage, gvk, package, cel, all, any, not`},
		{`{"none":{}}`, `olm.constraint (byte 1): unknown key "none"; write "not"`},
		{`{"message":"x"}`, `olm.constraint (byte 1): unknown key "message"; write "failureMessage"`},
		{`{"package":{"name":"foo","versionRange":"1.x"}}`, `olm.constraint at package (byte 12): unknown key "name"; write "packageName"`},
		{`{"package":{"packageName":"foo","version":"1.x"}}`, `olm.constraint at package (byte 32): unknown key "version"; write "versionRange"`},
		{`{"package":{"versionRange":"1.x"}}`, `olm.constraint at package (byte 11): no package name; give "packageName"`},
		{`{"package":{"packageName":"foo"}}`, `olm.constraint at package (byte 11): no version range; give "versionRange"; ">=0.0.0-0" is any version`},
		{`{"package":{"packageName":"foo","versionRange":"^1.0"}}`, `olm.constraint at package.versionRange (byte 47): version range "^1.0": unknown operator "^"; write ">=1.0.0 <2.0.0-0"`},
		{`{"package":{"packageName":1}}`, `olm.constraint at package.packageName (byte 26): want a string, got a number`},
		{`{"gvk":{"group":"g","version":"v1"}}`, `olm.constraint at gvk (byte 7): no kind; give "kind"`},
		{`{"gvk":{"kind":"K","group":"g"}}`, `olm.constraint at gvk (byte 7): no version; give "version"`},
		{`{"gvk":{"kind":true}}`, `olm.constraint at gvk.kind (byte 15): want a string, got a bool`},
		{`{"gvk":{"kind":"a","kind":"b"}}`, `olm.constraint at gvk (byte 19): the key "kind" is given twice`},
		{`{"cel":{}}`, `olm.constraint at cel (byte 7): no rule; give "rule"`},
		{`{"cel":{"rule":"nope"}}`, `olm.constraint at cel.rule (byte 15): rule at 1:1: undeclared reference to 'nope'`},
		{`{"cel":{"rule":""}}`, `olm.constraint at cel.rule (byte 15): rule at 1:1: the rule is empty; write "true" for a rule that always holds`},
		{`{"all":{"constraints":{}}}`, `olm.constraint at all.constraints (byte 22): want a list, got an object`},
		{`{"all":[]}`, `olm.constraint at all (byte 7): want an object, got a list`},
		{`{"all":{"constraints":[` + gvkFoo + `,{"any":{"constraints":[{"not":{"constraint":[]}}]}}]}}`,
			`olm.constraint at all.constraints[1].any.constraints[0].not (byte 114): unknown key "constraint"; write "constraints"`},
		{gvkFoo[:len(gvkFoo)-1] + "," + celFoo[1:], "olm.constraint (byte 59): both gvk and cel at once; put them under all, or split them into two constraints"},
		{deep, "olm.constraint (byte 23000): limit exceeded: nesting depth of the constraint is 1001, more than 1000"},
	}
	for _, tt := range tests {
		_, err := rule.ParseConstraint([]byte(tt.data), nil)
		var ce *rule.ConstraintError
		if !errors.As(err, &ce) || err.Error() != tt.want {
			t.Errorf("%.100s\n got %v\nwant %s", tt.data, err, tt.want)
		}
	}
}

func TestConstraintSize(t *testing.T) {
	pad := func(n int) []byte { return []byte(gvkFoo + strings.Repeat(" ", n-len(gvkFoo))) }
	if _, err := rule.ParseConstraint(pad(131072), nil); err != nil {
		t.Error(err)
	}
	_, err := rule.ParseConstraint(pad(131073), nil)
	var limit *fairlead.InputLimitError
	if !errors.As(err, &limit) || limit.Size != 131073 || limit.Max != 131072 {
		t.Error(err)
	}
	want := "olm.constraint (byte 131072): limit exceeded: size of the constraint in bytes is 131073, more than 131072"
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if _, err := rule.ParseConstraint(pad(200_000), &rule.Options{MaxConstraint: 200_000}); err != nil {
		t.Error(err)
	}
	if _, err := rule.ParseConstraint(pad(64<<10+1), &rule.Options{MaxConstraint: 64 << 10}); err == nil {
		t.Error("a lower limit is not observed")
	}
}

func TestConstraintDiagnostics(t *testing.T) {
	failing := `{"cel":{"rule":"properties[0].value.x == 1"}}`
	some := props("a", "{}")
	tests := []struct {
		data  string
		want  bool
		diags int
	}{
		{failing, false, 1},
		{group("not", failing), true, 1},
		{group("any", failing, failing), false, 2},
		{group("all", failing, failing), false, 1},
		{group("any", `{"cel":{"rule":"true"}}`, failing), true, 0},
	}
	for _, tt := range tests {
		result, err := mustParse(t, tt.data).Eval(t.Context(), some)
		if err != nil || result.Match != tt.want || len(result.Diagnostics) != tt.diags {
			t.Errorf("%s: %v %v %v", tt.data, result.Match, result.Diagnostics, err)
		}
	}
}

func TestConstraintLints(t *testing.T) {
	c := mustParse(t, group("any", gvkFoo, `{"package":{"packageName":"foo","versionRange":"1.0.0 - 2.0.0"}}`))
	if lints := c.Lints(); len(lints) != 2 || !strings.HasPrefix(lints[0], "package foo, version range: at offset 6:") {
		t.Errorf("%q", lints)
	}
}
