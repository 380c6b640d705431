package group_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// TestScripts runs the scenarios of testdata. A command applies to the first group
// or operator of its input, in which each line is one object:
//
//	group NS/NAME targets=(a,b) selector=KEY:VALUE where=KEY:OP:V1:V2 status=(a,b) apis=(K.v.g) static account=NAME
//	operator NS/NAME phase=P reason=R modes=(own,!all) owns=(K.v.g,service:K.v.g) note=KEY:VALUE from=NS
//	namespace NAME KEY:VALUE
//
// A status of "*" selects all namespaces; the default is what the spec selects.
// The commands:
//
//	targets              what the group selects
//	judge                what the groups mean for the operator
//	judge until=settled  the same for all operators in turn, with the resulting
//	                     annotations, until nothing changes
//	annotations, copies, sync, roles, grants, conditions   what is generated
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			w := parseWorld(t, c)
			switch c.Name {
			case "targets":
				got, err := w.groups[0].Targets(w.namespaces)
				if err != nil {
					return "error" + words.Data("Error", err.Error())
				}
				return fmt.Sprintf("%q", []string(got))
			case "judge":
				if c.Has("until") {
					return w.settle()
				}
				return printVerdict(group.Evaluate(&w.operators[0], w.groups), words)
			case "annotations":
				return pairs(w.groups[0].MemberAnnotations(&w.operators[0]))
			case "copies":
				return w.copies(c, words)
			case "sync":
				return w.sync()
			case "roles":
				return w.roles()
			case "grants":
				return w.grants()
			case "conditions":
				return w.conditions(c, words)
			}
			t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
			return ""
		}
	})
}

type world struct {
	groups     []group.OperatorGroup
	operators  []group.Operator
	namespaces []group.ObjectMeta
}

func parseWorld(t *testing.T, c *golden.Command) *world {
	w := &world{}
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "group":
			w.groups = append(w.groups, parseGroup(words[1:]))
		case "operator":
			w.operators = append(w.operators, parseOperator(words[1:]))
		case "namespace":
			w.namespaces = append(w.namespaces, group.ObjectMeta{Name: words[1], Labels: labels(words[2:])})
		default:
			t.Fatalf("%s: no such object: %s", c.Pos, line)
		}
	}
	for i := range w.groups {
		if w.groups[i].Status.Namespaces == nil {
			w.groups[i].Status.Namespaces, _ = w.groups[i].Targets(w.namespaces)
		}
	}
	return w
}

func values(word string) (key string, list []string) {
	key, value, _ := strings.Cut(word, "=")
	value = strings.Trim(value, "()")
	if value == "*" {
		return key, []string{""}
	}
	return key, strings.Split(value, ",")
}

func labels(words []string) map[string]string {
	m := map[string]string{}
	for _, word := range words {
		k, v, _ := strings.Cut(word, ":")
		m[k] = v
	}
	return m
}

func meta(name string) group.ObjectMeta {
	ns, n, _ := strings.Cut(name, "/")
	return group.ObjectMeta{Namespace: ns, Name: n, Annotations: map[string]string{}, Labels: map[string]string{}}
}

func parseGroup(words []string) group.OperatorGroup {
	made := group.OperatorGroup{ObjectMeta: meta(words[0])}
	for _, word := range words[1:] {
		switch key, list := values(word); key {
		case "targets":
			made.Spec.TargetNamespaces = list
		case "selector":
			made.Spec.Selector = &group.LabelSelector{MatchLabels: labels(list)}
		case "where":
			parts := strings.Split(list[0], ":")
			made.Spec.Selector = &group.LabelSelector{MatchExpressions: []fairlead.SelectorRequirement{
				{Key: parts[0], Operator: fairlead.SelectorOperator(parts[1]), Values: parts[2:]}}}
		case "status":
			made.Status.Namespaces = list
		case "apis":
			made.Annotations[group.ProvidedAPIsAnnotation] = strings.Join(list, ",")
		case "static":
			made.Spec.StaticProvidedAPIs = true
		case "account":
			made.Spec.ServiceAccountName = list[0]
		case "condition":
			made.Status.Conditions = append(made.Status.Conditions, group.Condition{
				Type: list[0], Status: "True", LastTransitionTime: time.Unix(100, 0).UTC()})
		}
	}
	return made
}

func parseOperator(words []string) group.Operator {
	made := group.Operator{ObjectMeta: meta(words[0]), InstallModes: modes("own single multi all")}
	for _, word := range words[1:] {
		switch key, list := values(word); key {
		case "phase":
			made.Phase = list[0]
		case "reason":
			made.Reason = group.Reason(list[0])
		case "modes":
			made.InstallModes = modes(strings.Join(list, " "))
		case "note":
			maps.Copy(made.Annotations, labels(list))
		case "from":
			made.Labels[group.CopiedFromLabel] = list[0]
		case "owns":
			for _, text := range list {
				text, service := strings.CutPrefix(text, "service:")
				api, _ := group.ParseAPI(text)
				made.Owned = append(made.Owned, group.Owned{API: api, Plural: strings.ToLower(api.Kind) + "s", Service: service})
			}
		}
	}
	return made
}

