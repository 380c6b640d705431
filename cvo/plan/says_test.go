package plan_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
)

// tasks lists the tasks of a plan.
func tasks(p *plan.Plan) (kinds []string, commands string) {
	for _, s := range p.Steps {
		for _, t := range append(append([]plan.Task{}, s.First...), s.Then...) {
			kinds, commands = append(kinds, string(t.Kind)), commands+t.Command+"\n"
		}
		commands += s.Command + "\n"
	}
	return kinds, commands
}

func made(t *testing.T, q *question) (*plan.Plan, *plan.NoPlanError) {
	t.Helper()
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	var no *plan.NoPlanError
	if err != nil && !errors.As(err, &no) {
		t.Fatal(err)
	}
	if p != nil {
		if err := plan.CheckCommands(q.s, p); err != nil {
			t.Errorf("%v\n%v", err, p)
		}
		if err := plan.Check(t.Context(), q.s, q.goal, q.policy, p); err != nil {
			t.Error(err)
		}
	}
	return p, no
}

// A release that was refused for its signature is planned with the signature; one that was
// refused for anything else is not.
func TestRefusedRelease(t *testing.T) {
	refuse := func(message string) *question {
		q := newQuestion()
		q.goal.Release = "4.18.9"
		image := "quay.io/r@sha256:" + strings.Repeat("ab", 32)
		q.s.Cluster.Status.AvailableUpdates = []cvo.Release{{Version: "4.18.9", Image: image}}
		q.s.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.9", Image: image}
		q.s.Cluster.Status.Conditions = append(q.s.Cluster.Status.Conditions, fairlead.Condition{Type: "ReleaseAccepted", Status: fairlead.ConditionFalse, Reason: "RetrievePayload", Message: message})
		return q
	}
	p, no := made(t, refuse(`Retrieving payload failed version="4.18.9" image="x" failure=The update cannot be verified: unable to verify sha256:ab against keyrings`))
	if no != nil {
		t.Fatal(no)
	}
	if kinds, commands := tasks(p); kinds[0] != string(plan.ProvideSignature) || !strings.Contains(commands, "sha256="+strings.Repeat("ab", 32)+"/signature-1") {
		t.Errorf("%v\n%s", kinds, commands)
	}
	if _, no := made(t, refuse(`Retrieving payload failed version="4.18.9" image="x" failure=Unable to download and prepare the update: deadline exceeded`)); no == nil || no.Reasons[0] != (plan.Fact{Reason: plan.FactRefused, Subject: "4.18.9"}) {
		t.Errorf("%v", no)
	}
}

// Overrides forbid every update before 4.22, and another minor version from then on.
func TestOverridesByRelease(t *testing.T) {
	for version, blocked := range map[string]bool{"4.21.1": true, "4.22.1": false} {
		q := newQuestion()
		to := strings.TrimSuffix(version, "1") + "9"
		q.s.Cluster.Status.Desired.Version, q.goal.Release = version, to
		q.s.Moves = []plan.Move{{From: version, To: to}}
		q.s.Cluster.Spec.Overrides = []payload.Override{{Kind: "Deployment", Namespace: "openshift-dns", Name: "dns-operator", Unmanaged: true}, {Kind: "ConfigMap", Namespace: "a", Name: "b", Unmanaged: true}}
		_, no := made(t, q)
		if blocked != (no != nil) {
			t.Errorf("%s: %v", version, no)
		}
		if no != nil && (!strings.Contains(no.Facts[0], "openshift-dns/dns-operator") || !strings.Contains(no.Facts[0], "a/b") || !strings.Contains(no.Error(), `[{"op":"remove","path":"/spec/overrides"}]`)) {
			t.Error(no)
		}
	}
}

// The channel is changed where the release is not in it, to one that leads furthest.
func TestChannels(t *testing.T) {
	q := newQuestion()
	q.s.Cluster.Spec.Channel = "stable-4.18"
	q.s.Channels = map[string][]string{
		"4.18.1": {"stable-4.18", "stable-4.19", "eus-4.20"}, "4.19.4": {"candidate-4.19", "stable-4.19", "eus-4.20", "stable-4.20"}, "4.19.7": {"stable-4.19"},
		"4.20.2": {"eus-4.20", "stable-4.20"},
	}
	p, no := made(t, q)
	if no != nil {
		t.Fatal(no)
	}
	if _, commands := tasks(p); strings.Count(commands, "oc adm upgrade channel") != 1 || !strings.Contains(commands, "oc adm upgrade channel eus-4.20\n") {
		t.Error(commands)
	}
}

