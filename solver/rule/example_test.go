package rule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/solver/rule"
)

func ExampleCompile() {
	r, err := rule.Compile(`properties.exists(p, p.type == "certified" && p.value.level >= 2)`, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	candidate := rule.Prepare([]rule.Property{
		{Type: "certified", Value: json.RawMessage(`{"level": 3}`)},
	})
	ok, err := r.Match(context.Background(), candidate)
	fmt.Println(ok, err)
	// Output: true <nil>
}

func ExampleCompile_mistake() {
	_, err := rule.Compile(`properties.exists(p, p.tpye == "certified") && level > 2`, nil)
	var mistake *rule.SyntaxError
	if errors.As(err, &mistake) {
		fmt.Println(mistake)
		fmt.Println(mistake.Caret())
	}
	// Output:
	// rule at 1:48: undeclared reference to 'level'
	// ...ies.exists(p, p.tpye == "certified") && level > 2
	//                                            ^
}

func ExampleParseConstraint() {
	c, err := rule.ParseConstraint([]byte(`{
		"failureMessage": "needs a certified etcd that is not of the old API",
		"all": {"constraints": [
			{"package": {"packageName": "etcd", "versionRange": ">=3.5.0"}},
			{"not": {"constraints": [{"gvk": {"group": "etcd.io", "version": "v1alpha1", "kind": "Cluster"}}]}},
			{"cel": {"rule": "properties.exists(p, p.type == 'certified')"}}
		]}
	}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	// Output:
	// package etcd in >=3.5.0 and not API Cluster (etcd.io/v1alpha1) and rule {properties.exists(p, p.type == 'certified')}
}

func ExampleParseConstraint_mistake() {
	_, err := rule.ParseConstraint([]byte(`{"package": {"name": "etcd", "versionRange": ">=3.5.0"}}`), nil)
	fmt.Println(err)
	// Output:
	// olm.constraint at package (byte 13): unknown key "name"; write "packageName"
}
