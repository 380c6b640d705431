package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/solver/rule"
)

// facts evaluates rules of type CEL on known facts about a cluster. It is a
// graph.Evaluator.
type facts struct {
	compiler *rule.Compiler
	known    *rule.Properties
}

// readFacts reads a JSON object; each member is a variable for rules.
func readFacts(name string) (*facts, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, unread(err, name, "name a file with a JSON object of facts, such as {\"nodes\": 5}")
	}
	defer f.Close()
	d, err := doc.NewReader(f, name, doc.Limits{}).Next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty; write a JSON object, such as {\"nodes\": 5}", name)
	} else if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(d.JSON, &values); err != nil || values == nil {
		return nil, fmt.Errorf("%s: it is not an object; write one, such as {\"nodes\": 5}", d.Start)
	}
	names := slices.Sorted(maps.Keys(values))
	out := &facts{known: rule.Prepare(nil)}
	if out.compiler, err = rule.NewCompiler(&rule.Options{Variables: names}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, n := range names {
		if out.known, err = out.known.With(n, values[n]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// Evaluate implements graph.Evaluator. A rule that fails on the facts, because
// one is missing, is an error: it is not known whether the rule matches.
func (f *facts) Evaluate(ctx context.Context, r graph.Rule) (bool, error) {
	if r.Type != graph.RuleCEL {
		return false, fmt.Errorf("facts cannot evaluate rules of type %s", r.Type)
	}
	compiled, err := f.compiler.Compile(r.Query)
	if err != nil {
		return false, err
	}
	result, err := compiled.Eval(ctx, f.known)
	if err == nil && len(result.Diagnostics) > 0 {
		err = result.Diagnostics[0]
	}
	return result.Match, err
}

// learn adds the results of the rules of type CEL.
func (f *facts) learn(ctx context.Context, g *graph.Graph, e graph.Evaluations) graph.Evaluations {
	eachRule(g, func(_ string, r graph.Rule) {
		if r.Type == graph.RuleCEL {
			match, err := f.Evaluate(ctx, r)
			e = e.With(r, match, err, time.Unix(0, 0).UTC())
		}
	})
	return e
}
