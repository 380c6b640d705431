package rule_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/rule"
)

// props makes properties from pairs of type and JSON value.
func props(pairs ...string) *rule.Properties {
	var list []rule.Property
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, rule.Property{Type: pairs[i], Value: json.RawMessage(pairs[i+1])})
	}
	return rule.Prepare(list)
}

func mustCompile(t testing.TB, src string) *rule.Rule {
	t.Helper()
	r, err := rule.Compile(src, nil)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return r
}

func TestMatch(t *testing.T) {
	some := props(
		"olm.test", `"1.0.0"`,
		"olm.package", `{"packageName":"etcd","version":"1.2.3"}`,
		"num", `{"a":1,"b":[true,null,2.5]}`,
	)
	tests := []struct {
		src  string
		want bool
	}{
		{"true", true},
		{"false", false},
		// semver_compare, as in the reference's own tests
		{`properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.0') == 0))`, true},
		{`properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.1') == 0))`, false},
		{`properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.1') < 0))`, true},
		{`properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.1') > 0))`, false},
		{`properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.1') != 0))`, true},
		{`semver_compare('v1.0', '1') == 0 && semver_compare(1, 1.0) == 0 && semver_compare(2, '1.9.9+b') == 1`, true},
		{`semver_compare('1.0.0+a', '1.0.0+b') == 0 && semver_compare('1.0.0-rc1', '1.0.0') == -1`, true},
		{`properties.exists(p, p.type == 'olm.package' && p.value.packageName == 'etcd' && semver_compare(p.value.version, '1.2.0') >= 0)`, true},
		{`properties.exists(p, p.type == 'num' && p.value.a == 1 && p.value.b[0] && p.value.b[1] == null && p.value.b[2] > 2)`, true},
		{`properties.filter(p, has(p.type)).map(p, p.type) == ['olm.test', 'olm.package', 'num']`, true},
		{`properties.exists_one(p, has(p.type) && p.type.matches('^olm[.]t'))`, true},
		{`size(properties) == 3 && properties[0] == {'value': '1.0.0', 'type': 'olm.test'}`, true},
		{`properties.all(p, has(p.type) && !has(p.other))`, true},
	}
	for _, tt := range tests {
		result, err := mustCompile(t, tt.src).Eval(t.Context(), some)
		if err != nil || result.Match != tt.want || result.Diagnostics != nil {
			t.Errorf("%s = %v, %v, %v; want %v", tt.src, result.Match, result.Diagnostics, err, tt.want)
		}
	}
}

// TestMapsAreWalkedInOrder would see another order within a few runs, if the
// order were random.
func TestMapsAreWalkedInOrder(t *testing.T) {
	some := props("m", `{"z":1,"y":2,"x":3,"w":4,"v":5,"u":6}`)
	for _, src := range []string{
		`dyn(properties[0].value).map(k, k) == ['u', 'v', 'w', 'x', 'y', 'z']`,
		`{'c': 1, 'b': 1, 'a': 1}.map(k, k) == ['a', 'b', 'c']`,
		`{3: 1, 'a': 1, 2: 1, true: 1, 1: 1}.map(k, k) == [true, 1, 2, 3, 'a']`,
		`properties.map(p, {'b': p.type, 'a': p.type})[0].map(k, k) == ['a', 'b']`,
		`{'b': {'y': 1, 'x': 2}, 'a': 1}.map(k, k) == ['a', 'b']`,
	} {
		r := mustCompile(t, src)
		for range 50 {
			if ok, err := r.Match(t.Context(), some); !ok || err != nil {
				t.Fatalf("%s: %v, %v", src, ok, err)
			}
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		src, err, caret string
	}{
		{"", "rule at 1:1: the rule is empty; write \"true\" for a rule that always holds", "\n^"},
		{"1", "rule at 1:1: a rule must yield bool, this one yields int", "1\n^"},
		{`"x"`, "rule at 1:1: a rule must yield bool, this one yields string", "\"x\"\n^"},
		{"properties[0].value", "rule at 1:1: a rule must yield bool, this one yields any; its type is known only when evaluated; compare it, as in x == true", "properties[0].value\n^"},
		{"dyn(true)", "rule at 1:1: a rule must yield bool, this one yields dyn; its type is known only when evaluated; compare it, as in x == true", "dyn(true)\n^"},
		{"properties", "rule at 1:1: a rule must yield bool, this one yields list(map(string, any)); ask for its size or for an element, as in size(x) > 0", "properties\n^"},
		{"true && foo", "rule at 1:9: undeclared reference to 'foo'", "true && foo\n        ^"},
		{"true &&\n\tfoo(1)", "rule at 2:5: undeclared reference to 'foo'", " foo(1)\n    ^"},
		{"properties.exists(p, p.type == 'é') && nope", "rule at 1:40: undeclared reference to 'nope'", "properties.exists(p, p.type == 'é') && nope\n                                       ^"},
		{"true)", "rule at 1:5: extraneous input ')' expecting <EOF>", "true)\n    ^"},
		{"a || b", "rule at 1:1: undeclared reference to 'a' (and 1 more)", "a || b\n^"},
		{"'a'.matches('[')", "rule at 1:13: error parsing regexp: missing closing ]: `[`", "'a'.matches('[')\n            ^"},
		{strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300), "rule at 1:1: expression recursion limit exceeded: 250", strings.Repeat("(", 40) + "...\n^"},
		{strings.Repeat("true && ", 30) + "foo" + strings.Repeat(" && true", 30), "rule at 1:241: undeclared reference to 'foo'",
			"..." + strings.Repeat("true && ", 5) + "foo" + strings.Repeat(" && true", 4) + " && t...\n" + strings.Repeat(" ", 43) + "^"},
	}
	for _, tt := range tests {
		_, err := rule.Compile(tt.src, nil)
		var se *rule.SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%q: %v, no SyntaxError", tt.src, err)
			continue
		}
		if err.Error() != tt.err || se.Caret() != tt.caret || se.Source != tt.src {
			t.Errorf("%q:\n got %s\n%s\nwant %s\n%s", tt.src, err, se.Caret(), tt.err, tt.caret)
		}
	}
}

