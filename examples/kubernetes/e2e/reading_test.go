package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reader is the command-line tool, which reads a cluster through the real kubectl.
type reader struct {
	*world
	tool, kubectl string
	catalog       string            // of the operator db
	configs       map[string]string // kubeconfigs of accounts
}

// The accounts of reader: each may only read.
var readers = []string{"everything", "shop", "nothing"}

// Every verb reads a running cluster as it reads the dump that kubectl prints of it. What an account
// may not list is unknown, and named; nothing that the tool asks for is more than a get or a list,
// and no Secret is asked for.
func TestReadsRunning(t *testing.T) {
	r := newReader(t)
	at := time.Now().UTC().Truncate(time.Second).Format(time.RFC3339)
	dump := filepath.Join(t.TempDir(), "dump.yaml")
	kinds := "nodes,namespaces,pods,pdb,deployments,replicasets,machines,clusterversions,subscriptions,csv,installplans,events,services,endpointslices,leases"
	text, problems, code := r.run(r.kubectl, "get", kinds, "-A", "-o", "yaml", "--kubeconfig", r.configs["everything"])
	if code != 0 {
		t.Fatal(problems)
	}
	if err := os.WriteFile(dump, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []struct {
		line []string // with DUMP for the dump
		shop string   // what the account of one namespace is told
	}{
		{[]string{"diagnose", "DUMP"}, "UNKNOWN"},
		{[]string{"update", "status", "DUMP"}, "that this account may list"},
		{[]string{"drain", "DUMP", "-node", "n1"}, "that this account may list"},
		{[]string{"taints", "lint", "DUMP"}, "not known: the nodes"},
		{[]string{"taints", "explain", "DUMP"}, "that this account may list"},
		{[]string{"explain", "DUMP", "node/n1"}, "Not known: the nodes"},
		{[]string{"explain", "DUMP", "pod/lost"}, "outside of namespace shop"},
		{[]string{"report", "DUMP", "-o", "json"}, "that this account may list"},
		{[]string{"machine", "explain", "DUMP"}, "that this account may list"},
		{[]string{"operators", "DUMP"}, "outside of namespace shop"},
		{[]string{"plan", "DUMP", "-to", "newest"}, "that this account may list"},
		{[]string{"changes", dump, "DUMP"}, "not known: the nodes"},
		{[]string{"resolve", "-catalog", "c=" + r.catalog, "-cluster", "DUMP"}, "outside of namespace shop"},
	} {
		name := strings.Join(verb.line[:2], " ")
		stored, _, want := r.verb(verb.line, dump, "-A", "-at", at)
		for _, account := range readers {
			out, problems, code := r.verb(verb.line, "", "-kubeconfig", r.configs[account], "-at", at)
			switch {
			case account == "everything" && (code != want || unlike(out, stored)):
				t.Errorf("%s: exit status %d of the running cluster, %d of its dump:\n%s\n%s\n%s", name, code, want, out, stored, problems)
			case account == "shop" && (code == 0 || !strings.Contains(out+problems, verb.shop) || !strings.Contains(problems, "it takes the permission to list them")):
				t.Errorf("%s of one namespace: exit status %d\n%s\n%s", name, code, out, problems)
			case account == "nothing" && (code != 2 || !strings.Contains(problems, "this account may list nothing")):
				t.Errorf("%s of nothing: exit status %d\n%s\n%s", name, code, out, problems)
			}
		}
	}
	r.redacts(dump, at)
	if out, problems, code := r.run(r.tool, "explain", "deployment/web", "-n", "shop", "-namespace", "shop", "-kubeconfig", r.configs["shop"], "-at", at); code == 2 || !strings.HasPrefix(out, "deployment shop/web: nothing that is known is wrong") || strings.Contains(problems, "pods") {
		t.Errorf("-namespace: exit status %d\n%s\n%s", code, out, problems)
	}
	r.only()
}

// redacts checks that the redacted dump of a running cluster is read as that of its dump, or as what an
// account may list of it.
func (r *reader) redacts(dump, at string) {
	r.Helper()
	dir := r.TempDir()
	to := func(name string) string { return filepath.Join(dir, name) }
	if out, problems, code := r.run(r.tool, "redact", dump, "-o", to("stored"), "-A"); code != 0 {
		r.Fatal(out, problems)
	}
	_, _, want := r.run(r.tool, "diagnose", to("stored"), "-A", "-at", at)
	for _, account := range readers {
		_, problems, code := r.run(r.tool, "redact", "-o", to(account), "-kubeconfig", r.configs[account])
		if account == "nothing" {
			if code != 2 || !strings.Contains(problems, "this account may list nothing") {
				r.Errorf("redact of nothing: exit status %d\n%s", code, problems)
			}
			continue
		}
		out, more, is := r.run(r.tool, "diagnose", to(account), "-at", at)
		switch {
		case account == "everything" && (code != 0 || is != want):
			r.Errorf("redact: exit status %d, and then %d instead of %d\n%s%s%s", code, is, want, problems, out, more)
		case account == "shop" && (is == 0 || !strings.Contains(problems, "it takes the permission to list them")):
			r.Errorf("redact of one namespace: exit status %d, and then %d\n%s%s%s", code, is, problems, out, more)
		}
	}
}

// source is where a report says what it was made from.
var source = regexp.MustCompile(`"source":"[^"]*"`)

// unlike reports whether an answer differs from that of the dump. Of a report, only the first screen is
// compared: the running cluster also says of which kinds there are none.
func unlike(live, stored string) bool {
	first := func(text string) string {
		text, _, _ = strings.Cut(source.ReplaceAllString(text, ""), `"waits":`)
		return text
	}
	return first(live) != first(stored)
}

// newReader makes a cluster in which the drain of a node does not complete and a pod of another
// namespace has no node.
func newReader(t *testing.T) *reader {
	kubectl := cluster.ProgramForTest(t, "kubectl")
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "crd/clusterversions.yaml", "crd/operators-subscriptions.yaml", "crd/operators-clusterserviceversions.yaml", "crd/operators-installplans.yaml")
	r := &reader{w, filepath.Join(t.TempDir(), "fairlead"), kubectl, t.TempDir(), map[string]string{}}
	if out, err := exec.Command("go", "build", "-o", r.tool, "github.com/fairlead/fairlead/examples/fairlead").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, node := range []string{"n1", "n2"} {
		if err := w.kubelets.AddNode(t.Context(), node, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.namespace("shop")
	w.namespace("bank")
	labels, two := map[string]string{"app": "web"}, int32(2)
	selector, all := &metav1.LabelSelector{MatchLabels: labels}, intstr.FromInt32(2)
	w.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &two, Selector: selector, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
		}},
	})
	w.create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: selector}})
	w.pod("bank", "lost", "", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	w.eventually("the pods of web", func() string {
		d := &appsv1.Deployment{}
		if err := w.admin.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, d); err != nil || d.Status.ReadyReplicas == two {
			return problem(err)
		}
		return "not all are ready"
	})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if err := w.admin.Patch(t.Context(), node, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.catalog, "catalog.yaml"), []byte(readCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	w.create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": map[string]any{"namespace": "shop", "name": "db"},
		"spec": map[string]any{"name": "db", "channel": "stable", "source": "c", "sourceNamespace": "olm"},
	}})
	w.create(&unstructured.Unstructured{Object: map[string]any{ // a dump without any does not say that there are none
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": map[string]any{"namespace": "bank", "name": "ledger.v1.0.0"},
		"spec": map[string]any{"displayName": "ledger", "version": "1.0.0", "install": map[string]any{"strategy": "deployment"}},
	}})
	r.accounts()
	return r
}

