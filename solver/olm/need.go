package olm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/rule"
)

// need is one requirement of a bundle: a predicate on another operator. Equal
// requirements of a Resolver share one need, so needs are compared by address.
type need struct {
	// Exactly one of gvk, pkg, label and constraint is set.
	gvk        *catalog.GVK
	pkg        string
	versions   *semverx.Range // with pkg
	label      *string
	constraint *rule.Constraint
	// banned is set, with constraint, for a requirement that excludes: what
	// matches banned must be absent. See Options.NotExcludes.
	banned *rule.Constraint
}

// maxConstraintText is how much of the text of a constraint is shown; rules can
// be long.
const maxConstraintText = 160

// String returns what is required, as the end of "requires ...".
func (n *need) String() string {
	switch {
	case n.gvk != nil:
		return "API " + gvkText(*n.gvk)
	case n.constraint != nil:
		text := words.Clip(n.constraint.String(), maxConstraintText)
		if message := n.constraint.FailureMessage; message != "" {
			return fmt.Sprintf("%q: %s", message, text)
		}
		return text
	case n.label != nil:
		return fmt.Sprintf("an operator with label %q", *n.label)
	}
	return fmt.Sprintf("package %s in range %s", n.pkg, n.versions)
}

func gvkText(g catalog.GVK) string {
	if g.Group == "" {
		return fmt.Sprintf("%s (%s)", g.Kind, g.Version)
	}
	return fmt.Sprintf("%s (%s/%s)", g.Kind, g.Group, g.Version)
}

// metBy reports whether an operator of a package, with these facts, meets the
// need. The error is that of the context or, with a valid answer, of a rule
// that could not be evaluated and counted as false.
func (n *need) metBy(ctx context.Context, pkg string, f *facts) (bool, error) {
	switch {
	case n.gvk != nil:
		return slices.Contains(f.gvks, *n.gvk), nil
	case n.label != nil:
		return slices.Contains(f.labels, *n.label), nil
	case n.constraint != nil:
		result, err := n.constraint.Eval(ctx, f.prepared())
		if err == nil && len(result.Diagnostics) > 0 {
			err = result.Diagnostics[0]
		}
		return result.Match, err
	}
	if pkg == n.pkg && n.contains(f.version) {
		return true, nil
	}
	for _, p := range f.packages {
		if p.name == n.pkg && (n.contains(p.version) || n.contains(f.version)) {
			return true, nil
		}
	}
	return false, nil
}

func (n *need) contains(v semverx.Version) bool {
	return !v.IsZero() && n.versions.Contains(v)
}

// needTable caches the needs of a Resolver by the property that states them,
// and the APIs likewise: a catalog states the same ones many times.
type needTable struct {
	mu          sync.Mutex
	table       map[string]parsedNeed
	apis        map[string]parsedAPI
	rules       *rule.Compiler
	variables   []variable
	notExcludes bool
}

// variable is a variable that rules may use besides properties.
type variable struct {
	name  string
	value any
}

// newNeedTable returns a table that compiles constraints as the options
// require.
func newNeedTable(opts *Options) (*needTable, error) {
	t := &needTable{table: make(map[string]parsedNeed), apis: make(map[string]parsedAPI), notExcludes: opts.NotExcludes}
	var rules rule.Options
	if opts.Rules != nil {
		rules = *opts.Rules
	}
	rules.Variables = slices.Clone(rules.Variables)
	for _, name := range sortedKeys(opts.Variables, strings.Compare) {
		v := variable{name, opts.Variables[name]}
		if _, err := rule.Prepare(nil).With(v.name, v.value); err != nil {
			return nil, err
		}
		t.variables = append(t.variables, v)
		rules.Variables = append(rules.Variables, name)
	}
	var err error
	t.rules, err = rule.NewCompiler(&rules)
	return t, err
}

type parsedNeed struct {
	need *need
	err  error
}

type parsedAPI struct {
	gvk catalog.GVK
	ok  bool
}

// api returns the API that the value of a property states; false if it cannot
// be read.
func (t *needTable) api(value json.RawMessage) (catalog.GVK, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.apis[string(value)]
	if !ok {
		var v gvkValue
		err := json.Unmarshal(value, &v)
		known = parsedAPI{catalog.GVK(v), err == nil}
		t.apis[string(value)] = known
	}
	return known.gvk, known.ok
}

// get returns the need that a property states. Equal text gives the same need;
// for simple types, the order of keys does not matter.
func (t *needTable) get(p catalog.Property) (*need, error) {
	key := p.Type + "\x00" + string(p.Value)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.table[key]; ok {
		return known.need, known.err
	}
	n, canonical, err := t.parse(p)
	if err == nil {
		if same, ok := t.table[canonical]; ok {
			n = same.need
		}
		t.table[canonical] = parsedNeed{n, nil}
	}
	t.table[key] = parsedNeed{n, err}
	return n, err
}

// parse reads a required property; the string is its canonical form.
func (t *needTable) parse(p catalog.Property) (*need, string, error) {
	switch p.Type {
	case propertyGVKRequired:
		var v gvkValue
		if err := json.Unmarshal(p.Value, &v); err != nil {
			return nil, "", err
		}
		gvk := catalog.GVK(v)
		return &need{gvk: &gvk}, fmt.Sprintf("gvk\x00%q", gvk), nil
	case propertyLabelRequired:
		var v labelValue
		if err := json.Unmarshal(p.Value, &v); err != nil {
			return nil, "", err
		}
		return &need{label: &v.Label}, "label\x00" + v.Label, nil
	case propertyConstraint:
		c, err := t.rules.ParseConstraint(p.Value)
		if err != nil {
			return nil, "", err
		}
		n := &need{constraint: c}
		if t.notExcludes && c.Not != nil {
			n.banned = &rule.Constraint{Any: c.Not}
		}
		return n, propertyConstraint + "\x00" + string(p.Value), nil
	}
	var v packageRequiredValue
	if err := json.Unmarshal(p.Value, &v); err != nil {
		return nil, "", err
	}
	versions, err := semverx.ParseRange(v.VersionRange)
	if err != nil {
		return nil, "", err
	}
	return &need{pkg: v.PackageName, versions: versions}, fmt.Sprintf("package\x00%q%q", v.PackageName, v.VersionRange), nil
}
