package cvo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// operator reads "available=True degraded=False operator=1 operand=2"; a word
// that is not there is not reported.
func operator(text string) *cvo.ClusterOperator {
	if text == "missing" {
		return nil
	}
	o := &cvo.ClusterOperator{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "available", "degraded", "progressing", "upgradeable":
			kind := strings.ToUpper(key[:1]) + key[1:]
			o.Status.Conditions = append(o.Status.Conditions, cvo.Condition{Type: kind, Status: cvo.ConditionStatus(value), Reason: "Because", Message: "of something"})
		default:
			o.Status.Versions = append(o.Status.Versions, cvo.Operand{Name: key, Version: value})
		}
	}
	return o
}

// The 18 rows of the operator's Test_checkOperatorHealth, and what it leaves
// open.
func TestGate(t *testing.T) {
	const (
		both  = "operator=1 operand-1=1"
		three = both + " operand-2=1"
	)
	for _, c := range []struct {
		name, live string
		want       string // versions, separated by spaces
		mode       cvo.Mode
		is         string
	}{
		{"not found", "missing", both, cvo.Updating, "UpdatePayloadResourceNotFound Fail"},
		{"available, no versions", "available=True degraded=False", "operator=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available, no versions, while expecting an operator version", "available=True degraded=False", both, cvo.Updating, "ClusterOperatorUpdating None"},
		{"available, no versions for operand", "available=True degraded=False operator=0", both, cvo.Updating, "ClusterOperatorUpdating None"},
		{"available, old versions", "available=True degraded=False operator=0 operand-1=0", both, cvo.Updating, "ClusterOperatorUpdating None"},
		{"available, mix of desired and old versions", "available=True degraded=False operator=0 operand-1=1", both, cvo.Updating, "ClusterOperatorUpdating None"},
		{"desired operator, old versions for 2 operands", "available=True degraded=False operator=1 operand-1=0 operand-2=0", three, cvo.Updating, "ClusterOperatorUpdating None"},
		{"desired operator, mix of old and desired versions for 2 operands", "available=True degraded=False operator=1 operand-1=1 operand-2=0", three, cvo.Updating, "ClusterOperatorUpdating None"},
		{"desired versions and no conditions", both, both, cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"progressing=true", "progressing=True " + both, both, cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=false degraded=true", "available=False degraded=True " + both, both, cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=true, degraded=false, and progressing=true", "available=True progressing=True degraded=False " + both, both, cvo.Updating, "passes"},
		{"available=true degraded=true", "available=True degraded=True " + both, both, cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=true degraded=true in InitializingMode", "available=True degraded=True " + both, both, cvo.Initializing, "ClusterOperatorDegraded Report"},
		{"available=true progressing=true degraded=true", "available=True progressing=True degraded=True " + both, both, cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=true progressing=true degraded=true in InitializingMode", "available=True progressing=True degraded=True " + both, both, cvo.Initializing, "ClusterOperatorDegraded Report"},
		{"no degraded condition", "available=True " + both, both, cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=true degraded=false", "available=True degraded=False " + both, both, cvo.Updating, "passes"},
		// What the rows leave open.
		{"no versions are asked for", "available=True degraded=False", "", cvo.Updating, "ClusterOperatorNoVersions Fail"},
		{"no versions are asked for, not found", "missing", "", cvo.Updating, "ClusterOperatorNoVersions Fail"},
		{"only an operand is reached", "available=True degraded=False operand-1=1", both, cvo.Updating, "ClusterOperatorUpdating None"},
		{"old versions while reconciling", "available=True degraded=False operator=0", "operator=1", cvo.Reconciling, "ClusterOperatorUpdating None"},
		{"old versions while installing", "available=True degraded=False operator=0", "operator=1", cvo.Initializing, "passes"},
		{"further versions", "available=True degraded=False operator=1 more=7", "operator=1", cvo.Updating, "passes"},
		{"available=false", "available=False degraded=False operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available is not known", "available=Unknown degraded=False operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=false while installing", "available=False degraded=True operator=1", "operator=1", cvo.Initializing, "ClusterOperatorNotAvailable Fail"},
		{"degraded, and old versions", "available=True degraded=True operator=0", "operator=1", cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"degraded while reconciling", "available=True degraded=True operator=1", "operator=1", cvo.Reconciling, "ClusterOperatorDegraded FailAfterInterval"},
	} {
		var want []cvo.Operand
		if c.want != "" {
			want = operator(c.want).Status.Versions
		}
		got := "passes"
		if e := cvo.Gate("x", want, operator(c.live), c.mode); e != nil {
			got = fmt.Sprintf("%s %s", e.Reason, e.Effect)
			if !strings.Contains(e.Message, "x") {
				t.Errorf("%s: the message does not name the operator: %s", c.name, e.Message)
			}
		}
		if got != c.is {
			t.Errorf("%s: %s, not %s", c.name, got, c.is)
		}
	}
}

// taskError reads "reason name effect", where a name means a ClusterOperator.
func taskError(text string) *cvo.TaskError {
	f := strings.Fields(text)
	e := &cvo.TaskError{Reason: f[0], Message: f[0] + " of " + f[1], Effect: cvo.Effect(f[2])}
	if f[1] != "-" {
		e.Name, e.Operator = f[1], true
	}
	return e
}

// A release that names no versions is at fault in every mode.
func TestGateWithoutVersions(t *testing.T) {
	for _, mode := range []cvo.Mode{cvo.Initializing, cvo.Updating, cvo.Reconciling} {
		if e := cvo.Gate("etcd", nil, operator("available=True degraded=False operator=4.18.0"), mode); e == nil || e.Reason != cvo.ReasonOperatorVersions || e.Effect != cvo.EffectFail {
			t.Errorf("%s: %+v", mode, e)
		}
	}
}

// A workload that cannot go on is sent again, less and less often.
func TestStuckWorkload(t *testing.T) {
	s := updatedStage(t)
	s.backend.stuck = map[string]string{"a": "its quota is used up"}
	s.spec.DesiredUpdate = &cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}
	s.backend.SetCluster("c", s.spec, s.own)
	out := s.run(time.Minute)
	if n := strings.Count(out, `apply deployment "a/a"`); n < 3 || n > 6 {
		t.Errorf("sent %d times in a minute:\n%s", n, out)
	}
	if text := said(s.backend.Version("c").Status, "Failing"); !strings.Contains(text, "its quota is used up") {
		t.Errorf("Failing is %s", text)
	}
	s.backend.stuck = nil
	s.run(10 * time.Minute)
	if h := s.backend.Version("c").Status.History[0]; h.State != cvo.Completed {
		t.Errorf("%+v", h)
	}
}

// The seven rows of the operator's Test_condenseClusterOperators.
func TestCondense(t *testing.T) {
	for _, c := range []struct{ name, errs, want string }{
		{"no errors", "", ""},
		{"one ClusterOperator, one API", "ClusterOperatorUpdating a None, NotFound - Fail", "NotFound Fail; ClusterOperatorUpdating None a"},
		{"two ClusterOperator with different reasons, one API", "ClusterOperatorUpdating b None, ClusterOperatorNotAvailable a Fail, NotFound - Fail", "NotFound Fail; ClusterOperatorNotAvailable Fail a; ClusterOperatorUpdating None b"},
		{"two ClusterOperator with the same reason", "ClusterOperatorUpdating b None, ClusterOperatorUpdating a None", "ClusterOperatorsUpdating None a b"},
		{"two ClusterOperator with the same reason, one different", "ClusterOperatorUpdating b None, ClusterOperatorUpdating a None, ClusterOperatorDegraded c FailAfterInterval", "ClusterOperatorDegraded FailAfterInterval c; ClusterOperatorsUpdating None a b"},
		{"three ClusterOperator with the same reason but different effects", "ClusterOperatorDegraded b Fail, ClusterOperatorDegraded a None, ClusterOperatorDegraded c FailAfterInterval", "ClusterOperatorsDegraded Fail a b c"},
		{"two ClusterOperator with the same reason but None and FailAfterInterval effects", "ClusterOperatorDegraded a None, ClusterOperatorDegraded c FailAfterInterval", "ClusterOperatorsDegraded FailAfterInterval a c"},
	} {
		var got []string
		for _, e := range cvo.Condense(taskErrors(c.errs)) {
			who := append([]string{}, e.Names...)
			if e.Name != "" {
				who = append(who, e.Name)
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Reason, e.Effect, strings.Join(who, " "))))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %s, not %s", c.name, strings.Join(got, "; "), c.want)
		}
	}
}