func TestDiagnostics(t *testing.T) {
	some := props("a", `{}`, "b", `"x"`, "c", `{`)
	tests := []struct{ src, want string }{
		{`properties[0].value.maturity == 'stable'`, "rule at 1:20: no such key: maturity"},
		{`properties[9].type == 'x'`, "rule at 1:14: index out of bounds: 9"},
		{`properties.all(p, p.type != 'z')`, "rule at 1:20: no such key: type"},
		{`semver_compare(properties[1].value, '1.0.0') == 0`, `rule at 1:15: semver_compare: version "x": major "x" is not a number`},
		{`semver_compare(properties, '1.0.0') == 0`, `rule at 1:15: semver_compare: a list is not a version`},
		{`1 / (size(properties) - 3) == 1`, "rule at 1:3: division by zero"},
		{`properties[0].value + 1 == 1`, "rule at 1:21: no such overload: _+_"},
	}
	for _, tt := range tests {
		result, err := mustCompile(t, tt.src).Eval(t.Context(), some)
		if err != nil || result.Match || len(result.Diagnostics) != 1 || result.Diagnostics[0].Error() != tt.want {
			t.Errorf("%s: %v %v %v\nwant %s", tt.src, result.Match, result.Diagnostics, err, tt.want)
		}
	}
	// To a rule, a property whose value is not JSON is an empty map.
	if ok, err := mustCompile(t, `properties[2] == {}`).Match(t.Context(), some); !ok || err != nil {
		t.Errorf("bad JSON: %v, %v", ok, err)
	}
	// An error is absorbed if some element makes the rule true anyway.
	if ok, err := mustCompile(t, `properties.exists(p, p.type == 'b')`).Match(t.Context(), some); !ok || err != nil {
		t.Errorf("exists: %v, %v", ok, err)
	}
	if p := some.Problems(); len(p) != 1 || p[0].Index != 2 || p[0].Type != "c" {
		t.Errorf("problems %v", p)
	}
}

func TestProblems(t *testing.T) {
	p := props(
		"olm.package", `{"packageName":"a","version":"x"}`,
		"olm.package", `{"packageName":1}`,
		"olm.gvk", `[]`,
		"other", `{`,
		"fine", `null`,
		"olm.package", `{"packageName":"b"}`,
	)
	want := []rule.PropertyProblem{
		{0, "olm.package", `version "x": major "x" is not a number`},
		{1, "olm.package", `want an object with the strings "packageName" and "version"`},
		{2, "olm.gvk", `want an object with the strings "group", "version" and "kind"`},
		{3, "other", "the value is not JSON"},
	}
	if got := p.Problems(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// A package without a readable version is in no range.
	for _, name := range []string{"a", "b"} {
		c := rule.Constraint{Package: &rule.PackageRequirement{PackageName: name, VersionRange: ">=0.0.0-0"}}
		if ok, err := c.Match(t.Context(), p); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestContextEnds(t *testing.T) {
	r := mustCompile(t, "true")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if ok, err := r.Match(ctx, nil); ok || !errors.Is(err, cause) {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestVariables(t *testing.T) {
	r, err := rule.Compile("cluster.nodes >= 3 && properties.exists(p, p.type == 'a')", &rule.Options{Variables: []string{"cluster"}})
	if err != nil {
		t.Fatal(err)
	}
	plain := props("a", "1")
	with, err := plain.With("cluster", map[string]int{"nodes": 3})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Match(t.Context(), with); !ok || err != nil {
		t.Errorf("with the variable: %v, %v", ok, err)
	}
	result, err := r.Eval(t.Context(), plain)
	if result.Match || err != nil || len(result.Diagnostics) != 1 {
		t.Errorf("without: %v, %v", result, err)
	}
	for _, name := range []string{"", "properties", "in", "1a", "a-b", "é"} {
		var ve *rule.VariableError
		if _, err := rule.NewCompiler(&rule.Options{Variables: []string{name}}); !errors.As(err, &ve) {
			t.Errorf("variable %q: %v", name, err)
		}
		if _, err := plain.With(name, 1); !errors.As(err, &ve) {
			t.Errorf("value of variable %q: %v", name, err)
		}
	}
	if _, err := rule.NewCompiler(&rule.Options{Variables: []string{"a", "a"}}); err == nil {
		t.Error("a variable declared twice is let pass")
	}
	if _, err := plain.With("f", func() {}); err == nil {
		t.Error("a func is let pass as a value")
	}
}

func TestCompileOnce(t *testing.T) {
	c, err := rule.NewCompiler(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := c.Compile("true")
	b, errB := c.Compile("true")
	if a != b || errA != nil || errB != nil {
		t.Errorf("the same text gave two rules: %p %p %v %v", a, b, errA, errB)
	}
	_, errA = c.Compile("nope")
	_, errB = c.Compile("nope")
	if errA == nil || errA != errB {
		t.Errorf("the same text gave two errors: %v, %v", errA, errB)
	}
}

func TestSourceLimit(t *testing.T) {
	_, err := rule.Compile("true  ", &rule.Options{MaxSource: 5})
	var limit *fairlead.InputLimitError
	if !errors.As(err, &limit) || limit.Size != 6 || limit.Max != 5 {
		t.Errorf("%v", err)
	}
	if _, err := rule.Compile("true ", &rule.Options{MaxSource: 5}); err != nil {
		t.Error(err)
	}
}