// A risk that is accepted, or not known, needs oc's consent; MachineHealthChecks are paused
// and resumed; etcd is backed up once.
func TestTasks(t *testing.T) {
	q := newQuestion()
	q.s.Moves[0].Risks, q.s.Moves[1].Risks = []string{"SlowDNS"}, []string{"Other"}
	q.s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: fairlead.ConditionTrue}}
	q.policy.Accept = []string{"SlowDNS"}
	q.s.HealthChecks = []string{"openshift-machine-api/workers"}
	p, no := made(t, q)
	if no != nil {
		t.Fatal(no)
	}
	kinds, commands := tasks(p)
	if n := strings.Count(commands, "--allow-not-recommended"); n != 2 {
		t.Errorf("%d times:\n%s", n, commands)
	}
	if got := strings.Join(kinds, " "); got != "BackUpEtcd PauseHealthChecks LookAround ResumeHealthChecks" {
		t.Error(got)
	}
	var b strings.Builder
	if err := p.WriteScript(&b); err != nil || strings.Count(b.String(), "\ncheck ") < len(p.Steps) {
		t.Errorf("%v\n%s", err, b.String())
	}
	if sh, err := exec.LookPath("sh"); err == nil {
		cmd := exec.CommandContext(t.Context(), sh, "-n")
		cmd.Stdin = strings.NewReader(b.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, b.String())
		}
	}
}

// A subscription with automatic approval is not approved by anybody, unless the order of its
// hops matters: then it is made to wait first.
func TestAutomatic(t *testing.T) {
	q := newQuestion()
	q.s.Operators[0].Automatic = true
	p, _ := made(t, q)
	if _, commands := tasks(p); strings.Contains(commands, "installplan") || !strings.Contains(commands, "approves by itself") {
		t.Error(commands)
	}
	for _, line := range []string{"install broker 3", "csv queue.v2 requires broker >=3.0.0"} {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	q.s.Operators[1].Automatic = true
	p, no := made(t, q)
	if no != nil {
		t.Fatal(no)
	}
	kinds, commands := tasks(p)
	if got := strings.Join(kinds, " "); !strings.Contains(got, "SetManual") || !strings.Contains(got, "SetAutomatic") || !strings.Contains(commands, `installplan "$(oc -n shop get subscription broker`) {
		t.Errorf("%s\n%s", got, commands)
	}
}

// What OLM holds back does not move; an operator whose catalog is not known is not removed
// for it.
func TestHeldOperators(t *testing.T) {
	for reason, change := range map[plan.FactReason]func(*plan.Operator){
		plan.FactHeld:           func(o *plan.Operator) { o.Held = "migration: it moves its data" },
		plan.FactTrouble:        func(o *plan.Operator) { o.Trouble = "InstallPlanFailed: it cannot create clusterroles" },
		plan.FactCatalogUnknown: func(o *plan.Operator) { o.UpdatesUnknown, o.Updates = true, nil },
	} {
		q := newQuestion()
		change(&q.s.Operators[0])
		_, no := made(t, q)
		if no == nil {
			t.Errorf("%s: there is a plan", reason)
			continue
		}
		found := false
		for _, f := range no.Reasons {
			found = found || f.Reason == reason
		}
		if !found || reason == plan.FactCatalogUnknown && strings.Contains(no.Error(), "remove") {
			t.Errorf("%s: %v", reason, no)
		}
	}
}

// Without pools, or with pools of an unknown release, it is not known that nothing is to do.
func TestNothingToDo(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.1"
	if p, _ := made(t, q); !strings.Contains(p.String(), "already meets the goal") {
		t.Error(p)
	}
	q.s.Pools = nil
	if p, _ := made(t, q); len(p.Unseen) == 0 || strings.Contains(p.String(), "already meets the goal") {
		t.Error(p)
	}
}

// What nothing shows before earlier steps are done is not guessed: the gates and the operators of a
// release that does not run yet. What could be observed now, and was not, is.
func TestLater(t *testing.T) {
	q := newQuestion()
	s := q.s
	s.Moves = []plan.Move{{From: "4.18.1", To: "4.19.2"}, {From: "4.19.2", To: "4.20.3"}}
	s.Risks, s.Channels = []plan.Risk{}, map[string][]string{"4.18.1": {"c"}, "4.19.2": {"c"}, "4.20.3": {"c"}}
	s.Cluster.Spec.Channel, s.Gates, s.Members, s.Operators, s.Removed = "c", &cvo.AdminGates{}, []plan.Member{}, []plan.Operator{}, []plan.RemovedAPI{}
	q.goal.Release = "4.20.3"
	p, no := made(t, q)
	if p == nil || len(p.Unseen) != 2 || !p.Unseen[0].Later || !p.Unseen[1].Later || p.Guesses() {
		t.Fatalf("%v %+v", no, p)
	}
	s.Gates = nil
	if p, _ = made(t, q); p == nil || len(p.Unseen) != 3 || !p.Guesses() {
		t.Errorf("%+v", p)
	}
}

// A hosted control plane is told, not planned.
func TestHosted(t *testing.T) {
	q := newQuestion()
	q.s.Topology = plan.TopologyExternal
	if _, no := made(t, q); no == nil || no.Reasons[0].Reason != plan.FactHosted {
		t.Error(no)
	}
}

// A drain that waits for pods on a node that is not ready waits for that node, not for the budget.
func TestDarkNode(t *testing.T) {
	q := newQuestion()
	q.goal.Release, q.goal.Nodes = "", []string{"worker-0"}
	for _, line := range []string{"pod db-0 worker-0 100m", "pod db-1 worker-1 100m", "budget db db 2"} {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	q.s.Budgets[0].Spec.MinAvailable = nil
	q.s.Budgets[0].Spec.MaxUnavailable = &fairlead.IntOrString{Int: 1}
	if p, no := made(t, q); no != nil || len(p.Steps) != 1 {
		t.Fatal(p, no)
	}
	q.s.Nodes[4].Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionUnknown}}
	q.s.Pods[1].Status.Conditions[0].Status = fairlead.ConditionFalse
	_, no := made(t, q)
	if no == nil || no.Reasons[len(no.Reasons)-1] != (plan.Fact{Reason: plan.FactNodeDown, Subject: "worker-1"}) || len(no.Fixes) == 0 || !strings.Contains(no.Error(), "repair the node worker-1") {
		t.Error(no)
	}
}

