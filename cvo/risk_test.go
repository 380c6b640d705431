package cvo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
)

const docs = "https://docs.redhat.com/en/documentation/openshift_container_platform/"

// at is a world with a cluster of a version.
func at(version string) *cvo.World {
	return &cvo.World{Cluster: &cvo.ClusterVersion{Status: cvo.Status{Desired: cvo.Release{Version: version}}}}
}

// names returns the names of risks.
func names(list []cvo.ClusterRisk) string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

// The rows of the operator's adminack tests: Test_Risks, with gates and
// acknowledgements as name=text.
func TestAdminGates(t *testing.T) {
	data := func(list []string) map[string]string {
		m := map[string]string{}
		for _, f := range list {
			name, text, _ := strings.Cut(f, "=")
			m[name] = text
		}
		return m
	}
	for _, c := range []struct {
		name        string
		gates, acks []string
		err         string
		want        string
	}{
		{"admin ack gate does not apply to version", []string{"ack-4.8-test=Testing"}, nil, "", ""},
		{"admin-gates configmap gate does not have value", []string{"ack-4.21-test="}, nil, "", "AdminAck-ack-4.21-test: the gate ack-4.21-test of the ConfigMap admin-gates does not say what must be acknowledged"},
		{"admin ack required", []string{"ack-4.21-test=Description."}, nil, "", "AdminAck-ack-4.21-test: Description."},
		{"admin ack required and admin ack gate does not apply to version", []string{"ack-4.21-test=A.", "ack-4.22-test=B."}, nil, "", "AdminAck-ack-4.21-test: A."},
		{
			"admin ack required and configmap gate does not have value", []string{"ack-4.21-without=", "ack-4.21-with=A."}, nil, "",
			"AdminAck-ack-4.21-with: A.|AdminAck-ack-4.21-without: the gate ack-4.21-without of the ConfigMap admin-gates does not say what must be acknowledged",
		},
		{"multiple admin acks required", []string{"ack-4.21-b=2", "ack-4.21-a=1", "ack-4.21-c=3"}, nil, "", "AdminAck-ack-4.21-a: 1|AdminAck-ack-4.21-b: 2|AdminAck-ack-4.21-c: 3"},
		{"admin ack found", []string{"ack-4.21-test=A."}, []string{"ack-4.21-test=true"}, "", ""},
		{"admin ack 2 of 3 found", []string{"ack-4.21-b=2", "ack-4.21-a=1", "ack-4.21-c=3"}, []string{"ack-4.21-a=true", "ack-4.21-c=true"}, "", "AdminAck-ack-4.21-b: 2"},
		{"multiple admin acks found", []string{"ack-4.21-b=2", "ack-4.21-a=1"}, []string{"ack-4.21-a=true", "ack-4.21-b=true"}, "", ""},
		{"admin-acks configmap not found", []string{"ack-4.21-a=1"}, nil, "there is no ConfigMap admin-acks", "AdminAckUnknown: it is unknown what must be acknowledged: there is no ConfigMap admin-acks"},
		{"admin-gates configmap not found", nil, nil, "there is no ConfigMap admin-gates", "AdminAckUnknown: it is unknown what must be acknowledged: there is no ConfigMap admin-gates"},
		{"an acknowledgement must be the word true", []string{"ack-4.21-a=1"}, []string{"ack-4.21-a=True"}, "", "AdminAck-ack-4.21-a: 1"},
	} {
		w := at("4.21.0")
		w.AdminGates = &cvo.AdminGates{Gates: data(c.gates), Acks: data(c.acks), Error: c.err}
		var got []string
		for _, r := range cvo.ClusterRisks(w) {
			got = append(got, r.Name+": "+r.Message)
			if r.URL != docs || !r.Minor {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s:\n%s, not\n%s", c.name, strings.Join(got, "|"), c.want)
		}
	}
	if got := cvo.ClusterRisks(&cvo.World{Cluster: at("four").Cluster, AdminGates: &cvo.AdminGates{}}); names(got) != "AdminAckUnknown" {
		t.Errorf("a version that is none: %v", got)
	}
}

// The rows of Test_gateApplicableToCurrentVersion: a gate without a proper name
// is one that cannot be acknowledged.
func TestGateNames(t *testing.T) {
	for _, c := range []struct{ gate, version, want string }{
		{"ack-4>8-foo", "4.8.1", "bad"},
		{"ack-4..8-foo", "4.8.1", "bad"},
		{"ck-4.8-foo", "4.8.1", "bad"},
		{"ack-3.8-foo", "4.8.1", "bad"},
		{"ack-4.x-foo", "4.8.1", "bad"},
		{"ack-4.8.1-foo", "4.8.1", "bad"},
		{"ack-4.x--foo", "4.8.1", "bad"},
		{"ack-4.8--foo", "4.8.1", "bad"},
		{"ack-4.x-", "4.8.1", "bad"},
		{"ack-4.8-", "4.8.1", "bad"},
		{"ack-4.08-foo", "4.8.1", "bad"},
		{"ack-4.8-foo", "4.8.1", "ok"},
		{"ack-5.8-foo", "5.8.1", "ok"},
		{"ack-4.123456-foo", "4.123456.0", "ok"},
		{"ack-4.8-foo", "4.9.1", ""},
		{"ack-4.8-foo", "4.80.1", ""},
		{"ack-4.8-foo", "5.8.1", ""},
	} {
		w := at(c.version)
		w.AdminGates = &cvo.AdminGates{Gates: map[string]string{c.gate: "A."}, Acks: map[string]string{c.gate: "maybe"}}
		got := ""
		if list := cvo.ClusterRisks(w); len(list) == 1 && list[0].Message == "A." {
			got = "ok"
		} else if len(list) == 1 && list[0].Name == "AdminAck-"+c.gate && strings.Contains(list[0].Message, c.gate) {
			got = "bad"
		}
		if got != c.want {
			t.Errorf("%s at %s: %q, not %q", c.gate, c.version, got, c.want)
		}
	}
}

// The rows of Test_checkAdminGate: where people can read of a gate.
func TestGateLinks(t *testing.T) {
	for _, c := range []struct {
		name, text, ack, want string
	}{
		{"valid gate not acknowledged", "Mirrors need signatures. See https://e.com/4.20/sigstore.html#prepare_4.21 for more.", "", "https://e.com/4.20/sigstore.html#prepare_4.21"},
		{"valid gate not acknowledged, newline at end of URI", "See https://e.com/\nfor details.", "", "https://e.com/"},
		{"valid gate acknowledged", "See https://e.com/", "true", "acknowledged"},
		{"an address that is none", "See https://%zz and https://e.com/b", "", "https://e.com/b"},
	} {
		w := at("4.20.15")
		w.AdminGates = &cvo.AdminGates{Gates: map[string]string{"ack-4.20-a": c.text}, Acks: map[string]string{"ack-4.20-a": c.ack}}
		got := "acknowledged"
		if list := cvo.ClusterRisks(w); len(list) > 0 {
			got = list[0].URL
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

// The risks of overrides, of an update under way, of deletions and of operators
// (TestOverrides, TestUpdating, TestUpgradeable of the operator): each concerns
// the next minor and major version, and what is unrelated changes nothing.
func TestStateRisks(t *testing.T) {
	quiet := func() *cvo.World {
		w := at("4.21.0")
		w.Cluster.Status.Conditions = []cvo.Condition{{Type: "Progressing", Status: cvo.False}}
		w.Operators = []cvo.ClusterOperator{{ObjectMeta: cvo.ObjectMeta{Name: "a"}, Status: cvo.OperatorStatus{Conditions: []cvo.Condition{{Type: "Upgradeable", Status: cvo.True}}}}}
		return w
	}
	for _, c := range []struct {
		name   string
		change func(w *cvo.World)
		want   string
	}{
		{"quiet", func(*cvo.World) {}, ""},
		{"unrelated", func(w *cvo.World) {
			w.Cluster.Spec.Channel = "testing"
			w.Cluster.Spec.Overrides = []payload.Override{{Kind: "Deployment", Name: "a"}}
			w.Operators[0].Status.Conditions = append(w.Operators[0].Status.Conditions, cvo.Condition{Type: "Available", Status: cvo.False})
		}, ""},
		{"overrides", func(w *cvo.World) {
			w.Cluster.Spec.Overrides = []payload.Override{{Kind: "Deployment", Name: "a", Unmanaged: true}}
		}, "ClusterVersionOverrides ClusterVersionOverridesSet 4.21/html/config_apis/clusterversion-config-openshift-io-v1#spec-8: spec.overrides keeps resources from being updated; remove it before the next minor version"},
		{"updating", func(w *cvo.World) { w.Cluster.Status.Conditions[0].Status = cvo.True }, "ClusterVersionUpdating UpdateInProgress 4.21/html/updating_clusters/understanding-openshift-updates-1#understanding_clusteroperator_conditiontypes_understanding-openshift-updates: an update is under way; the condition Progressing says how far it is"},
		{"deleting", func(w *cvo.World) { w.Deleting = []payload.ID{{Kind: "Service", Namespace: "a", Name: "b"}} }, "ResourceDeletionInProgress ResourceDeletesInProgress 4.21/html/updating_clusters/understanding-openshift-updates-1#update-manifest-application_how-updates-work: resources that the release removes are still there: " + payload.ID{Kind: "Service", Namespace: "a", Name: "b"}.String()},
		{"operator", func(w *cvo.World) {
			w.Operators[0].Status.Conditions[0] = cvo.Condition{Type: "Upgradeable", Status: cvo.False, Reason: "TestReason", Message: "Not now."}
		}, "ClusterOperatorUpgradeable-a TestReason 4.21/html/updating_clusters/understanding-openshift-updates-1#understanding_clusteroperator_conditiontypes_understanding-openshift-updates: Cluster operator a should not be upgraded between minor versions: TestReason: Not now."},
		{"an operator without a reason", func(w *cvo.World) {
			w.Operators[0].Status.Conditions[0] = cvo.Condition{Type: "Upgradeable", Status: cvo.False, Message: "Not now."}
		}, "ClusterOperatorUpgradeable-a ClusterOperatorUpgradeable 4.21/html/updating_clusters/understanding-openshift-updates-1#understanding_clusteroperator_conditiontypes_understanding-openshift-updates: Cluster operator a should not be upgraded between minor versions: Not now."},
	} {
		w := quiet()
		c.change(w)
		list := cvo.ClusterRisks(w)
		got := ""
		for _, r := range list {
			got += fmt.Sprintf("%s %s %s: %s", r.Name, r.Reason, strings.TrimPrefix(r.URL, docs), r.Message)
		}
		if got != c.want {
			t.Errorf("%s:\n%s, not\n%s", c.name, got, c.want)
		}
		u := &graph.Updates{Current: graph.Release{Version: "4.21.0"}}
		for _, v := range []string{"4.21.1", "4.22.0", "5.0.0", "four", "4.20.9"} {
			u.Available = append(u.Available, graph.Update{Release: graph.Release{Version: v}})
		}
		out, err := cvo.AddRisks(u, list)
		if want := "4.21.1 4.20.9 | 4.22.0 5.0.0 four"; err != nil || c.want != "" && offered(out) != want {
			t.Errorf("%s: %s (%v), not %s", c.name, offered(out), err, want)
		}
	}
	w := quiet()
	w.Cluster.Status.Desired.Version = ""
	w.Cluster.Status.Conditions[0].Status = cvo.True
	if list := cvo.ClusterRisks(w); len(list) != 1 || list[0].URL != docs {
		t.Errorf("without a version: %v", list)
	}
	if cvo.ClusterRisks(&cvo.World{}) != nil {
		t.Error("no cluster has risks")
	}
}

// offered writes updates: available ones, a bar, conditional ones.
func offered(u *graph.Updates) string {
	var a, c []string
	for _, to := range u.Available {
		a = append(a, to.Version)
	}
	for _, to := range u.Conditional {
		c = append(c, to.Version)
	}
	return strings.Join(a, " ") + " | " + strings.Join(c, " ")
}

func alert(name, severity, budget string, since time.Time, more ...string) cvo.Alert {
	a := cvo.Alert{
		Labels:      map[string]string{"alertname": name, "severity": severity, "namespace": "ns", "poddisruptionbudget": budget},
		Annotations: map[string]string{"summary": "summary", "description": "description", "message": "message", "runbook_url": "https://r/" + name},
		State:       "firing", ActiveAt: since,
	}
	for _, f := range more {
		key, value, _ := strings.Cut(f, "=")
		if value == "" {
			delete(a.Annotations, key)
		} else if key == "state" {
			a.State = value
		} else {
			a.Labels[key] = value
		}
	}
	return a
}

// The rows of Test_alertRisk.
func TestAlertRisks(t *testing.T) {
	t1, t2 := noon, noon.Add(-3*time.Minute)
	w := at("1.2.2")
	w.Alerts = []cvo.Alert{
		alert("PodDisruptionBudgetLimit", "critical", "some-pdb", t1),
		alert("not-important", "", "", t1, "state=pending"),
		alert("PodDisruptionBudgetAtLimit", "severity", "some-pdb", t1),
		alert("PodDisruptionBudgetAtLimit", "severity", "another-pdb", t2),
		alert("TestAlert", "critical", "", t1, "runbook_url=", "message=", "description="),
		alert("Watchdog", "none", "", t1),
		alert("Asked", "warning", "", t1, "openShiftUpdatePrecheck=true"),
		alert("KubeNodeNotReady", "warning", "", t1),
		alert("KubeContainerWaiting", "warning", "", t1),
		alert("VMCannotBeEvicted", "warning", "", t1),
		alert("Later", "critical", "", t1, "state=pending"),
	}
	list := cvo.ClusterRisks(w)
	if got, want := names(list), "Asked KubeContainerWaiting KubeNodeNotReady PodDisruptionBudgetAtLimit PodDisruptionBudgetLimit TestAlert VMCannotBeEvicted"; got != want {
		t.Fatalf("%s, not %s", got, want)
	}
	limit := list[3]
	want := "severity alert PodDisruptionBudgetAtLimit firing, draining nodes may take long: budget ns/some-pdb allows no disruption | summary | description | message | https://r/PodDisruptionBudgetAtLimit; " +
		"severity alert PodDisruptionBudgetAtLimit firing, draining nodes may take long: budget ns/another-pdb allows no disruption | summary | description | message | https://r/PodDisruptionBudgetAtLimit"
	if limit.Detail != want || limit.Since != t2 || limit.Message != "summary." || limit.URL != "https://r/PodDisruptionBudgetAtLimit" || limit.Reason != "Alert:firing" || limit.Minor {
		t.Errorf("%+v", limit)
	}
	if r := list[5]; r.URL != "https://github.com/openshift/runbooks/tree/master/alerts?runbook=notfound" || r.Detail != "critical alert TestAlert firing, the cluster has a serious problem | summary" {
		t.Errorf("%+v", r)
	}
	u, err := cvo.AddRisks(&graph.Updates{Available: []graph.Update{{Release: graph.Release{Version: "1.2.3"}}}}, list)
	if err != nil || len(u.Conditional) != 1 || len(u.Conditional[0].Risks) != len(list) {
		t.Errorf("an alert concerns every update: %s (%v)", offered(u), err)
	}
}

// The rows of the operator's Test_Merge and Test_aggregate.
func TestAddRisks(t *testing.T) {
	risk := func(name, message string) cvo.ClusterRisk {
		return cvo.ClusterRisk{Risk: graph.Risk{Name: name, Message: message, URL: "u", MatchingRules: []graph.Rule{{Type: graph.RuleAlways}}}}
	}
	update := func(version string, risks ...cvo.ClusterRisk) graph.Update {
		u := graph.Update{Release: graph.Release{Version: version}, Risks: make([]graph.Risk, 0, 4)}
		for _, r := range risks {
			u.Risks = append(u.Risks, r.Risk)
		}
		return u
	}
	for _, c := range []struct {
		name  string
		u     graph.Updates
		risks []cvo.ClusterRisk
		want  string
		err   string
	}{
		{
			"basic case",
			graph.Updates{Available: []graph.Update{update("4.21.1"), update("4.21.2")}, Conditional: []graph.Update{update("4.21.3", risk("XRisk", "a"))}},
			[]cvo.ClusterRisk{risk("TestAlert", "b")},
			"| 4.21.1[TestAlert] 4.21.2[TestAlert] 4.21.3[TestAlert XRisk]", "",
		},
		{
			"invalid risk name",
			graph.Updates{Available: []graph.Update{update("1.2.3")}},
			[]cvo.ClusterRisk{risk("", "b"), risk("small", "b")},
			"1.2.3 |", `risk "": its name does not match ^[A-Z][A-Za-z0-9.-]*$, and it is left out|risk "small": its name does not match ^[A-Z][A-Za-z0-9.-]*$, and it is left out`,
		},
		{
			"single-source collision, and divergent definitions",
			graph.Updates{Available: []graph.Update{update("1.2.3")}},
			[]cvo.ClusterRisk{risk("RiskA", "one"), risk("RiskA", "two")},
			"| 1.2.3[RiskA]", "risk RiskA: the cluster defines it twice, with different texts; the first counts",
		},
		{
			"matching duplicates",
			graph.Updates{Available: []graph.Update{update("1.2.3")}},
			[]cvo.ClusterRisk{risk("RiskA", "one"), risk("RiskA", "one")},
			"| 1.2.3[RiskA]", "",
		},
		{
			"multi-source collision",
			graph.Updates{Conditional: []graph.Update{update("1.2.3", risk("RiskA", "one"))}},
			[]cvo.ClusterRisk{risk("RiskA", "two"), risk("RiskB", "three")},
			"| 1.2.3[RiskA RiskB]", "risk RiskA: for 1.2.3, the graph defines it differently from the cluster; the graph's definition counts",
		},
	} {
		before := fmt.Sprint(c.u)
		u := &c.u
		for range 2 { // once more changes nothing
			out, err := cvo.AddRisks(u, c.risks)
			got := strings.TrimSuffix(offered(&graph.Updates{Available: out.Available}), " ")
			for _, to := range out.Conditional {
				var list []string
				for _, r := range to.Risks {
					list = append(list, r.Name)
				}
				got += " " + to.Version + "[" + strings.Join(list, " ") + "]"
			}
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), "\n", "|")
			}
			if strings.TrimSpace(got) != c.want || text != c.err {
				t.Errorf("%s: %s (%s), not %s (%s)", c.name, got, text, c.want, c.err)
			}
			u = out
		}
		if fmt.Sprint(c.u) != before {
			t.Errorf("%s: the updates were changed", c.name)
		}
	}
}

// The lists of a whole step (TestSyncAvailableUpdates, Test_evaluateConditionalUpdates,
// TestOperator_syncAvailableUpdates_noticeResolvedAlertsQuickly): an alert makes
// an update conditional, and as soon as it is over the update is available
// again, without the service being asked.
func TestOfferedWithAlerts(t *testing.T) {
	w := at("4.21.0")
	w.Own = cvo.Release{Version: "4.21.0", Image: "one"}
	w.Updates = &graph.Updates{
		Current:     graph.Release{Version: "4.21.0"},
		Available:   []graph.Update{{Release: graph.Release{Version: "4.21.1", Payload: "two"}}, {Release: graph.Release{Version: "4.21.2", Payload: "three"}}},
		Conditional: []graph.Update{{Release: graph.Release{Version: "4.21.5", Payload: "four"}, Risks: []graph.Risk{{Name: "FourFiveSix", Message: "m", URL: "u", MatchingRules: []graph.Rule{{Type: graph.RulePromQL, Query: "q"}}}}}},
	}
	w.Evaluations = w.Evaluations.With(w.Updates.Conditional[0].Risks[0].MatchingRules[0], true, nil, noon)
	w.UpdatesCondition = cvo.UpdatesCondition(nil, noon)
	policy := &cvo.Policy{ClusterRisks: true}
	status := func(policy *cvo.Policy) cvo.Status {
		for _, a := range cvo.Step(cvo.State{}, w, noon, policy).Actions {
			if s, ok := a.(cvo.WriteStatus); ok {
				return s.Status
			}
		}
		t.Fatal("no status is written")
		return cvo.Status{}
	}
	show := func(s cvo.Status) string {
		var list []string
		for _, r := range s.AvailableUpdates {
			list = append(list, r.Version)
		}
		for _, c := range s.ConditionalUpdates {
			list = append(list, fmt.Sprintf("%s=%s %s", c.Release.Version, c.Conditions[0].Status, c.Conditions[0].Reason))
		}
		for _, r := range s.ConditionalUpdateRisks {
			list = append(list, fmt.Sprintf("%s=%s %s", r.Name, r.Conditions[0].Status, r.Conditions[0].Reason))
		}
		return strings.Join(list, ", ")
	}
	quiet := "4.21.2, 4.21.1, 4.21.5=False FourFiveSix, FourFiveSix=True Match"
	if got := show(status(policy)); got != quiet {
		t.Errorf("%s, not %s", got, quiet)
	}
	i := slices.IndexFunc(status(policy).Conditions, func(c cvo.Condition) bool { return c.Type == "RetrievedUpdates" && c.Status == cvo.True })
	if i < 0 {
		t.Error("RetrievedUpdates is not True")
	}
	w.Alerts = []cvo.Alert{alert("TestAlert", "critical", "", noon)}
	want := "4.21.5=False MultipleReasons, 4.21.2=False TestAlert, 4.21.1=False TestAlert, FourFiveSix=True Match, TestAlert=True Alert:firing"
	if got := show(status(policy)); got != want {
		t.Errorf("with an alert: %s, not %s", got, want)
	}
	if r := status(policy).ConditionalUpdateRisks[1]; !strings.HasPrefix(r.Conditions[0].Message, "critical alert TestAlert firing") {
		t.Errorf("%+v", r)
	}
	w.Cluster.Spec.DesiredUpdate = &cvo.Update{AcceptRisks: []cvo.AcceptRisk{{Name: "TestAlert"}, {Name: "not-important"}}}
	want = "4.21.2, 4.21.1, 4.21.5=False FourFiveSix, 4.21.2=True AllExposedRisksAccepted, 4.21.1=True AllExposedRisksAccepted, FourFiveSix=True Match, TestAlert=True Alert:firing"
	if got := show(status(policy)); got != want {
		t.Errorf("with the risk accepted: %s, not %s", got, want)
	}
	if got := show(status(nil)); got != quiet {
		t.Errorf("without the policy: %s, not %s", got, quiet)
	}
	w.Alerts = nil
	if got := show(status(policy)); got != quiet {
		t.Errorf("with the alert over: %s, not %s", got, quiet)
	}
}
