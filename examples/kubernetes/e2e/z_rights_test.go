package e2e_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// unusedRights are permissions that no test uses, by file: the kinds of objects that bundles may bring,
// and those here do not (extensions write them by the same code as the others); the guards of etcd
// members, which only OpenShift has.
var unusedRights = map[string][]string{"rbac-operators.yaml": {"list */*"}, "rbac-quorum.yaml": {"delete /pods"}, "rbac-extensions.yaml": slices.Concat(
	[]string{"list */*", "list cert-manager.io/issuers", "list cert-manager.io/certificates"},
	written("/configmaps", "/secrets", "rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/rolebindings",
		"admissionregistration.k8s.io/validatingwebhookconfigurations", "admissionregistration.k8s.io/mutatingwebhookconfigurations",
		"cert-manager.io/issuers", "cert-manager.io/certificates"),
)}

// written returns the permissions to write some resources.
func written(resources ...string) (rights []string) {
	for _, what := range resources {
		for _, verb := range []string{"get", "create", "patch", "delete"} {
			rights = append(rights, verb+" "+what)
		}
	}
	return rights
}

// inMemory are files that no test here installs: what is requested with them is compared in the tests of
// packages, on a server in memory (budget.Server.Rights), or has no test of its own.
var inMemory = []string{"rbac-fleet.yaml", "rbac-controlplane.yaml", "rbac-fleet-clusterapi.yaml", "rbac-machines-clusterapi.yaml", "rbac-operators-limited.yaml"}

// TestRightsOfAll runs after all other tests: what the files of package config permit is what the
// operator has used in one of those that installed them.
func TestRightsOfAll(t *testing.T) {
	if run := flag.Lookup("test.run").Value.String(); run != "" && run != "." {
		t.Skip("it needs what all tests use, and not all run")
	}
	cluster.ProgramForTest(t, "kube-apiserver") // all others are skipped without it
	uses.Lock()
	defer uses.Unlock()
	for _, file := range configFiles(t) {
		used := uses.by[file]
		if used == nil && slices.Contains(inMemory, file) {
			continue
		}
		if used == nil {
			t.Errorf("no test installs %s", file)
			continue
		}
		_, granted := granting(t, file)
		var unused []string
		for _, right := range slices.Sorted(maps.Keys(granted)) {
			verb, what, _ := strings.Cut(right, " ")
			switch {
			case used[right], strings.HasSuffix(what, "events.k8s.io/events"): // whether a wait is reported depends on its length
			case verb == "list" && used["watch "+what]: // a watch includes a list where the server sends the present state in it
			case verb == "create" && used["patch "+what]: // an apply that creates an object needs it, and is a patch
			case verb == "escalate" || verb == "bind": // conditions of writing roles and bindings, and no requests of their own
			case slices.Contains(unusedRights[file], right):
			default:
				unused = append(unused, right)
			}
		}
		if len(unused) > 0 {
			t.Errorf("%s permits what no test uses: %s", file, strings.Join(unused, ", "))
		}
	}
}
