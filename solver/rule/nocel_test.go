//go:build nocel

package rule_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/rule"
)

// TestNocel reads constraints in a program without CEL: those with a rule are
// refused, also under not, and the others work.
func TestNocel(t *testing.T) {
	compiler, err := rule.NewCompiler(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"cel":{"rule":"true"}}`, `{"not":{"constraints":[{"cel":{"rule":"false"}}]}}`} {
		if c, err := compiler.ParseConstraint([]byte(text)); err == nil || !strings.Contains(err.Error(), "built without CEL") {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
	c, err := compiler.ParseConstraint([]byte(`{"package":{"packageName":"etcd","versionRange":">=1.0.0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if props := rule.Prepare([]rule.Property{{Type: "olm.package", Value: []byte(`{"packageName":"etcd","version":"1.2.0"}`)}}); !c.Holds(props) || c.Holds(nil) {
		t.Error("a package in a range is not found, or is found where there is none")
	}
}
