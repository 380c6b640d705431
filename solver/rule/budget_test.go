package rule_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead/fairlead/solver/rule"
)

// TestBudget checks that evaluations draw on one budget, except for what honest
// rules cost, and that the context ends and says why when it is spent.
func TestBudget(t *testing.T) {
	const nasty = "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, a + b + c + d >= 0))))"
	costly, err := rule.Compile(nasty, nil)
	if err != nil {
		t.Fatal(err)
	}
	cheap, err := rule.Compile("properties.size() == 0", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := rule.WithBudget(t.Context(), 200_000)
	defer cancel()
	for range 10_000 {
		if ok, err := cheap.Match(ctx, nil); !ok || err != nil {
			t.Fatalf("an honest rule: %v, %v", ok, err)
		}
	}
	n := 0
	for ; n < 100 && ctx.Err() == nil; n++ {
		_, err = costly.Match(ctx, nil)
	}
	var over *rule.BudgetError
	if n < 2 || n == 100 || !errors.As(context.Cause(ctx), &over) || over.Budget != 200_000 || over.Source != nasty {
		t.Errorf("after %d evaluations: %v, cause %v", n, err, context.Cause(ctx))
	}
	if _, err := cheap.Match(ctx, nil); !errors.As(err, &over) {
		t.Errorf("after the end: %v", err)
	}
	if within, _ := rule.WithBudget(ctx, 1); within != ctx {
		t.Error("a budget within a budget is another")
	}
}
