package rule_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver/rule"
)

// hostile are rules that would run for hours, or use up all memory, if one step
// could do any amount of work. Each is cheap by the language's own count.
var hostile = map[string]string{
	"shared lists, ==":      "[[1]]" + strings.Repeat(".map(a, [a, a])", 40) + ".all(l, l == l)",
	"shared lists, !=":      "[[1]]" + strings.Repeat(".map(a, [a, a])", 40) + ".exists(l, l != l)",
	"shared lists, in list": "[[1]]" + strings.Repeat(".map(a, [a, a])", 40) + ".all(l, l in [l])",
	"shared maps":           "[dyn({1: 1})]" + strings.Repeat(".map(a, dyn({1: a, 2: a}))", 40) + ".all(m, m == m)",
	"doubled list":          "[[1]]" + strings.Repeat(".map(a, a + a)", 40) + ".all(l, size(l) > 0)",
	"doubled string":        "['ab']" + strings.Repeat(".map(a, a + a)", 40) + ".all(s, size(s) > 0)",
	"nested loops":          "[1, 2, 3, 4, 5, 6, 7, 8, 9]" + strings.Repeat(".all(x, [1, 2, 3, 4, 5, 6, 7, 8, 9]", 12) + ".all(x, x > 0" + strings.Repeat(")", 13),
	"large expression":      "['" + strings.Repeat("a", 10_000) + "'].all(s, s.matches('(a?){900}a{900}'))",
	"made expression":       "['" + strings.Repeat("a", 10_000) + "'].all(s, s.matches('(a?){900}' + 'a{900}'))",
	"long made expression":  "['(a?){900}']" + strings.Repeat(".map(a, a + a)", 12) + ".all(s, 'a'.matches(s))",
}

func TestHostileRulesEnd(t *testing.T) {
	for name, src := range hostile {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := rule.Compile(src, &rule.Options{CostLimit: rule.DefaultCostLimit / 10})
			if err != nil {
				t.Fatal(err)
			}
			result, err := r.Eval(ctx, nil)
			if err != nil || result.Match || len(result.Diagnostics) != 1 {
				t.Errorf("%v, %v", result, err)
			}
			t.Log(result.Diagnostics)
		})
	}
}