func printVerdict(v group.Verdict, words *golden.Words) string {
	var b strings.Builder
	if v.Group != nil {
		fmt.Fprintf(&b, "group %s", v.Group.ObjectMeta)
		if v.Relation != "" {
			fmt.Fprintf(&b, ", %s", v.Relation)
		}
		b.WriteString("\n")
	}
	if v.Phase != "" {
		fmt.Fprintf(&b, "phase %s %s\n", v.Phase, v.Reason)
	}
	if data := words.Data(string(v.Reason), v.Message); data != "" {
		fmt.Fprintf(&b, " %s\n", data)
	}
	if v.CleanUp {
		b.WriteString("delete its deployments\n")
	}
	if v.Annotate {
		fmt.Fprintf(&b, "annotate %q\n", v.Annotation)
	}
	if b.Len() == 0 {
		return "left alone"
	}
	return b.String()
}

func (w *world) settle() string {
	var b strings.Builder
	for round := 1; ; round++ {
		if round > 20 {
			return b.String() + "does not settle"
		}
		changed := false
		for i := range w.operators {
			op := &w.operators[i]
			v := group.Evaluate(op, w.groups)
			if v.Annotate {
				v.Group.Annotations[group.ProvidedAPIsAnnotation] = v.Annotation.String()
				changed = true
			}
			if v.Phase != "" && (op.Phase != v.Phase || op.Reason != v.Reason) {
				op.Phase, op.Reason = v.Phase, v.Reason
				fmt.Fprintf(&b, "round %d: %s %s %s\n", round, op.ObjectMeta, v.Phase, v.Reason)
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	for i := range w.groups {
		fmt.Fprintf(&b, "%s provides %q\n", w.groups[i].ObjectMeta, w.groups[i].Provided())
	}
	return b.String()
}

func pairs(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s=%s\n", k, m[k])
	}
	return b.String()
}

func (w *world) copies(c *golden.Command, words *golden.Words) string {
	var g *group.OperatorGroup
	if len(w.groups) > 0 {
		g = &w.groups[0]
	}
	opts := &group.CopyOptions{Disabled: c.Has("disabled"), Namespace: c.Value("keep")}
	done := g.Copies(&w.operators[0], w.namespaces, w.operators[1:], opts)
	var b strings.Builder
	for _, part := range []struct {
		verb string
		list []group.Operator
	}{{"create", done.Create}, {"update", done.Update}, {"delete", done.Delete}} {
		for _, op := range part.list {
			fmt.Fprintf(&b, "%s %s %s %s: %s", part.verb, op.ObjectMeta, op.Phase, op.Reason, strings.ReplaceAll(pairs(op.Annotations), "\n", " "))
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(strings.ReplaceAll(pairs(op.Labels), "\n", " ")))
		}
	}
	if done.Event != "" {
		fmt.Fprintln(&b, "event"+words.Data("Event", done.Event))
	}
	if b.Len() == 0 {
		return "nothing to do"
	}
	return b.String()
}

func (w *world) sync() string {
	s := w.groups[0].Sync(w.operators)
	var b strings.Builder
	fmt.Fprintf(&b, "provides %q, removed %q\n", s.Annotation, s.Removed)
	for _, op := range s.Again {
		fmt.Fprintf(&b, "judge again %s\n", op.ObjectMeta)
	}
	return b.String()
}

func (w *world) roles() string {
	var roles []group.ClusterRole
	if len(w.groups) > 0 {
		roles = w.groups[0].ClusterRoles()
	} else {
		roles = w.operators[0].ClusterRoles()
	}
	var b strings.Builder
	for _, r := range roles {
		fmt.Fprintf(&b, "%s\n", r.Name)
		for _, rule := range r.Rules {
			fmt.Fprintf(&b, "  %s on %s of %s %s\n", rule.Verbs, rule.Resources, rule.APIGroups, rule.ResourceNames)
		}
		for _, label := range strings.Fields(pairs(r.Labels)) {
			fmt.Fprintf(&b, "  label %s\n", label)
		}
		if r.AggregationRule != nil {
			for _, s := range r.AggregationRule.ClusterRoleSelectors {
				fmt.Fprintf(&b, "  takes in %s", pairs(s.MatchLabels))
			}
		}
	}
	return b.String()
}

func (w *world) grants() string {
	var b strings.Builder
	for _, grant := range w.groups[0].Grants(&w.operators[0], []group.Permission{
		{ServiceAccountName: "worker", Rules: []group.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}},
		{ServiceAccountName: "auditor", Rules: []group.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}}},
	}) {
		fmt.Fprintf(&b, "%q to %s: %s of %s\n", grant.Namespace, grant.Account, grant.Rules[0].Verbs, grant.Role.Labels)
	}
	return b.String()
}

func (w *world) conditions(c *golden.Command, words *golden.Words) string {
	var b strings.Builder
	for _, cond := range w.groups[0].Conditions(w.groups, c.Values("accounts"), time.Unix(200, 0).UTC()) {
		fmt.Fprintf(&b, "%s %s since %d %s%s\n", cond.Type, cond.Status, cond.LastTransitionTime.Unix(), cond.Reason, words.Data(cond.Type+" "+cond.Reason, cond.Message))
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}