// The direct way is compared with the detour that leaves fewer risks unknown.
func TestDetour(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9", Risks: []string{"A", "B"}}, {From: "4.18.1", To: "4.18.5"}, {From: "4.18.5", To: "4.18.9"}}
	p, no := made(t, q)
	if no != nil || p.Detour == nil || p.Detour.Unknown != 2 || p.Detour.Updates != 1 || !strings.Contains(p.String(), "-direct") {
		t.Fatalf("%v %v", p, no)
	}
	q.policy.Direct = true
	if p, _ := made(t, q); p.Detour != nil || p.Cost.Unknown != 2 || len(p.Steps) != 3 {
		t.Error(p)
	}
}

// What the ClusterVersion says of risks: by its reason, by its message, by the rule.
func TestReadRisks(t *testing.T) {
	rule := func(kind string) []graph.Rule { return []graph.Rule{{Type: kind, Query: "x"}} }
	for want, c := range map[string]fairlead.Condition{
		"A True B False":      {Status: fairlead.ConditionFalse, Reason: "A", Message: "a breaks https://e/a"},
		"A True B True":       {Status: fairlead.ConditionFalse, Reason: "MultipleReasons", Message: "a breaks https://e/a\n\nb breaks https://e/b"},
		"A True B Unknown":    {Status: fairlead.ConditionFalse, Reason: "MultipleReasons", Message: "a breaks https://e/a\n\nCould not evaluate exposure to update risk B (no route)\n  B description: b breaks"},
		"A False B Unknown":   {Status: fairlead.ConditionUnknown, Reason: "EvaluationFailed", Message: "Could not evaluate exposure to update risk B (no route)\n  B description: b breaks"},
		"A False B False":     {Status: fairlead.ConditionTrue, Reason: "NotExposedToRisks"},
		"A Unknown B Unknown": {Status: fairlead.ConditionUnknown, Reason: "Other"},
	} {
		c.Type = "Recommended"
		cv := &cvo.ClusterVersion{}
		cv.Status.ConditionalUpdates = []cvo.ConditionalUpdate{{Release: cvo.Release{Version: "4.18.9"}, Conditions: []fairlead.Condition{c}, Risks: []graph.Risk{
			{Name: "A", Message: "a breaks", URL: "https://e/a", MatchingRules: rule("PromQL")}, {Name: "B", Message: "b breaks", URL: "https://e/b", MatchingRules: rule("PromQL")},
		}}}
		var got []string
		for _, r := range plan.ReadRisks(cv) {
			got = append(got, r.Name, string(r.Applies))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, not %s", c.Message, got, want)
		}
		cv.Status.ConditionalUpdates[0].Risks[1].MatchingRules = rule("Always")
		if risks := plan.ReadRisks(cv); risks[1].Applies != fairlead.ConditionTrue {
			t.Errorf("a rule that always matches: %v", risks)
		}
	}
}

