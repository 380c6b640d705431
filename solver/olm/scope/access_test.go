package scope_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/scope"
)

func rule(verbs, resources string, names ...string) scope.PolicyRule {
	return scope.PolicyRule{Verbs: strings.Fields(verbs), APIGroups: []string{""}, Resources: strings.Fields(resources), ResourceNames: names}
}

// Bindings of others, and to roles that do not exist, are skipped.
func TestRulesOfAccount(t *testing.T) {
	account := scope.Account{Namespace: "ops", Name: "scoped"}
	subject := []scope.Subject{{Kind: "ServiceAccount", Name: "scoped", Namespace: "ops"}}
	meta := func(name string) scope.ObjectMeta { return scope.ObjectMeta{Name: name, Namespace: "ops"} }
	a := scope.Access{
		Roles: []scope.Role{{ObjectMeta: meta("reader"), Rules: []scope.PolicyRule{rule("get", "pods")}}, {ObjectMeta: meta("writer"), Rules: []scope.PolicyRule{rule("update", "pods")}}},
		Bindings: []scope.Binding{
			{ObjectMeta: meta("of another"), RoleRef: scope.RoleRef{Kind: "Role", Name: "reader"}, Subjects: []scope.Subject{{Kind: "User", Name: "jane"}}},
			{ObjectMeta: meta("dangling"), RoleRef: scope.RoleRef{Kind: "Role", Name: "none"}, Subjects: subject},
			{ObjectMeta: meta("mine"), RoleRef: scope.RoleRef{Kind: "Role", Name: "writer"}, Subjects: subject},
		},
	}
	if got := a.Rules(account, "ops"); len(got) != 1 || got[0].Verbs[0] != "update" {
		t.Errorf("%v", got)
	}
	if got := a.Rules(account, "far"); len(got) != 0 {
		t.Errorf("in another namespace: %v", got)
	}
}

// Each missing part is reported once.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		have, want []scope.PolicyRule
		missing    string
	}{
		{nil, []scope.PolicyRule{rule("get list", "pods")}, "get pods, list pods"},
		{nil, []scope.PolicyRule{rule("get", "pods"), rule("get", "pods secrets")}, "get pods, get secrets"},
		{[]scope.PolicyRule{rule("get", "*")}, []scope.PolicyRule{rule("get update", "pods")}, "update pods"},
		{[]scope.PolicyRule{rule("update", "*/scale")}, []scope.PolicyRule{rule("update", "sets/scale sets/status sets")}, "update sets/status, update sets"},
		{[]scope.PolicyRule{rule("get", "pods", "a")}, []scope.PolicyRule{rule("get", "pods", "a", "b"), rule("get", "pods")}, "get pods b, get pods"},
		{[]scope.PolicyRule{rule("*", "*")}, []scope.PolicyRule{rule("get", "pods")}, ""},
	} {
		missing, more := scope.Missing(c.have, c.want)
		var texts []string
		for _, m := range missing {
			texts = append(texts, strings.Join(slices.Concat(m.Verbs, m.Resources, m.ResourceNames), " "))
		}
		if got := strings.Join(texts, ", "); got != c.missing || more {
			t.Errorf("%v of %v: %q, %v; want %q", c.want, c.have, got, more, c.missing)
		}
	}
}

// No more than 1<<16 parts are looked at, of all rules together.
func TestMissingLimit(t *testing.T) {
	words := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("w", i))
		}
		return strings.Join(all, " ")
	}
	half := rule(words(128), words(256))
	have := []scope.PolicyRule{rule("*", "*")}
	urls := scope.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/a"}}
	for name, c := range map[string]struct {
		want []scope.PolicyRule
		more bool
	}{
		"as many as may be": {[]scope.PolicyRule{half, half}, false},
		"one rule":          {[]scope.PolicyRule{rule(words(256), words(256))}, false},
		"one more":          {[]scope.PolicyRule{half, half, urls}, true},
		"one rule, too big": {[]scope.PolicyRule{rule(words(257), words(256))}, true},
	} {
		if missing, more := scope.Missing(have, c.want); more != c.more || len(missing) > 0 {
			t.Errorf("%s: %d missing, more %v", name, len(missing), more)
		}
	}
	both := rule(words(256), words(255))
	both.NonResourceURLs = []string{"/a", "/b"}
	if _, more := scope.Missing(have, []scope.PolicyRule{both}); !more {
		t.Error("URLs do not count beside resources")
	}
}
