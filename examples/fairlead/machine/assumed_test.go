package machine

import (
	"strings"
	"testing"
)

// A program that reads the prediction is told what it takes for granted, as people are; nothing is taken for
// granted of budgets that are in several namespaces.
func TestAssumed(t *testing.T) {
	const nodes = `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	const pods = `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"x"}},{"metadata":{"name":"p","namespace":"y"}}]}`
	budget := func(namespace string) string { return `{"metadata":{"name":"b","namespace":"` + namespace + `"}}` }
	for budgets, assumed := range map[string]bool{budget("x"): true, budget("x") + "," + budget("y"): false} {
		var out, errs strings.Builder
		in := nodes + "\n" + pods + "\n" + `{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[` + budgets + `]}`
		Drain().Program("fairlead drain")(t.Context(), []string{"-", "-node", "a", "-o", "json"}, strings.NewReader(in), &out, &errs)
		if is := strings.Contains(out.String(), `"assumed": "the disruption budgets of the input, all of namespace x, are all of the cluster"`); is != assumed || out.Len() == 0 {
			t.Errorf("%s: assumed %t, want %t: %s%s", budgets, is, assumed, out.String(), errs.String())
		}
	}
}