// A request that makes the ClusterVersion invalid is withdrawn before another one is made; what
// is invalid for another reason is corrected.
func TestInvalidRequest(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	q.s.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.77"}
	q.s.Cluster.Status.Conditions = append(q.s.Cluster.Status.Conditions, fairlead.Condition{Type: "Invalid", Status: fairlead.ConditionTrue, Reason: "InvalidClusterVersion", Message: "The cluster version is invalid: spec.desiredUpdate.version: Invalid value: \"4.18.77\""})
	p, no := made(t, q)
	if no != nil {
		t.Fatal(no)
	}
	if kinds, commands := tasks(p); kinds[0] != string(plan.ClearRequest) || !strings.HasPrefix(commands, "oc adm upgrade --clear\n") {
		t.Errorf("%v\n%s", kinds, commands)
	}
	p.Steps[0].First = p.Steps[0].First[1:]
	if err := plan.CheckCommands(q.s, p); err == nil {
		t.Error("oc would refuse the update of an invalid ClusterVersion")
	}
	q.s.Cluster.Status.Conditions[len(q.s.Cluster.Status.Conditions)-1].Message = "spec.clusterID: Required value"
	if _, no := made(t, q); no == nil || no.Reasons[0].Reason != plan.FactInvalid {
		t.Error(no)
	}
}

// While the cluster moves to the images of several architectures, no update is requested.
func TestMultiArch(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	q.s.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.1", Architecture: "Multi"}
	h := &q.s.Cluster.Status
	h.History = append([]cvo.History{{State: cvo.Partial, Version: "4.18.1"}}, h.History...)
	if len(h.History) < 2 {
		h.History = append(h.History, cvo.History{State: cvo.Completed, Version: "4.18.1"})
	}
	h.Conditions = fairlead.SetCondition(h.Conditions, fairlead.Condition{Type: "Progressing", Status: fairlead.ConditionTrue, Message: "Working towards 4.18.1"})
	_, no := made(t, q)
	if no == nil || no.Reasons[0] != (plan.Fact{Reason: plan.FactChanging, Subject: "4.18.1"}) || len(no.Fixes) != 1 || !strings.Contains(no.Error(), "several architectures") {
		t.Error(no)
	}
}

// The only node of a cluster restarts without a drain, so no budget and no room stands against it.
func TestSingleNode(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	for _, line := range []string{"pod db-0 worker-0 100m", "budget db db 1"} {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	p, no := made(t, q)
	if no == nil && p.Steps[0].Kind != plan.FixBudget {
		t.Fatalf("a budget that allows nothing does not matter: %v", p)
	}
	q.s.Topology = plan.TopologySingle
	if p, no = made(t, q); no != nil || p.Steps[0].Kind != plan.MoveCluster {
		t.Error(p, no)
	}
}

// A pool that says that it is degraded does not restart, even if no node is known to be.
func TestDegradedPool(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	c := &q.s.Pools[0].Status.Conditions
	*c = fairlead.SetCondition(*c, fairlead.Condition{Type: "RenderDegraded", Status: fairlead.ConditionTrue, Message: "parsing Ignition config failed"})
	_, no := made(t, q)
	if no == nil || no.Reasons[0] != (plan.Fact{Reason: plan.FactNodesFailed, Subject: q.s.Pools[0].Name}) || len(no.Fixes) == 0 {
		t.Error(no)
	}
}

// Where no release of the next minor version is known, what already speaks against it is told.
func TestForeseen(t *testing.T) {
	q := newQuestion()
	q.goal.Release, q.goal.Minor = "", "4.19"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	q.s.Operators = []plan.Operator{}
	q.s.ClusterOperators = []cvo.ClusterOperator{{ObjectMeta: fairlead.ObjectMeta{Name: "cloud-credential"}}}
	q.s.ClusterOperators[0].Status.Conditions = []fairlead.Condition{{Type: "Upgradeable", Status: fairlead.ConditionFalse, Reason: "MissingUpgradeableAnnotation", Message: "the annotation needs updating"}}
	_, no := made(t, q)
	if no == nil || !strings.Contains(no.Error(), "cloud-credential blocks minor updates") || no.Reasons[0].Reason != plan.FactNoPath || strings.Contains(no.Error(), "Nothing that was tried") {
		t.Error(no)
	}
}
