package cvo_test

import (
	"fmt"
	"strings"
	"testing"

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
	for _, c := range []struct {
		live string
		want string // versions, parted by spaces
		mode cvo.Mode
		is   string
	}{
		{"missing", "operator=1", cvo.Updating, "UpdatePayloadResourceNotFound Fail"},
		{"available=True degraded=False", "", cvo.Updating, "ClusterOperatorNoVersions Fail"},
		{"missing", "", cvo.Updating, "ClusterOperatorNoVersions Fail"},
		// Versions: none, old, one of two old, operand only.
		{"available=True degraded=False", "operator=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=0", "operator=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=0", "operator=1 operand=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=0 operand=0", "operator=1 operand=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=1 operand=0", "operator=1 operand=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=1", "operator=1 operand=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operand=1", "operator=1 operand=1", cvo.Updating, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=0", "operator=1", cvo.Reconciling, "ClusterOperatorUpdating None"},
		{"available=True degraded=False operator=0", "operator=1", cvo.Initializing, "passes"},
		{"available=True degraded=False operator=1 more=7", "operator=1", cvo.Updating, "passes"},
		// Conditions.
		{"operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"progressing=True operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=False degraded=False operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=Unknown degraded=False operator=1", "operator=1", cvo.Updating, "ClusterOperatorNotAvailable Fail"},
		{"available=False degraded=True operator=1", "operator=1", cvo.Initializing, "ClusterOperatorNotAvailable Fail"},
		{"available=True degraded=False progressing=True operator=1", "operator=1", cvo.Updating, "passes"},
		{"available=True degraded=True operator=1", "operator=1", cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=True degraded=True operator=0", "operator=1", cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=True degraded=True operator=1", "operator=1", cvo.Initializing, "ClusterOperatorDegraded Report"},
		{"available=True degraded=True operator=1", "operator=1", cvo.Reconciling, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=True operator=1", "operator=1", cvo.Updating, "ClusterOperatorDegraded FailAfterInterval"},
		{"available=True degraded=False operator=1 operand=1", "operator=1 operand=1", cvo.Updating, "passes"},
	} {
		var want []cvo.Operand
		if c.want != "" {
			want = operator(c.want).Status.Versions
		}
		got := "passes"
		if e := cvo.Gate("x", want, operator(c.live), c.mode); e != nil {
			got = fmt.Sprintf("%s %s", e.Reason, e.Effect)
			if !strings.Contains(e.Message, "x") {
				t.Errorf("%s: the message does not name the operator: %s", c.live, e.Message)
			}
		}
		if got != c.is {
			t.Errorf("%s, wanted %s, %s: %s, not %s", c.live, c.want, c.mode, got, c.is)
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

// taskErrors reads a list of errors, parted by commas.
func taskErrors(list string) []*cvo.TaskError {
	var errs []*cvo.TaskError
	for text := range strings.SplitSeq(list, ", ") {
		if text != "" {
			errs = append(errs, taskError(text))
		}
	}
	return errs
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
		{"MultipleErrors", "dns, etcd", "several errors, among them of dns, etcd"},
		{"Odd", "dns", "dns has an unknown error: Odd"},
		{"Odd", "", "an unknown error has occurred: Odd"},
	} {
		if got := cvo.SummaryForReason(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
}
