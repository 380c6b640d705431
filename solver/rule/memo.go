package rule

import (
	"context"
	"sync"
)

// Evaluator is what a [Memo] remembers the results of: a *[Rule] or a
// *[Constraint].
type Evaluator interface {
	// Eval decides for one candidate. The error is that of the context.
	Eval(ctx context.Context, props *Properties) (Result, error)
}

// DefaultMemo is how many results a [Memo] remembers where no number is given.
const DefaultMemo = 1 << 16

// Memo remembers what rules and constraints decided for candidates, which the
// caller tells apart by keys: a name, an image, a pointer. The same key must
// always come with the same properties. Evaluators are told apart by identity,
// so that rules should come from one [Compiler].
type Memo[K comparable] struct {
	max int

	mu      sync.Mutex
	results map[memoKey[K]]Result
}

type memoKey[K comparable] struct {
	evaluator Evaluator
	key       K
}

// NewMemo returns a Memo of at most max results; past that it forgets all of
// them and begins again. 0 or less means [DefaultMemo].
func NewMemo[K comparable](max int) *Memo[K] {
	if max <= 0 {
		max = DefaultMemo
	}
	return &Memo[K]{max: max, results: map[memoKey[K]]Result{}}
}

// Eval returns what e decides for the candidate that key stands for, which has
// the properties props. Callers must not change the diagnostics in the result.
// An evaluation that the context cut short is not remembered.
func (m *Memo[K]) Eval(ctx context.Context, key K, e Evaluator, props *Properties) (Result, error) {
	k := memoKey[K]{e, key}
	m.mu.Lock()
	result, ok := m.results[k]
	m.mu.Unlock()
	if ok {
		return result, nil
	}
	result, err := e.Eval(ctx, props)
	if err != nil {
		return Result{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.results) >= m.max {
		clear(m.results)
	}
	m.results[k] = result
	return result, nil
}
