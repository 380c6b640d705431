package situation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

var rewrite = flag.Bool("update", false, "write the table of docs/plan.md")

// answersVariable names the program of cvo/testdata/reference: if it is set, the answers of
// the readiness checks are recorded again.
const answersVariable = "FAIRLEAD_ANSWERS"

const (
	besideFile = "testdata/beside/readiness.json" // what the readiness checks found, by situation
	besidePage = "../../../docs/plan.md"
)

// beside is a situation: the small cluster with some texts replaced.
type beside struct {
	name    string
	changes []string // in pairs
	goal    plan.Goal
	moves   []plan.Move // that the ClusterVersion does not tell
}

const (
	available = `  availableUpdates: [{version: 4.19.2, image: r@sha256:b}]`
	networkIs = "metadata: {name: network}\nstatus:\n  versions: [{name: operator, version: 4.18.1}]\n  conditions: "
	well      = `[{type: Available, status: "True"}, {type: Degraded, status: "False"}, {type: Upgradeable, status: "True"}]`
	retrieved = `  - {type: RetrievedUpdates, status: "True"}`
	lastPod   = "spec: {nodeName: worker-1, containers: [{name: c, resources: {requests: {cpu: \"3\"}}}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}"
	budgetIs  = "spec: {minAvailable: 1, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1, expectedPods: 2}"
)

// usual are the steps of the first situation.
var usual = []string{"update the cluster from 4.18.1 to 4.19.2", "restart the nodes of pool master into 4.19.2", "restart the nodes of pool worker into 4.19.2"}

// besides are the situations of docs/plan.md.
func besides() []beside {
	next := plan.Goal{Release: "4.19.2"}
	return []beside{
		{name: "nothing is in the way", goal: next},
		{name: "the update has a risk that applies", goal: next, changes: []string{
			available, `  availableUpdates: null
  conditionalUpdates: [{release: {version: 4.19.2, image: r@sha256:b}, risks: [{name: SlowDNS, message: Names are resolved late., url: "https://example.com", matchingRules: [{type: Always}]}],
    conditions: [{type: Recommended, status: "False", reason: SlowDNS, message: Names are resolved late.}]}]`,
		}},
		{name: "an administrator has not acknowledged what goes away", goal: next, changes: []string{
			"namespace: openshift-config-managed}, data: {}", "namespace: openshift-config-managed}, data: {ack-4.18-flow-api-removal-in-4.19: flow control v1beta3 goes away}",
			retrieved, retrieved + "\n" + `  - {type: Upgradeable, status: "False", reason: AdminAckRequired, message: flow control v1beta3 goes away}`,
		}},
		{name: "an operator of the release keeps the minor version", goal: next, changes: []string{
			networkIs + well, networkIs + `[{type: Available, status: "True"}, {type: Degraded, status: "False"}, {type: Upgradeable, status: "False", reason: OldPlugin, message: migrate the plugin first}]`,
			retrieved, retrieved + "\n" + `  - {type: Upgradeable, status: "False", reason: OldPlugin, message: "Cluster operator network should not be upgraded between minor versions: migrate the plugin first"}`,
		}},
		{name: "a budget never allows an eviction", goal: next, changes: []string{
			budgetIs, "spec: {minAvailable: 2, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0, expectedPods: 2}",
		}},
		{name: "a budget allows no eviction for the moment: one of two is not ready", goal: next, changes: []string{
			budgetIs, "spec: {minAvailable: 1, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 2}",
			"spec: {nodeName: worker-1, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}",
			"spec: {nodeName: worker-1, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"False\"}]}",
		}},
		{name: "a pod has no place while its node restarts", goal: next, changes: []string{
			"{cpu: 500m}", `{cpu: "3"}`,
			lastPod, lastPod + "\n" + `---
kind: Pod
apiVersion: v1
metadata: {name: db-2, namespace: shop, uid: db-2, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}
` + strings.Replace(lastPod, "worker-1", "worker-2", 1),
			"{currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1, expectedPods: 2}", "{currentHealthy: 3, desiredHealthy: 1, disruptionsAllowed: 2, expectedPods: 3}",
		}},
		{name: "a member of etcd does not answer", goal: next, changes: []string{
			"spec: {nodeName: master-2, containers: [{name: etcd}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}",
			"spec: {nodeName: master-2, containers: [{name: etcd}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"False\"}]}",
		}},
		{name: "a client asks for an API that goes away", goal: next, changes: []string{
			`status: {removedInRelease: "1.32", requestCount: 0}`,
			`status: {removedInRelease: "1.32", requestCount: 7, last24h: [{byNode: [{byUser: [{username: "system:serviceaccount:shop:crawler", byVerb: [{verb: get, requestCount: 7}], requestCount: 7}]}]}]}`,
		}},
		{name: "an installed operator supports 4.18 at most", goal: next, changes: []string{
			`{"properties": []}`, `{"properties": [{"type": "olm.maxOpenShiftVersion", "value": "4.18"}]}`,
			"olm.properties: '[]'", `olm.properties: '[{"type": "olm.maxOpenShiftVersion", "value": "4.18"}]'`,
		}},
		{name: "two minor versions with workers paused", goal: plan.Goal{Release: "4.20.3", PauseWorkers: true}, moves: []plan.Move{{From: "4.18.1", To: "4.19.2"}, {From: "4.19.2", To: "4.20.3"}}},
	}
}

