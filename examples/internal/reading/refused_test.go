package reading_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// server answers for kubectl: get says what a call of get prints, by its resources and scope; the rest is
// that of a cluster that has some kinds.
func server(t *testing.T, kinds string, get string) (calls func() int) {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
case "$1" in
config) printf '{"current-context":"lab","contexts":[{"context":{"cluster":"farm","user":"ann","namespace":"shop"}}]}'; exit ;;
api-resources) printf '` + kinds + `'; exit ;;
esac
echo >> "` + dir + `/calls"
list() { printf '{"kind":"List","apiVersion":"v1","items":[%s]}' "$1"; }
forbid() { printf 'Error from server (Forbidden): x is forbidden: User "ann" cannot list resource "%s" in API group "%s" at the cluster scope\n' "$1" "$2" >&2; }
pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop"}}'
case "$2 $*" in
` + get + `
*) echo "Error: unexpected call $*" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	return func() int {
		text, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
}

// What of an answer cannot be relied on is unknown; what can be is known, although other kinds are refused
// or fail.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		kinds, get string
		calls      int
		absent     string // kinds of which another object is absent in namespace bank; it is unknown of the others
		in         string // the same in the namespace of the context
	}{
		"cut off beside a refusal": {`pods\njobs.batch\nservices\n`, `
"pods,jobs.batch,services "*) printf '{"kind":"List","apiVersion":"v1","items":[%s,' "$pod"; forbid jobs batch; exit 1 ;;
*) exit 1 ;;`, 2, "", ""},
		"ended without a word": {`pods\nservices\n`, `
"pods,services "*) list "$pod"; exit 1 ;;
*) exit 1 ;;`, 2, "", ""},
		"one of them fails": {`pods\nservices\n`, `
"pods,services "*-A*) list "$pod"; echo 'Error from server (Timeout): the server was unable to return a response in time' >&2; exit 1 ;;
"pods "*-A*) list "$pod" ;;
*) echo 'Error from server (Timeout): the server was unable to return a response in time' >&2; exit 1 ;;`, 4, "Pod", "Pod"},
		"the client talks": {`pods\nservices\n`, `
"pods,services "*-A*) list "$pod"; echo 'E1127 12:00:00.1 memcache.go:1] metrics: not available' >&2; echo 'Warning: v1 is old' >&2; forbid services ''; exit 1 ;;
"services "*--namespace=shop*) list '' ;;`, 2, "Pod", "Pod Service"},
		"two APIs of machines": {`machines.machine.openshift.io\nmachines.cluster.x-k8s.io\n`, `
"machines.machine.openshift.io,machines.cluster.x-k8s.io "*-A*) list ''; forbid machines cluster.x-k8s.io; exit 1 ;;
"machines.cluster.x-k8s.io "*--namespace=shop*) list '' ;;`, 2, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			calls := server(t, `nodes\n`+c.kinds, `
"nodes "*) list '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}' ;;`+c.get)
			s, problems, err := call(t, "-context", "lab")
			if err != nil {
				t.Fatal(err)
			}
			get := map[string]func(namespace string) snapshot.Presence{
				"Pod":     func(n string) snapshot.Presence { _, is := s.Pods.Get(n, "other"); return is },
				"Service": func(n string) snapshot.Presence { _, is := s.Services.Get(n, "other"); return is },
				"Job":     func(n string) snapshot.Presence { _, is := s.Jobs.Get(n, "other"); return is },
				"Machine": func(n string) snapshot.Presence { _, is := s.Machines.Get(n, "other"); return is },
			}
			for kind, of := range get {
				for namespace, known := range map[string]string{"bank": c.absent, "shop": c.in} {
					want := snapshot.Unknown
					if strings.Contains(known, kind) {
						want = snapshot.Absent
					}
					if is := of(namespace); is != want {
						t.Errorf("a %s of namespace %s: %v, want %v (%s)", kind, namespace, is, want, problems)
					}
				}
			}
			if n := calls() - 1; n != c.calls { // beside that for nodes
				t.Errorf("%d calls, want %d (%s)", n, c.calls, problems)
			}
		})
	}
}

// An administrator who has acknowledged nothing leaves no gap: that ConfigMap need not exist.
func TestNoAcknowledgement(t *testing.T) {
	server(t, `clusterversions.config.openshift.io\n`, `
"clusterversions.config.openshift.io "*) list '{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version"}}' ;;
"configmap "*admin-gates*) printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"admin-gates","namespace":"openshift-config-managed"}}' ;;
"configmap "*admin-acks*) ;;`)
	s, problems, err := call(t, "-context", "lab")
	if err != nil || len(s.ConfigMaps.Scope.Gaps) != 0 {
		t.Errorf("%v, gaps %+v (%s)", err, s.ConfigMaps.Scope.Gaps, problems)
	}
}
