package agree_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/constraints"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/rule"
)

var (
	leaves = []string{
		"p.value", "p.value.a", "p.value['b']", "p.type", "q.type", "1", "2.5", "'x'", "'1.0.0'", "true", "null", "[1, p.value]", "{'a': p.type}", "size(properties)",
		"properties[0].value", "properties[9]", "dyn([3, 1])", "1u", "p.value[0]",
	}
	comparisons = []string{"==", "!=", "<", ">=", "in"}
	values      = []string{`"x"`, `1`, `2.5`, `"1.0.0"`, `"v1.2"`, `{"a":1,"b":[1,2]}`, `{"b":"x"}`, `null`, `[1,{"a":"x"}]`, `true`, `{}`}
)

// randomRule returns a rule in which p and q are elements of properties.
func randomRule(r *rand.Rand, depth int) string {
	inner := func() string { return randomRule(r, depth-1) }
	if depth == 0 {
		switch r.IntN(8) {
		case 0:
			return fmt.Sprintf("semver_compare(%s, %s) %s 0", pick(r, leaves), pick(r, leaves), pick(r, comparisons[:4]))
		case 1:
			return "has(p.value.a)"
		case 2:
			return fmt.Sprintf("dyn(%s).matches('^[a-z0-9.]+$')", pick(r, leaves))
		case 3:
			return fmt.Sprintf("dyn(%s) + dyn(%s) == dyn(%s)", pick(r, leaves), pick(r, leaves), pick(r, leaves))
		}
		return fmt.Sprintf("dyn(%s) %s dyn(%s)", pick(r, leaves), pick(r, comparisons), pick(r, leaves))
	}
	switch r.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("properties.%s(p, %s)", pick(r, []string{"exists", "all", "exists_one"}), inner())
	case 2:
		return fmt.Sprintf("properties.filter(q, %s) %s [p]", inner(), pick(r, comparisons[:2]))
	case 3:
		return fmt.Sprintf("properties.map(q, q.type) %s [p.type]", pick(r, comparisons[:2]))
	case 4:
		return fmt.Sprintf("(%s && %s)", inner(), inner())
	case 5:
		return fmt.Sprintf("(%s || %s)", inner(), inner())
	case 6:
		return "!(" + inner() + ")"
	}
	return fmt.Sprintf("(%s ? %s : %s)", inner(), inner(), inner())
}

// TestRules compares our evaluation of rules with that of a cluster: the same rules
// compile, and the same ones hold. An error during evaluation counts as false.
func TestRules(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	theirs := constraints.NewCelEnvironment()
	held, failed, refused := 0, 0, 0
	for range long.N(3_000, 200_000) {
		src := "properties.exists(p, properties.exists(q, " + randomRule(r, r.IntN(4)) + "))"
		if r.IntN(20) == 0 {
			src = strings.Replace(src, "p.", pick(r, []string{"o.", "p", "p..", "(p."}), 1)
		}
		program, theirErr := theirs.Validate(src)
		ours, ourErr := rule.Compile(src, nil)
		if (theirErr == nil) != (ourErr == nil) {
			t.Fatalf("%s: theirs %v, ours %v", src, theirErr, ourErr)
		}
		if ourErr != nil {
			refused++
			continue
		}
		var prepared []rule.Property
		data := []map[string]any{}
		for i := range r.IntN(4) {
			p := rule.Property{Type: pick(r, []string{"x", "a", "olm.package"}), Value: json.RawMessage(pick(r, values))}
			prepared = append(prepared, p)
			data = append(data, map[string]any{"type": p.Type, "value": nil})
			var value any
			if err := json.Unmarshal(p.Value, &value); err != nil {
				t.Fatal(err)
			}
			data[i]["value"] = value
		}
		want, wantErr := program.Evaluate(map[string]any{constraints.PropertiesKey: data})
		got, err := ours.Eval(t.Context(), rule.Prepare(prepared))
		if err != nil || got.Match != want || (len(got.Diagnostics) > 0) != (wantErr != nil) {
			t.Fatalf("%s on %s: theirs %v, %v; ours %v, %v", src, data, want, wantErr, got, err)
		}
		switch {
		case wantErr != nil:
			failed++
		case want:
			held++
		}
	}
	t.Logf("%d held, %d could not be evaluated, %d did not compile", held, failed, refused)
	if held == 0 || failed == 0 || refused == 0 {
		t.Error("the rules are too much alike")
	}
}
