package rule

import (
	"sync"

	"github.com/fairlead/fairlead"
)

// maxCached bounds how many texts a Compiler remembers; beyond it, it forgets
// all of them and starts again.
const maxCached = 4096

// Compiler compiles rules and parses constraints with one set of options, and
// compiles each distinct rule only once. Create one with [NewCompiler].
type Compiler struct {
	opts Options

	mu    sync.Mutex
	env   *environment // made when the first rule needs it
	rules map[string]compiled
}

type compiled struct {
	rule *Rule
	err  error
}

// NewCompiler returns a Compiler. The error is a [*VariableError]. Nil options
// mean the defaults.
func NewCompiler(opts *Options) (*Compiler, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Compiler{opts: o, rules: map[string]compiled{}}, nil
}

// Compile is [Compiler.Compile] for a single rule.
func Compile(src string, opts *Options) (*Rule, error) {
	c, err := NewCompiler(opts)
	if err != nil {
		return nil, err
	}
	return c.Compile(src)
}

// Compile checks a rule and prepares it for evaluation. The same text yields
// the same *Rule again. Errors are [*SyntaxError] and
// [*fairlead.InputLimitError]. A first compilation takes about 0.1 ms.
func (c *Compiler) Compile(src string) (*Rule, error) {
	if len(src) > c.opts.MaxSource {
		return nil, &fairlead.InputLimitError{What: "size of the rule in bytes", Size: int64(len(src)), Max: int64(c.opts.MaxSource)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.rules[src]; ok {
		return known.rule, known.err
	}
	if c.env == nil {
		env, err := newEnv(c.opts.Variables)
		if err != nil {
			return nil, err
		}
		c.env = env
	}
	rule, err := compile(c.env, src, c.opts.CostLimit)
	if len(c.rules) >= maxCached {
		clear(c.rules)
	}
	c.rules[src] = compiled{rule, err}
	return rule, err
}
