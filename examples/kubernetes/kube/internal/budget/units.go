package budget

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	ctrl "sigs.k8s.io/controller-runtime"
)

var update = flag.Bool("update", false, "write the figures into the README of the module")

// readme has a table of what tests of packages below kube count.
const readme = "../../README.md"

// stateNamespace is where the states of [Store] are.
const stateNamespace = "fairlead"

// Store returns a store whose records are on the manager's server, so that its requests count, as
// operators have it.
func Store(mgr ctrl.Manager, name string) (fairlead.Store, error) {
	c, err := kube.Direct(mgr)
	if err != nil {
		return nil, err
	}
	s, err := kube.NewStore(c, stateNamespace, name)
	if err != nil {
		return nil, err
	}
	return kube.NewCached(s).ListFirst(), nil
}

// counted names a request as the table has it: what is done to which kind.
func counted(r *http.Request, k *kind, namespace, sub string) string {
	switch {
	case strings.Contains(r.URL.Path, "/events"):
		return "events"
	case k == nil:
		return "reads of what there is not"
	case namespace == stateNamespace && k.gvk.Kind == "ConfigMap" && r.Method == http.MethodGet:
		return "reads of states"
	case namespace == stateNamespace && k.gvk.Kind == "ConfigMap":
		return "states"
	}
	what := k.gvk.Kind
	if sub != "" {
		what += "/" + sub
	}
	verb := map[string]string{http.MethodGet: "read", http.MethodPut: "write", http.MethodPatch: "write", http.MethodPost: "create", http.MethodDelete: "delete"}[r.Method]
	if r.Method == http.MethodPost && sub != "" {
		verb = "create"
	}
	if applies(r) {
		verb = "apply"
	}
	return verb + " " + what
}

// figures returns the row of the table for a unit of work.
func figures(unit string, all []string) string {
	total, writes, reads := 0, 0, 0
	made := map[string]int{}
	for _, what := range all {
		made[what]++
	}
	var parts []string
	for _, what := range slices.SortedFunc(maps.Keys(made), func(x, y string) int { return cmp.Or(made[y]-made[x], strings.Compare(x, y)) }) {
		n := made[what]
		total += n
		if strings.HasPrefix(what, "read") {
			reads += n
		} else {
			writes += n
		}
		parts = append(parts, fmt.Sprintf("%s %d", what, n))
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %s |", unit, total, writes, reads, strings.Join(parts, ", "))
}

// tell compares the requests for a unit of work with its row in the README, or writes it there.
func tell(t *testing.T, unit string, made []string) {
	t.Helper()
	t.Logf("%s: %s", unit, strings.Join(made, ", "))
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	row := figures(unit, made)
	lines := strings.Split(string(data), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+unit+" | ") })
	switch {
	case i < 0:
		t.Errorf("the README has no row for this; add it to the table of requests:\n%s", row)
	case !*update && near(lines[i], len(made)):
	case *update:
		lines[i] = row
		if err := os.WriteFile(readme, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the README has other figures; with -update they are written:\n%s\n%s", row, lines[i])
	}
}

// near reports whether a row tells about so many requests: how many passes there are depends on when
// events come, which takes long on a busy machine; a cache that is behind costs passes that are refused.
func near(row string, made int) bool {
	told, err := strconv.Atoi(strings.TrimSpace(strings.Split(row, "|")[2]))
	return err == nil && made >= told/2 && made <= told+max(4, told/2)
}
