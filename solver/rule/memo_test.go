package rule_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/solver/rule"
)

// counting counts how often it is asked.
type counting struct {
	*rule.Rule
	calls int
}

func (c *counting) Eval(ctx context.Context, p *rule.Properties) (rule.Result, error) {
	c.calls++
	return c.Rule.Eval(ctx, p)
}

func TestMemo(t *testing.T) {
	has := &counting{Rule: mustCompile(t, "properties.exists(p, p.type == 'a')")}
	not := &counting{Rule: mustCompile(t, "!properties.exists(p, p.type == 'a')")}
	candidates := map[string]*rule.Properties{"with": props("a", "1"), "without": props("b", "1")}
	memo := rule.NewMemo[string](0)
	for range 3 {
		for key, p := range candidates {
			for e, want := range map[*counting]bool{has: key == "with", not: key != "with"} {
				if result, err := memo.Eval(t.Context(), key, e, p); result.Match != want || err != nil {
					t.Errorf("%s on %s: %v, %v", e, key, result, err)
				}
			}
		}
	}
	if has.calls != 2 || not.calls != 2 {
		t.Errorf("evaluated %d and %d times for two candidates", has.calls, not.calls)
	}
}

func TestMemoForgets(t *testing.T) {
	e := &counting{Rule: mustCompile(t, "true")}
	memo := rule.NewMemo[int](2)
	for _, key := range []int{1, 2, 1, 2, 3, 1} { // 3 is one too many, and 1 is forgotten
		if result, err := memo.Eval(t.Context(), key, e, nil); !result.Match || err != nil {
			t.Fatal(result, err)
		}
	}
	if e.calls != 4 {
		t.Errorf("evaluated %d times, want 4", e.calls)
	}
}

func TestMemoRemembersNoInterruption(t *testing.T) {
	r := mustCompile(t, "true")
	memo := rule.NewMemo[int](0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := memo.Eval(ctx, 1, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if result, err := memo.Eval(t.Context(), 1, r, nil); !result.Match || err != nil {
		t.Errorf("%v, %v", result, err)
	}
	// What is known is known, also when the context is over.
	if result, err := memo.Eval(ctx, 1, r, nil); !result.Match || err != nil {
		t.Errorf("%v, %v", result, err)
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	c, err := rule.NewCompiler(nil)
	if err != nil {
		t.Fatal(err)
	}
	memo := rule.NewMemo[int](3)
	p := props("olm.package", `{"packageName":"foo","version":"1.2.0"}`)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				parsed, err := c.ParseConstraint([]byte(group("all", pkgFoo, `{"cel":{"rule":"properties.exists(p, {'a': p.type}.a == 'olm.package')"}}`)))
				if err != nil {
					t.Error(err)
					return
				}
				if result, err := memo.Eval(t.Context(), i*j%5, parsed, p); !result.Match || err != nil {
					t.Error(result, err)
				}
			}
		})
	}
	wg.Wait()
}