// taskErrors reads a list of errors, separated by commas.
func taskErrors(list string) []*cvo.TaskError {
	var errs []*cvo.TaskError
	for text := range strings.SplitSeq(list, ", ") {
		if text != "" {
			errs = append(errs, taskError(text))
		}
	}
	return errs
}

// The six rows of Test_filterOutUpdateErrors.
func TestBesides(t *testing.T) {
	for _, c := range []struct {
		name, errs string
		effect     cvo.Effect
		want       string
	}{
		{"empty errors", "", cvo.EffectNone, ""},
		{"single update error of the specified value", "N a None", cvo.EffectNone, ""},
		{"errors do not contain update errors of the specified value", "F a Fail, R b Report, L c FailAfterInterval", cvo.EffectNone, "F R L"},
		{"errors contain update errors of the specified value UpdateEffectNone", "L a FailAfterInterval, N1 b None, R c Report, N2 d None", cvo.EffectNone, "L R"},
		{"errors contain update errors of the specified value UpdateEffectReport", "L a FailAfterInterval, N1 b None, R c Report, N2 d None", cvo.EffectReport, "L N1 N2"},
		{"errors contain only update errors of the specified value UpdateEffectNone", "N1 a None, N2 b None, N3 c None", cvo.EffectNone, ""},
	} {
		var got []string
		for _, e := range cvo.Besides(taskErrors(c.errs), c.effect) {
			got = append(got, e.Reason)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %s", c.name, got, c.want)
		}
	}
}