func TestCostLimit(t *testing.T) {
	src := "[1, 2, 3].all(x, x > 0) && [1, 2, 3] == [1, 2, 3]"
	for limit, want := range map[uint64]string{
		5:  "costs more than the limit of 5 steps",
		0:  "", // the default
		60: "",
	} {
		r, err := rule.Compile(src, &rule.Options{CostLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Eval(t.Context(), nil)
		if err != nil || result.Match != (want == "") {
			t.Errorf("limit %d: %v, %v", limit, result, err)
		}
		if want != "" && !strings.Contains(fmt.Sprint(result.Diagnostics), want) {
			t.Errorf("limit %d: %v", limit, result.Diagnostics)
		}
	}
}

// TestContextEndsMidway ends the context while a rule with a high limit runs:
// it must return with the error of the context.
func TestContextEndsMidway(t *testing.T) {
	for _, name := range []string{"shared lists, ==", "shared lists, !=", "shared lists, in list", "shared maps", "nested loops"} {
		t.Run(name, func(t *testing.T) {
			r, err := rule.Compile(hostile[name], &rule.Options{CostLimit: 300_000_000})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if ok, err := r.Match(ctx, nil); ok || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, %v", ok, err)
			}
			if deadline, _ := ctx.Deadline(); time.Since(deadline) > 10*time.Second {
				t.Errorf("came back %v after the context ended", time.Since(deadline))
			}
		})
	}
}

// TestStepsAreBounded checks that lists and texts do not grow without bound,
// and that the time of a match is bounded, however high the cost limit is.
func TestStepsAreBounded(t *testing.T) {
	double := func(what string, times int) string {
		return "[" + what + "]" + strings.Repeat(".map(a, a + a)", times) + ".all(s, size(s) > 0)"
	}
	for src, want := range map[string]string{
		double("[1]", 18):           "[]", // no diagnostics
		double("[1]", 19):           "a list of more than 262144 elements",
		double("'ab'", 21):          "[]",
		double("'ab'", 22):          "a text of more than 4194304 bytes",
		double("b'ab'", 22):         "a text of more than 4194304 bytes",
		hostile["large expression"]: "a text of 10000 bytes is too long for this regular expression",
		hostile["made expression"]:  "a text of 10000 bytes is too long for this regular expression",
	} {
		r, err := rule.Compile(src, &rule.Options{CostLimit: 1 << 62})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Eval(t.Context(), nil)
		if err != nil || result.Match != (want == "[]") || !strings.Contains(fmt.Sprint(result.Diagnostics), want) {
			t.Errorf("%.30s: %v, %v", src, result, err)
		}
	}
}

// TestLongTexts checks that what a function does with a text counts by the
// length of the text.
func TestLongTexts(t *testing.T) {
	long := props("a", `"`+strings.Repeat("x", 4<<20)+`"`)
	loop := "properties.all(p, [p.value].all(s, " + strings.Repeat("[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, ", 5) + "%s" + strings.Repeat(")", 7)
	for _, what := range []string{"size(s) > 0", "!s.startsWith('y')", "!(s in {'a': 1})", "s == s"} {
		result, err := mustCompile(t, fmt.Sprintf(loop, what)).Eval(t.Context(), long)
		if err != nil || result.Match || !strings.Contains(fmt.Sprint(result.Diagnostics), "costs more") {
			t.Errorf("%s: %v, %v", what, result, err)
		}
	}
	if ok, err := mustCompile(t, "properties.all(p, size(dyn(p.value)) == 4194304 && p.value == properties[0].value)").Match(t.Context(), long); !ok || err != nil {
		t.Errorf("once: %v, %v", ok, err)
	}
}

func TestWorkAcrossSteps(t *testing.T) {
	// One comparison is within the work of the limit, twenty are not, although
	// the language itself counts only a third of it for them.
	list := "[" + strings.TrimSuffix(strings.Repeat("0,", 300), ",") + "]"
	one := "[" + list + "].all(l, l == l)"
	many := "[" + list + "].all(l, " + strings.TrimSuffix(strings.Repeat("l == l && ", 20), " && ") + ")"
	for src, want := range map[string]bool{one: true, many: false} {
		r, err := rule.Compile(src, &rule.Options{CostLimit: 2000})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := r.Match(t.Context(), nil); ok != want || err != nil {
			t.Errorf("%.40s: %v, %v", src, ok, err)
		}
	}
}

func TestEquality(t *testing.T) {
	some := props("a", `{"n":1,"l":[1,{"x":null}],"s":"x"}`, "b", `{"n":1,"l":[1,{"x":null}],"s":"x"}`)
	for _, src := range []string{
		"properties[0].value == properties[1].value",
		"properties[0] != properties[1]",
		"properties[0].value.l in [dyn(1), properties[1].value.l]",
		"'n' in properties[0].value && !('m' in properties[0].value)",
		"dyn(1) == 1.0 && dyn(1u) == 1 && dyn('1') != 1",
		"dyn([1, 2]) == [1.0, 2.0] && [1, 2] != [2, 1] && [1] != [1, 2] && dyn([1]) != 1 && dyn(1) != [1]",
		"{'a': 1} == {'a': 1} && {'a': 1} != {'a': 2} && {'a': 1} != {'b': 1} && dyn({'a': 1}) != 1 && {} != {'a': 1}",
		"dyn(null) == null && null != dyn(0)",
		"1 in [dyn(1.0)] && !(3 in [1, 2]) && !(1 in [])",
		"0.0 / 0.0 != 0.0 / 0.0",
		"'abc'.matches('^a.c$') && !'abc'.matches('x') && 'abc'.matches('a' + '.c')",
	} {
		if result, err := mustCompile(t, src).Eval(t.Context(), some); !result.Match || err != nil {
			t.Errorf("%s: %v, %v", src, result.Diagnostics, err)
		}
	}
	for src, want := range map[string]string{
		"1 in dyn(1)":                      "rule at 1:3: no such overload: in",
		"dyn(1).matches('x')":              "rule at 1:15: no such overload: matches",
		"'x'.matches('[' + 'x')":           "rule at 1:12: error parsing regexp: missing closing ]: `[x`",
		"properties[5] == properties[0]":   "rule at 1:11: index out of bounds: 5",
		"properties[0] in [properties[5]]": "rule at 1:29: index out of bounds: 5",
	} {
		result, err := mustCompile(t, src).Eval(t.Context(), some)
		if err != nil || len(result.Diagnostics) != 1 || result.Diagnostics[0].Error() != want {
			t.Errorf("%s: %v, %v", src, result.Diagnostics, err)
		}
	}
}
