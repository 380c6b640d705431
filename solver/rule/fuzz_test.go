package rule_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/rule"
)

// FuzzCompile checks what must hold for every text: an error of the documented
// type with a position inside the text, or a rule that ends and gives the same
// answer twice.
func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		"true", "", "properties.exists(p, p.type == 'a' && semver_compare(p.value.version, '1.0') > 0)",
		"[[1]].map(a, [a, a]).map(a, a + a).all(l, l == l)", "properties[0].value.x[1] in {'a': 1}", "'a'.matches('(a?){9}a{9}')",
		"true &&\n\tfoo(1)", "dyn(1) == 1.0 ? duration('1s') < duration('2s') : timestamp('2020-01-01T00:00:00Z') == timestamp(0)",
		"[1, 2].exists_one(x, x in [2]) && {'b': 1, 'a': 2}.map(k, k)[0] == 'a'", "b'\\xff' == b'a' || 1u + 1u == 2u || -9223372036854775808 / -1 == 0",
	} {
		f.Add(src, `{"x":[1,{"a":null}],"version":"1.2.3"}`)
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		r, err := rule.Compile(src, &rule.Options{CostLimit: 10_000})
		if err != nil {
			checkCompileError(t, src, err)
			return
		}
		p := props("a", value, "b", `"1.0.0"`)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		first, err := r.Eval(ctx, p)
		if err != nil {
			t.Fatalf("%q has not ended: %v", src, err)
		}
		second, err := r.Eval(ctx, p)
		if err != nil || second.Match != first.Match || len(second.Diagnostics) != len(first.Diagnostics) {
			t.Fatalf("%q: %v, then %v, %v", src, first, second, err)
		}
		for i, d := range first.Diagnostics {
			if d.Error() != second.Diagnostics[i].Error() {
				t.Fatalf("%q: %v, then %v", src, d, second.Diagnostics[i])
			}
		}
	})
}

func checkCompileError(t *testing.T, src string, err error) {
	t.Helper()
	var syntax *rule.SyntaxError
	var limit *fairlead.InputLimitError
	switch {
	case errors.As(err, &limit):
	case errors.As(err, &syntax):
		if syntax.Line < 1 || syntax.Column < 1 || syntax.Source != src || syntax.Error() == "" || syntax.Caret() == "" {
			t.Fatalf("%q: %+v", src, syntax)
		}
	default:
		t.Fatalf("%q: %T: %v", src, err, err)
	}
}

// FuzzParseConstraint checks what must hold for every text: an error of the
// documented type with an offset inside the text, or a constraint that can be
// evaluated and written.
func FuzzParseConstraint(f *testing.F) {
	for _, data := range []string{
		gvkFoo, pkgFoo, celFoo, group("all", gvkFoo, group("not", pkgFoo), group("any", celFoo, gvkFoo)), "", "null", "{}", "[]", gvkFoo + "x",
		`{"GVK":null,"failureMessage":"x","all":{"constraints":null}}`, `{"package":{"name":"a"}}`, `{"all":{"constraints":[,]}}`, `{"cel":{"rule":"\ud800"}}`,
	} {
		f.Add([]byte(data))
	}
	compiler, err := rule.NewCompiler(&rule.Options{MaxConstraint: 1 << 12})
	if err != nil {
		f.Fatal(err)
	}
	some := props("olm.package", `{"packageName":"foo","version":"1.2.0"}`, "olm.gvk", `{"group":"example.com","version":"v1","kind":"Foo"}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := compiler.ParseConstraint(data)
		if err != nil {
			var ce *rule.ConstraintError
			if !errors.As(err, &ce) || ce.Offset < 0 || ce.Offset > len(data) || ce.Error() == "" {
				t.Fatalf("%q: %T: %v", data, err, err)
			}
			return
		}
		if _, err := c.Match(t.Context(), some); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if c.String() == "" {
			t.Fatalf("%q is written as nothing at all", data)
		}
		c.Lints()
	})
}
