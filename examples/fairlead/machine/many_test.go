package machine

import (
	"fmt"
	"strings"
	"testing"
)

// crowd is a dump of n machines that are being deleted, each with a node and five pods
// that one budget selects, which never allows an eviction; every third node is empty.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("{kind: Node, metadata: {name: spare}, status: {allocatable: {cpu: \"64\", pods: \"500\"}}}\n")
	for i := range n {
		fmt.Fprintf(&b, `---
{kind: Node, metadata: {name: n%02d}, spec: {providerID: "cloud://%[1]d"}}
---
{kind: Machine, apiVersion: machine.openshift.io/v1beta1, metadata: {name: m%02[1]d, namespace: api, deletionTimestamp: "2026-03-01T11:00:00Z", finalizers: [machine.machine.openshift.io]}, spec: {providerID: "cloud://%[1]d"}, status: {phase: Deleting, nodeRef: {name: n%02[1]d}}}
---
{kind: PodDisruptionBudget, apiVersion: policy/v1, metadata: {name: b%02[1]d, namespace: shop}, spec: {minAvailable: 5, selector: {matchLabels: {app: "a%[1]d"}}}, status: {currentHealthy: %[2]d, desiredHealthy: 5, expectedPods: 5, disruptionsAllowed: %[3]d}}
`, i, 5+i%2, i%2)
		for j := range 5 {
			if i%3 > 0 {
				fmt.Fprintf(&b, `---
{kind: Pod, metadata: {name: p%02d-%d, namespace: shop, uid: "p%[1]d-%[2]d", labels: {app: "a%[1]d"}, ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]}, spec: {nodeName: n%02[1]d}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
`, i, j)
			}
		}
	}
	return b.String()
}

// For many machines the output groups what blocks them; -v shows all machines, and a name one.
func TestManyMachines(t *testing.T) {
	dump := crowd(36)
	for _, tt := range []struct {
		command string
		lines   int // at most
		has     []string
		lacks   []string
	}{
		{"explain -", 150, []string{"36 machines, 36 of them blocked", "InstanceGoing of the cloud: api/m00, api/m03, api/m06 and 9 more", "BudgetNever of PodDisruptionBudget shop/b02: api/m02", "and 15 more causes", "also     shop/p02-1, shop/p02-2, shop/p02-3, shop/p02-4", "26 more machines; -v shows each"}, []string{"machine api/m10", "machine api/m35"}},
		{"explain - -v", 900, []string{"machine api/m00", "machine api/m35"}, []string{"more machines"}},
		{"explain - -machine m35 -machine m01", 70, []string{"machine api/m35", "machine api/m01", "evict pod shop/p01-0"}, []string{"m02"}},
		{"drain -", 152, []string{"node n00: nothing to do", "  shop/p02-0, shop/p02-1, shop/p02-2 and 2 more: stuck: BudgetNever: shop/b02", "  0 pods evicted, 0 left alone; -v lists them"}, []string{"p01-0"}},
		{"drain - -v", 400, []string{"  shop/p01-0  round 1"}, []string{"-v lists"}},
		{"drain - -node n01", 15, []string{"  shop/p01-0  round 1"}, []string{"n02"}},
	} {
		got, errs, _ := run(t, append(strings.Fields(tt.command), "-A", "-at", "2026-03-01T12:00:00Z"), dump)
		if errs != "" && !strings.HasPrefix(errs, "note: ages count from") {
			t.Fatal(errs)
		}
		for _, text := range tt.has {
			if !strings.Contains(got, text) {
				t.Errorf("%s does not say %q:\n%s", tt.command, text, got)
			}
		}
		for _, text := range tt.lacks {
			if strings.Contains(got, text) {
				t.Errorf("%s says %q:\n%s", tt.command, text, got)
			}
		}
		if n := strings.Count(got, "\n"); n > tt.lines {
			t.Errorf("%s: %d lines", tt.command, n)
		}
	}
}
