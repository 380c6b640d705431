package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// What is not known of a kind is told with the command that lists all of it.
func TestMissing(t *testing.T) {
	const get = ": kubectl get pods -A -o yaml"
	refused := snapshot.Gap{Where: fairlead.Position{File: "pods"}, Why: "forbidden", Permission: "list pods"}
	for _, c := range []struct {
		scope snapshot.Scope
		want  string
	}{
		{snapshot.Scope{}, "the pods" + get},
		{snapshot.Scope{All: true}, ""},
		{snapshot.Scope{All: true, Assumed: true}, ""},
		{snapshot.Scope{Namespaces: []string{"a"}}, "the pods outside of namespace a" + get},
		{snapshot.Scope{Namespaces: []string{"a", "b"}, Names: []string{"c/x"}}, "the pods outside of namespaces a and b" + get},
		{snapshot.Scope{Names: []string{"c/x"}}, "the pods other than c/x" + get},
		{snapshot.Scope{Gaps: []snapshot.Gap{refused}}, "the pods (pods: forbidden; it takes the permission to list pods)" + get},
		{snapshot.Scope{All: true, Gaps: []snapshot.Gap{refused}}, "some of the pods (pods: forbidden; it takes the permission to list pods)" + get},
	} {
		s := snapshot.Snapshot{}
		s.Pods.Scope = c.scope
		got := ""
		for _, g := range s.Missing("Pod") {
			got = g.What + ": " + g.How
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.scope.String(), got, c.want)
		}
	}
}

// An object whose spec or status cannot be read is kept, and leaves its kind known in part; a kind
// of which nothing was looked at is missing, and not known in part.
func TestPartly(t *testing.T) {
	for field, partly := range map[string]int{"spec": 1, "status": 1, "extra": 0} {
		var r snapshot.Reader
		text := `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x"}},{"metadata":{"name":"b","namespace":"x"},"` + field + `":"text"}]}`
		if err := r.Stream(strings.NewReader(text), "-"); err != nil {
			t.Fatal(err)
		}
		r.Listed("Pod")
		s, err := r.Snapshot()
		if err != nil || len(s.Pods.Known()) != 2 || len(s.Partly("Pod")) != partly || len(s.Missing("Pod")) != partly {
			t.Errorf("%s: %v, %d pods, known in part: %v", field, err, len(s.Pods.Known()), s.Partly("Pod"))
		}
		if len(s.Partly("Node")) != 0 || len(s.Missing("Node")) != 1 {
			t.Errorf("nodes: in part %v, missing %v", s.Partly("Node"), s.Missing("Node"))
		}
	}
}

// A list does not say which namespace it was asked for. Pods of one namespace are those of that
// namespace, and so is what else is of that namespace alone; no pods at all are those of nobody knows
// which. So are budgets of one namespace beside all pods.
func TestNamespaceOfList(t *testing.T) {
	list := func(kind string, namespaces ...string) string {
		var items []string
		for i, n := range namespaces {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"o%d","namespace":%q}}`, i, n))
		}
		return fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","items":[%s]}`, kind, strings.Join(items, ",")) + "\n"
	}
	for _, c := range []struct {
		text          string
		all           bool
		pods, budgets string
	}{
		{list("PodList", "a", "a") + list("PodDisruptionBudgetList", "a"), false, "namespaces a", "namespaces a"},
		{list("PodList", "a", "a") + list("PodDisruptionBudgetList"), false, "namespaces a", "namespaces a"},
		{list("PodList", "a") + list("PodDisruptionBudgetList", "b"), false, "namespaces a", "namespaces b"},
		{list("PodList", "a", "b") + list("PodDisruptionBudgetList", "b") + list("RoleList", "a") + list("ServiceList", "b"), false, "all", "namespaces b"},
		{list("PodList", "a", "b") + list("PodDisruptionBudgetList", "b") + list("ServiceList", "a"), false, "all", "all, as assumed"},
		{list("PodList", "a", "b") + list("PodDisruptionBudgetList", "b"), false, "all", "namespaces b"},
		{list("PodList", "a", "b") + list("PodDisruptionBudgetList"), false, "all", "all, as assumed"},
		{list("PodList", "a") + list("PodDisruptionBudgetList", "a"), true, "all, as assumed", "all, as assumed"},
		{list("PodList") + list("PodDisruptionBudgetList"), false, "nothing", "nothing"},
		{list("PodList") + list("PodDisruptionBudgetList"), true, "all, as assumed", "all, as assumed"},
		{list("PodList", "a") + list("PodList", "b") + list("PodDisruptionBudgetList", "b"), false, "namespaces a, b", "namespaces b"},
		{list("PodList", "a") + list("PodList", "b") + list("PodDisruptionBudgetList"), false, "namespaces a, b", "nothing"},
		{list("PodList", "a") + list("PodList", "b", "c") + list("PodDisruptionBudgetList"), false, "all", "all, as assumed"},
		{list("PodDisruptionBudgetList", "a"), false, "nothing", "namespaces a"},
		{list("PodDisruptionBudgetList"), false, "nothing", "nothing"},
		{list("PodDisruptionBudgetList", "a", "b"), false, "nothing", "all"},
		{list("PodDisruptionBudgetList") + list("ServiceList", "a"), false, "nothing", "namespaces a"},
		{list("PodDisruptionBudgetList") + list("ServiceList", "a", "b"), false, "nothing", "all, as assumed"},
	} {
		r := snapshot.Reader{Everywhere: c.all}
		if err := r.Stream(strings.NewReader(c.text), "-"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil || s.Pods.Scope.String() != c.pods || s.Budgets.Scope.String() != c.budgets {
			t.Errorf("%s%v: pods: %s, budgets: %s, want %s, %s (%v)", c.text, c.all, s.Pods.Scope.String(), s.Budgets.Scope.String(), c.pods, c.budgets, err)
		}
	}
}