// What becomes of
// several kinds of trouble.
func TestSummarize(t *testing.T) {
	for _, c := range []struct{ errs, want string }{
		{"", "nothing"},
		{"API - Fail", "API Fail: API of -"},
		{"ClusterOperatorDegraded a Fail", "ClusterOperatorDegraded Fail: ClusterOperatorDegraded of a"},
		{"ClusterOperatorDegraded b Fail, ClusterOperatorDegraded a None", "ClusterOperatorsDegraded Fail: Cluster operators a, b are degraded"},
		{"ClusterOperatorUpdating b None, ClusterOperatorUpdating a FailAfterInterval", "ClusterOperatorsUpdating FailAfterInterval: Cluster operators a, b are updating versions"},
		{"ClusterOperatorUpdating b None, ClusterOperatorNotAvailable a Fail", "MultipleErrors Fail: Multiple errors are preventing progress:|* ClusterOperatorNotAvailable of a|* ClusterOperatorUpdating of b"},
		{"ClusterOperatorUpdating b None, API - Fail", "MultipleErrors Fail: Multiple errors are preventing progress:|* API of -|* ClusterOperatorUpdating of b"},
		{"API - Fail, API - Fail", "MultipleErrors Fail: Multiple errors are preventing progress:|* API of -"},
		{"ClusterOperatorUpdating b Report, ClusterOperatorUpdating a None", "ClusterOperatorsUpdating None: Cluster operators a, b are updating versions"},
		{"Odd a Fail, Odd b Fail", "Odd Fail: Cluster operators a, b: Odd"},
	} {
		got := "nothing"
		if e := cvo.Summarize(taskErrors(c.errs)); e != nil {
			got = fmt.Sprintf("%s %s: %s", e.Reason, e.Effect, strings.ReplaceAll(e.Message, "\n", "|"))
		}
		if got != c.want {
			t.Errorf("%s:\n%s, not\n%s", c.errs, got, c.want)
		}
	}
}

// The table of §1.27, with a name and without.
func TestSummaryForReason(t *testing.T) {
	for _, c := range [][3]string{
		{"UpdatePayloadResourceNotFound", "", "some resources could not be updated"},
		{"UpdatePayloadClusterDown", "", "the control plane is down or not responding"},
		{"UpdatePayloadIntegrity", "", "the contents of the update are invalid"},
		{"ClusterOperatorDegraded", "dns", "the cluster operator dns is degraded"},
		{"ClusterOperatorDegraded", "", "a cluster operator is degraded"},
		{"ClusterOperatorNoVersions", "dns", "the cluster operator dns does not declare expected versions"},
		{"WorkloadNotProgressing", "", "a workload cannot roll out"},
		{"UpdatePayloadOdd", "", "the update could not be applied"},
		{"MultipleErrors", "dns, etcd", "several errors, some about dns, etcd"},
		{"Odd", "dns", "dns has an unknown error: Odd"},
		{"Odd", "", "an unknown error has occurred: Odd"},
	} {
		if got := cvo.SummaryForReason(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
}