// readCatalog has one operator.
const readCatalog = `{schema: olm.package, name: db, defaultChannel: stable}
---
{schema: olm.channel, package: db, name: stable, entries: [{name: db.v1.0.0}]}
---
{schema: olm.bundle, package: db, name: db.v1.0.0, image: "r/db:1", properties: [{type: olm.package, value: {packageName: db, version: 1.0.0}}]}
`

// accounts makes the accounts: one may read everything, one what is in namespace shop.
func (r *reader) accounts() {
	r.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reads"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}}})
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reads"}
	to := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	}
	r.create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "reads"}, RoleRef: role, Subjects: to("everything")})
	r.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "reads", Namespace: "shop"}, RoleRef: role, Subjects: to("shop")})
	for _, name := range readers {
		user, err := r.ConfigForUser(name)
		if err != nil {
			r.Fatal(err)
		}
		r.configs[name] = filepath.Join(r.TempDir(), name)
		if err := cluster.WriteKubeconfig(user, r.configs[name]); err != nil {
			r.Fatal(err)
		}
	}
	if _, problems, code := r.run(r.kubectl, "config", "set-context", "--current", "--namespace=shop", "--kubeconfig", r.configs["shop"]); code != 0 {
		r.Fatal(problems)
	}
	r.eventually("the rights of the accounts", func() string {
		_, problems, _ := r.run(r.kubectl, "get", "pods", "--kubeconfig", r.configs["shop"])
		_, all, _ := r.run(r.kubectl, "get", "pods", "-A", "--kubeconfig", r.configs["everything"])
		return strings.TrimSpace(problems + all)
	})
}

// run runs a program that finds kubectl on its PATH, and little else.
func (r *reader) run(program string, words ...string) (out, problems string, code int) {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), program, words...)
	cmd.Env = []string{"PATH=" + filepath.Dir(r.kubectl), "HOME=" + filepath.Dir(r.tool)}
	var to, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &to, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		r.Fatal(err)
	}
	return to.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// verb runs the tool with a dump, or without one.
func (r *reader) verb(line []string, dump string, flags ...string) (out, problems string, code int) {
	r.Helper()
	words := slices.Clone(line)
	switch i := slices.Index(words, "DUMP"); {
	case dump != "":
		words[i] = dump
	case words[i-1] == "-cluster":
		words = slices.Delete(words, i-1, i+1)
	default:
		words = slices.Delete(words, i, i+1)
	}
	return r.run(r.tool, append(words, flags...)...)
}

// only checks that accounts read and did nothing else.
func (r *reader) only() {
	r.Helper()
	lists := 0
	for _, q := range r.requests(cluster.Filter{Where: func(q *cluster.Request) bool { return slices.Contains(readers, q.User) }}) {
		if q.Verb != "get" && q.Verb != "list" {
			r.Errorf("%s: %s %s", q.User, q.Verb, q.URI)
		}
		if q.Resource == "secrets" {
			r.Errorf("%s: it asks for secrets: %s", q.User, q.URI)
		}
		if q.Verb == "list" {
			lists++
		}
	}
	if lists == 0 {
		r.Error("the audit log has no list")
	}
}