// text is the situation as YAML.
func (b beside) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/beside/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for pair := range slices.Chunk(b.changes, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("%s: there is no %q", b.name, pair[0])
		}
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	return text
}

// TestBesideOthers checks the table of docs/plan.md: what other tools and a plan report to
// an administrator about a situation.
func TestBesideOthers(t *testing.T) {
	recorded := map[string]string{}
	if program := os.Getenv(answersVariable); program != "" {
		for _, b := range besides() {
			recorded[b.name] = b.ask(t, program)
		}
		text, err := json.MarshalIndent(recorded, "", "  ")
		if err == nil {
			err = os.WriteFile(besideFile, append(text, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(besideFile)
	if err == nil {
		err = json.Unmarshal(data, &recorded)
	}
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| situation | `oc adm upgrade recommend` | readiness checks | `fairlead plan` |\n|---|---|---|---|\n")
	for _, b := range besides() {
		s := situationOf(t, func(r *snapshot.Reader) error { return r.Stream(strings.NewReader(b.text(t)), b.name) })
		if recorded[b.name] == "" {
			t.Errorf("%s: the readiness checks were not asked", b.name)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", b.name, b.advice(s), recorded[b.name], b.plan(t, s))
	}
	page, err := os.ReadFile(besidePage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- table beside -->\n", "<!-- end of table -->"
	head, rest, ok := strings.Cut(string(page), begin)
	old, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table", besidePage)
	}
	if want := "\n" + table.String() + "\n"; old != want && *rewrite {
		if err := os.WriteFile(besidePage, []byte(head+begin+want+end+tail), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Errorf("%s says otherwise (go test ./examples/internal/situation -run Beside -update writes it):\n%s", besidePage, want)
	}
}

// advice is the output of fairlead update recommend for the goal, which is that of oc on
// recorded clusters.
func (b beside) advice(s *situation.Situation) string {
	a := cvo.Advise(s.Cluster, []cvo.Alert{}, nil)
	text := "nothing: it is not offered yet"
	for _, c := range a.Choices {
		switch {
		case c.Release.Version != b.goal.Release:
		case c.Blocked:
			text = "would be refused: " + strings.Join(c.Reasons, ", ")
		case c.Recommended == cvo.True:
			text = "recommended"
		default:
			text = "not recommended: " + strings.Join(c.Reasons, ", ")
		}
	}
	for _, f := range a.Concerns {
		text += "; " + f.Message
	}
	return text
}

// plan is the result of planning.
func (b beside) plan(t *testing.T, s *situation.Situation) string {
	t.Helper()
	if b.moves != nil {
		s.Moves = b.moves
	}
	goal := b.goal
	p, err := plan.Make(t.Context(), &s.Situation, &goal, nil)
	var none *plan.NoPlanError
	switch {
	case errors.As(err, &none):
		text := "no plan: " + strings.Join(none.Facts, "; ")
		for _, f := range none.Fixes {
			text += fmt.Sprintf("; what helps: %s (then %s)", strings.Join(f.Do, " and "), f.Result())
		}
		return text
	case err != nil:
		t.Fatalf("%s: %v", b.name, err)
	}
	var steps []string
	for i, step := range p.Steps {
		if n := len(p.Steps) - i; i > 0 && n == len(usual) && slices.EqualFunc(p.Steps[i:], usual, func(s plan.PlanStep, u string) bool { return s.String() == u }) {
			steps = append(steps, "and then those of the first row")
			break
		}
		steps = append(steps, fmt.Sprintf("%d. %s", i+1, step))
	}
	text := strings.Join(steps, ", ")
	for _, u := range p.Unseen {
		text += "; not seen: " + u.What
	}
	return text
}

// ask asks the reference's readiness checks, and returns what they found in a line.
func (b beside) ask(t *testing.T, program string) string {
	t.Helper()
	var items []json.RawMessage
	r := snapshot.Reader{Each: func(_ *snapshot.Ref, text []byte) { items = append(items, slices.Clone(text)) }}
	if err := r.Stream(strings.NewReader(b.text(t)), b.name); err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "readiness", "4.18.1", b.goal.Release)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return readinessLine(t, out)
}

// readinessLine formats the findings of the readiness checks as a line.
func readinessLine(t *testing.T, out []byte) string {
	t.Helper()
	type named struct {
		Name, Namespace, Resource, Reason string
		Package                           string
		Paused, Degraded                  bool
		Compatible                        *bool `json:"compatible_with_target"`
	}
	var r struct {
		Checks map[string]struct {
			Status         string `json:"_status"`
			Error          string `json:"_error"`
			Upgradeable    *struct{ Status, Reason string }
			NotUpgradeable []named `json:"not_upgradeable"`
			Degraded       []named
			NotAvailable   []named `json:"not_available"`
			Pools          []named `json:"machine_config_pools"`
			Blockers       []named `json:"blocker_apis"`
			Unschedulable  int     `json:"unschedulable_nodes"`
			Budgets        []named `json:"blocking_pdbs"`
			Healthy        int     `json:"healthy_members"`
			Total          int     `json:"total_members"`
			Operators      []named
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found []string
	list := func(what string, all []named, which func(named) string) {
		var names []string
		for _, n := range all {
			if name := which(n); name != "" {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			found = append(found, what+" "+strings.Join(names, ", "))
		}
	}
	for name, c := range r.Checks {
		if c.Status != "ok" {
			t.Errorf("the check %s failed: %s", name, c.Error)
		}
	}
	c := r.Checks["cluster_conditions"]
	if u := c.Upgradeable; u != nil && u.Status == string(fairlead.ConditionFalse) {
		found = append(found, "Upgradeable=False, "+u.Reason)
	}
	c = r.Checks["operator_health"]
	plain := func(n named) string { return n.Name }
	list("not upgradeable:", c.NotUpgradeable, plain)
	list("degraded:", c.Degraded, plain)
	list("not available:", c.NotAvailable, plain)
	list("paused:", c.Pools, func(n named) string {
		if n.Paused {
			return n.Name
		}
		return ""
	})
	list("APIs that block:", r.Checks["api_deprecations"].Blockers, func(n named) string { return n.Resource })
	list("budgets that block:", r.Checks["pdb_drain"].Budgets, func(n named) string { return n.Namespace + "/" + n.Name })
	if e := r.Checks["etcd_health"]; e.Healthy != e.Total {
		found = append(found, fmt.Sprintf("%d of %d members of etcd are ready", e.Healthy, e.Total))
	}
	list("operators that do not fit:", r.Checks["olm_operator_lifecycle"].Operators, func(n named) string {
		if n.Compatible != nil && !*n.Compatible {
			return n.Package
		}
		return ""
	})
	if len(found) == 0 {
		return "nothing"
	}
	return strings.Join(found, "; ")
}

// situationOf returns the situation in what a function reads.
func situationOf(t *testing.T, read func(*snapshot.Reader) error) *situation.Situation {
	t.Helper()
	var r snapshot.Reader
	err := read(&r)
	from, failed := r.Snapshot()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	s, err := situation.Of(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