// What is known for sure is not taken back because the pods are of one namespace, and neither is what was
// listed everywhere because it was also listed in one; pods without a namespace do not say which it is.
func TestKnownStays(t *testing.T) {
	read := func(text string, listed func(r *snapshot.Reader)) *snapshot.Snapshot {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(text), "-"); err != nil {
			t.Fatal(err)
		}
		listed(&r)
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const pods = `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"a"}}]}`
	const budgets = `{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[{"metadata":{"name":"b","namespace":"a"}}]}`
	s := read(pods+"\n"+budgets, func(r *snapshot.Reader) { r.Listed("PodDisruptionBudget") })
	if got := s.Budgets.Scope.String(); got != "all" {
		t.Errorf("budgets: %s", got)
	}
	s = read(pods+"\n"+budgets, func(r *snapshot.Reader) { r.Listed("Pod"); r.Listed("Pod", "a") })
	if got := s.Pods.Scope.String(); got != "all" {
		t.Errorf("pods: %s", got)
	}
	if got := s.Narrowed(); got != "the disruption budgets" {
		t.Errorf("narrowed beside all pods: %q", got)
	}
	s = read(pods+"\n"+strings.ReplaceAll(budgets, `"a"`, `"b"`), func(*snapshot.Reader) {})
	if got := s.Narrowed(); got != "the pods and disruption budgets" {
		t.Errorf("narrowed beside some pods: %q", got)
	}
	s.Pods.Scope, s.Budgets.Scope = snapshot.Scope{Namespaces: []string{"a"}}, snapshot.Scope{Namespaces: []string{"b"}}
	if got := s.Missing("Pod", "PodDisruptionBudget"); len(got) != 2 {
		t.Errorf("missing of two namespaces: %v", got)
	}
	const services = `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"s","namespace":"b"}}]}`
	const all = `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"a"}},{"metadata":{"name":"p","namespace":"b"}}]}`
	s = read(all+"\n"+budgets+"\n"+services, func(r *snapshot.Reader) { r.Listed("PodDisruptionBudget") })
	if got := s.Services.Scope.String(); got != "namespaces b" || s.Budgets.Scope.String() != "all" {
		t.Errorf("services, beside budgets of another namespace that are all there are: %s, %s", got, s.Budgets.Scope.String())
	}
	const none = `{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[]}`
	s = read(pods+"\n"+none, func(r *snapshot.Reader) { r.Listed("Pod") })
	if got := s.Budgets.Scope.String(); got != "all, as assumed" {
		t.Errorf("no budgets beside all pods, which are of one namespace: %s", got)
	}
	s = read(`{"kind":"PodList","apiVersion":"v1","items":[]}`+"\n"+budgets, func(r *snapshot.Reader) { r.Listed("PodDisruptionBudget", "a") })
	if got := s.Narrowed(); got != "" {
		t.Errorf("narrowed, of what was asked for in one namespace, and of no pods: %q", got)
	}
	s = read(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`+"\n"+`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"}}`, func(*snapshot.Reader) {})
	if got := s.Pods.Scope.String(); got != "all, as assumed" {
		t.Errorf("pods without a namespace: %s", got)
	}
}

// The Machine API of OpenShift has one namespace, so its objects there are all; others of one namespace may
// have more elsewhere.
func TestMachinesAtHome(t *testing.T) {
	for _, c := range []struct{ namespace, want string }{{"openshift-machine-api", "all, as assumed"}, {"fleet", "namespaces fleet"}} {
		var r snapshot.Reader
		for _, kind := range []string{"Machine", "MachineSet", "MachineHealthCheck"} {
			text := fmt.Sprintf(`{"kind":"%sList","apiVersion":"machine.openshift.io/v1beta1","items":[{"apiVersion":"machine.openshift.io/v1beta1","kind":%q,"metadata":{"name":"m","namespace":%q}}]}`, kind, kind, c.namespace)
			if err := r.Stream(strings.NewReader(text), kind); err != nil {
				t.Fatal(err)
			}
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for kind, scope := range map[string]*snapshot.Scope{"Machine": &s.Machines.Scope, "MachineSet": &s.MachineSets.Scope, "MachineHealthCheck": &s.HealthChecks.Scope} {
			if got := scope.String(); got != c.want {
				t.Errorf("%s in %s: %s, want %s", kind, c.namespace, got, c.want)
			}
		}
	}
}
