package rule_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead/solver/rule"
)

// TestNotLooksAtAll: not holds only if none of its constraints does, whichever comes first, and
// what is odd in one of them is told.
func TestNotLooksAtAll(t *testing.T) {
	foo := rule.Prepare([]rule.Property{{Type: "olm.package", Value: json.RawMessage(`{"packageName": "foo", "version": "1.2.0"}`)}})
	if mustParse(t, group("not", gvkFoo, pkgFoo)).Holds(foo) || mustParse(t, group("not", pkgFoo, gvkFoo)).Holds(foo) {
		t.Error("not holds, though one of two constraints does")
	}
	never := `{"package":{"packageName":"foo","versionRange":">2.0.0 <1.0.0"}}`
	if lints := mustParse(t, group("not", never)).Lints(); len(lints) != len(mustParse(t, never).Lints()) || len(lints) == 0 {
		t.Errorf("lints: %q", lints)
	}
}

// TestVersionUnread: a package whose version cannot be read provides the package, in no range.
func TestVersionUnread(t *testing.T) {
	p := rule.Prepare([]rule.Property{{Type: "olm.package", Value: json.RawMessage(`{"packageName": "foo", "version": "one"}`)}})
	if len(p.Problems()) != 1 || mustParse(t, pkgFoo).Holds(p) {
		t.Errorf("problems: %v", p.Problems())
	}
}

// TestVariablesAreCopied: changing the options later changes no rule.
func TestVariablesAreCopied(t *testing.T) {
	o := &rule.Options{Variables: []string{"a"}}
	c, err := rule.NewCompiler(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Variables[0] = "b"
	if _, err := c.Compile("a == 1"); err != nil {
		t.Error(err)
	}
}
