package snapshot_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// Of what only the owner of a cluster knows nothing is left in a redacted dump, and names still refer to
// each other.
func TestRedact(t *testing.T) {
	const dump = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: pass, namespace: bank}, data: {a: aHVudGVyMg==}}
- apiVersion: v1
  kind: Node
  metadata: {name: ip-10-1-2-3.acme.example, uid: 7c9e6679-7425-40de-944b-e07fc1f90ae7, labels: {acme.example/team: payroll}, annotations: {acme.example/owner: jane, machineconfiguration.openshift.io/state: Done}}
  spec: {providerID: "aws:///eu-west-1a/i-0abc"}
  status: {conditions: [{type: Ready, status: "False", reason: KubeletNotReady, message: "password=hunter2 jane@acme.example cannot reach https://vault.acme.example:8200 at 10.1.2.3 for payroll-web"}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: payroll-web-0, namespace: bank, labels: {app: payroll}}
  spec: {nodeName: ip-10-1-2-3.acme.example, containers: [{name: c, env: [{name: A, value: hunter2}]}]}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: payroll, namespace: bank}
  spec: {minAvailable: 1, selector: {matchLabels: {app: payroll}}}
`
	redact := func() *snapshot.Redaction {
		r, err := snapshot.Redact(func(r *snapshot.Reader) error { return r.Stream(strings.NewReader(dump), "dump") })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	done := redact()
	var all bytes.Buffer
	var again snapshot.Reader
	for _, f := range done.Files {
		all.WriteString(f.Name + "\n")
		all.Write(f.Data)
		if strings.HasSuffix(f.Name, ".json") {
			if err := again.Stream(bytes.NewReader(f.Data), f.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, private := range []string{"acme", "payroll", "bank", "hunter2", "jane", "10.1.2.3", "10-1-2-3", "7c9e6679", "0abc", "vault", "aHVudGVyMg", "Secret"} {
		if strings.Contains(all.String(), private) {
			t.Errorf("it has %q:\n%s", private, all.String())
		}
	}
	s, err := again.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes.Items) != 1 || len(s.PodsOn(s.Nodes.Items[0].Name)) != 1 || len(s.PodsOf(&s.Budgets.Items[0])) != 1 || !strings.Contains(all.String(), "KubeletNotReady") {
		t.Errorf("names do not refer to each other:\n%s", all.String())
	}
	for i, f := range redact().Files {
		if !bytes.Equal(f.Data, done.Files[i].Data) {
			t.Errorf("%s differs the second time", f.Name)
		}
	}
}

// Labels by which Kubernetes' controllers find what is theirs keep their keys; those of others do not.
func TestRedactOwnLabels(t *testing.T) {
	own := []string{"pod-template-hash", "pod-template-generation", "controller-revision-hash", "controller-uid", "job-name"}
	text := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"bank","labels":{"ledger":"x"`
	for _, key := range own {
		text += `,"` + key + `":"x"`
	}
	r, err := snapshot.Redact(func(r *snapshot.Reader) error { return r.Stream(strings.NewReader(text+"}}}"), "dump") })
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range r.Files {
		all.Write(f.Data)
	}
	for _, key := range own {
		if !strings.Contains(all.String(), `"`+key+`"`) {
			t.Errorf("%s is gone:\n%s", key, all.String())
		}
	}
	if strings.Contains(all.String(), "ledger") {
		t.Errorf("a label of the owner stays:\n%s", all.String())
	}
}
