package scope_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// TestScripts runs the scenarios of testdata. The command check checks the plan of
// namespace ops; its input has one object per line:
//
//	group NS/NAME [ACCOUNT]
//	account NS/NAME
//	role NS/NAME RULE... and clusterrole NAME RULE...
//	bind NS KIND/NAME SUBJECT    a RoleBinding; NS "-" makes it cluster-wide
//	new KIND RESOURCE.GROUP NS/NAME [KIND/NAME or RULE...]   a step, and what it binds or grants
//	old ...                      the same for an existing object
//
// A RULE is VERB,VERB:RESOURCE,RESOURCE:GROUP[:NAME], or VERB:/URL; NS "-" is
// none, GROUP "-" the core group. A SUBJECT is NS/ACCOUNT, user:NAME or
// group:NAME.
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			p := &plan{}
			for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
				if !p.read(strings.Fields(line)) {
					t.Fatalf("%s: no such line: %s", c.Pos, line)
				}
			}
			if err := scope.Check(p.groups, "ops", p.accounts, &p.access, p.steps); err != nil {
				var lines []string
				for line := range strings.Lines(err.Error()) {
					lines = append(lines, "refused"+words.Data("Refused", line))
				}
				return strings.Join(lines, "\n")
			}
			return "apply"
		}
	})
}

type plan struct {
	groups   []group.OperatorGroup
	accounts []scope.Account
	access   scope.Access
	steps    []scope.Step
}

func (p *plan) read(words []string) bool {
	switch words[0] {
	case "group":
		g := group.OperatorGroup{}
		g.Namespace, g.Name = split(words[1])
		if len(words) > 2 {
			g.Spec.ServiceAccountName = words[2]
		}
		p.groups = append(p.groups, g)
	case "account":
		ns, name := split(words[1])
		p.accounts = append(p.accounts, scope.Account{Namespace: ns, Name: name})
	case "role", "clusterrole":
		r := scope.Role{Rules: rules(words[2:])}
		r.Namespace, r.Name = split(words[1])
		p.access.Roles = append(p.access.Roles, r)
	case "bind":
		b := scope.Binding{RoleRef: *ref(words[2])}
		b.Namespace = strings.Trim(words[1], "-")
		b.Subjects = []scope.Subject{subject(words[3])}
		p.access.Bindings = append(p.access.Bindings, b)
	case "new", "old":
		s := scope.Step{Kind: words[1], Exists: words[0] == "old"}
		s.Resource, s.Group, _ = strings.Cut(words[2], ".")
		s.Namespace, s.Name = split(words[3])
		switch rest := words[4:]; {
		case len(rest) > 0 && strings.Contains(s.Kind, "Binding"):
			s.RoleRef = ref(rest[0])
		default:
			s.Rules = rules(rest)
		}
		p.steps = append(p.steps, s)
	default:
		return false
	}
	return true
}

func split(word string) (namespace, name string) {
	namespace, name, ok := strings.Cut(word, "/")
	if !ok {
		return "", namespace
	}
	return strings.Trim(namespace, "-"), name
}

func ref(word string) *scope.RoleRef {
	kind, name, _ := strings.Cut(word, "/")
	return &scope.RoleRef{Kind: kind, Name: name}
}

func subject(word string) scope.Subject {
	if name, ok := strings.CutPrefix(word, "user:"); ok {
		return scope.Subject{Kind: "User", Name: name}
	}
	if name, ok := strings.CutPrefix(word, "group:"); ok {
		return scope.Subject{Kind: "Group", Name: name}
	}
	ns, name := split(word)
	return scope.Subject{Kind: "ServiceAccount", Namespace: ns, Name: name}
}

func rules(words []string) []scope.PolicyRule {
	var list []scope.PolicyRule
	for _, word := range words {
		parts := strings.Split(word, ":")
		r := scope.PolicyRule{Verbs: strings.Split(parts[0], ",")}
		if strings.HasPrefix(parts[1], "/") {
			r.NonResourceURLs = strings.Split(parts[1], ",")
		} else {
			r.Resources = strings.Split(parts[1], ",")
			r.APIGroups = strings.Split(parts[2], ",")
			for i, g := range r.APIGroups {
				r.APIGroups[i] = strings.Trim(g, "-")
			}
		}
		if len(parts) > 3 {
			r.ResourceNames = strings.Split(parts[3], ",")
		}
		list = append(list, r)
	}
	return list
}

func TestStepOf(t *testing.T) {
	s, err := scope.StepOf([]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b"},
		"roleRef":{"kind":"Role","name":"r"}}`), "ops", true)
	if err != nil || s.Resource != "rolebindings" || s.Namespace != "ops" || s.RoleRef == nil || s.RoleRef.Name != "r" || !s.Exists {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = scope.StepOf([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"own"},"rules":"theirs"}`), "ops", false)
	if err != nil || s.Group != "" || s.Resource != "services" || s.Namespace != "own" || s.Rules != nil {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"apiVersion":"v1","kind":"Service"}`,
		`{"kind":"Service","metadata":{"name":"s"}}`, `{"apiVersion":"v1","metadata":{"name":"s"}}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r"},"rules":7}`} {
		if s, err := scope.StepOf([]byte(bad), "ops", false); err == nil {
			t.Errorf("%s: %+v", bad, s)
		}
	}
	for kind, want := range map[string]string{
		"Service": "services", "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "PriorityClass": "priorityclasses",
		"Gateway": "gateways", "ConsoleYAMLSample": "consoleyamlsamples",
	} {
		if got := scope.Plural(kind); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// A rule that expands to billions of permissions is refused at once.
func TestCheckHugeRule(t *testing.T) {
	many := make([]string, 5000)
	for i := range many {
		many[i] = strings.Repeat("x", i%7+1)
	}
	p := &plan{}
	p.read(strings.Fields("group ops/g scoped"))
	p.read(strings.Fields("account ops/scoped"))
	p.read(strings.Fields("clusterrole all *:*:*"))
	p.read(strings.Fields("bind - ClusterRole/all ops/scoped"))
	p.read(strings.Fields("new ClusterRole clusterroles.rbac.authorization.k8s.io c"))
	p.steps[0].Rules = []scope.PolicyRule{{Verbs: many, APIGroups: many, Resources: many, ResourceNames: many}}
	if err := scope.Check(p.groups, "ops", p.accounts, &p.access, p.steps); err != nil {
		t.Errorf("who may do anything may escalate: %v", err)
	}
	p.access.Roles[0].Rules[0].Verbs = []string{"create"}
	err := scope.Check(p.groups, "ops", p.accounts, &p.access, p.steps)
	if err == nil || !strings.Contains(err.Error(), "more than 65536 permissions") {
		t.Errorf("%v", err)
	}
}
