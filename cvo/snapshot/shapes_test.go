package snapshot_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

const (
	nodeJSON = "{\n \"apiVersion\": \"v1\",\n \"kind\": \"Node\",\n \"metadata\": {\n  \"name\": \"n1\"\n }\n}\n"
	podsYAML = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: shop\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n    namespace: bank\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
	nodeYAML = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n1\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
)

// shapes are texts of one node and two pods, as people have them.
func shapes() map[string]string {
	gz := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprint(z, text)
		z.Close()
		return b.String()
	}
	wide := func(text string, order binary.AppendByteOrder) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	var packed, zipped bytes.Buffer
	tw, zw := tar.NewWriter(&packed), zip.NewWriter(&zipped)
	for _, f := range [][2]string{{"mg/all/nodes.yaml", nodeYAML}, {"mg/all/pods.yaml", podsYAML}, {"mg/all/c.log", strings.Repeat("{", 3000)}} {
		_ = tw.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Typeflag: tar.TypeReg})
		_, _ = tw.Write([]byte(f[1]))
		w, _ := zw.Create(f[0])
		_, _ = w.Write([]byte(f[1]))
	}
	tw.Close()
	zw.Close()
	all := nodeYAML + podsYAML
	return map[string]string{
		"two outputs in one file":       all,
		"JSON, then YAML":               nodeJSON + podsYAML,
		"line ends of Windows":          strings.ReplaceAll(nodeYAML+"---\n"+podsYAML, "\n", "\r\n"),
		"byte order mark":               "\ufeff" + all,
		"UTF-16":                        wide(strings.ReplaceAll(all, "\n", "\r\n"), binary.LittleEndian),
		"UTF-16, big end first":         wide("# \U0001f600\n"+all+strings.Repeat("# é\U0001f600\n", 5000), binary.BigEndian),
		"gzip":                          gz(all),
		"tar":                           packed.String(),
		"tar.gz":                        gz(packed.String()),
		"zip":                           zipped.String(),
		"warnings of kubectl":           "Warning: policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+\nW0501 12:00:00.000000   12345 x.go:2] a: b\n" + nodeJSON + "E0501 12:00:00.000000   12345 memcache.go:287] \"x\"\n" + podsYAML,
		"prompts of a shell":            "user@host:~$ kubectl get nodes -o yaml\n" + nodeYAML + "[core@m-0 ~]$ oc get pods -A -o yaml\n" + podsYAML + "[core@m-0 ~]$ \n",
		"prompts of PowerShell":         "PS C:\\Users\\me> kubectl get nodes -o yaml\r\n" + nodeYAML + "PS C:\\Users\\me> kubectl get pods -A -o yaml\r\n" + podsYAML,
		"quoted in a comment":           "Here they are:\n\n```yaml\n" + nodeYAML + "```\n\nand: the pods\n\n~~~ {x\n```\n" + podsYAML + "```\n\nThanks!\n",
		"names without a line feed":     "n1 n2" + nodeJSON + "a b" + podsYAML,
		"a watch":                       `{"type":"ADDED","object":` + strings.TrimSpace(nodeJSON) + "}\n" + podsYAML,
		"a table before":                "NAME   STATUS\nn1     Ready\n---\n" + all,
		"text after the objects":        all + "that is all\n",
		"kubectl between, no line feed": "No resources found\n" + nodeJSON + "No resources found in default namespace.\n" + podsYAML,
	}
}

// Everything that people have is read, whatever is around it.
func TestShapes(t *testing.T) {
	for name, text := range shapes() {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(text), "f"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := r.Snapshot()
		if err != nil || len(s.Nodes.Items) != 1 || len(s.Pods.Items) != 2 || !s.Nodes.Scope.Looked() {
			t.Errorf("%s: %v, %d nodes, %d pods, %v", name, err, len(s.Nodes.Items), len(s.Pods.Items), s.Warnings)
			continue
		}
		for i := range s.Warnings {
			if s.Warnings[i].Unread && name != "text after the objects" {
				t.Errorf("%s: %v", name, &s.Warnings[i])
			}
		}
	}
}

// Files count by what they have, not by how they are called.
func TestNames(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, podsYAML)
	w.Close()
	f := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	s := read(t, fstest.MapFS{
		"nodes.txt": f(nodeYAML), "pods.yaml.gz": f(z.String()), "events": f("apiVersion: v1\nkind: EventList\nitems: []\n"),
		"shop/logs.txt": f("==== START logs for container c of pod shop/a ====\n{\"kind\":\"Pod\"\n"), "readme.txt": f("a: b: c\n"), "notes": f("{"),
		"templates/d.yaml": f("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n{{- end }}\n"),
		"more.tar.gz":      f("\x1f\x8b"),
	})
	if len(s.Nodes.Items) != 1 || len(s.Pods.Items) != 2 || !s.Events.Scope.All || !s.Pods.Scope.Whole() {
		t.Errorf("%d nodes, %d pods, events: %v, pods: %v", len(s.Nodes.Items), len(s.Pods.Items), &s.Events.Scope, &s.Pods.Scope)
	}
	for i := range s.Warnings {
		if s.Warnings[i].Unread {
			t.Error(&s.Warnings[i])
		}
	}
}

// Of a list that is damaged or cut off the rest is used, and nothing is known to be absent.
func TestDamagedLists(t *testing.T) {
	pretty := "{\n \"apiVersion\": \"v1\",\n \"items\": [\n  {\n   \"kind\": \"Pod\",\n   \"apiVersion\": \"v1\",\n   \"metadata\": {\n    \"name\": \"a\",\n    \"namespace\": \"shop\"\n   }\n  },\n  {\n   \"kind\": \"Pod\",\n   \"apiVersion\": \"v1\",\n   \"metadata\": {\n    \"name\": \"b\",\n    \"namespace\": \"bank\"\n   }\n  }\n ],\n \"kind\": \"List\"\n}\n"
	for name, text := range map[string]string{
		"JSON, cut":          pretty[:strings.Index(pretty, "bank")],
		"JSON, one element":  strings.Replace(pretty, `"name": "b"`, `"name" "b"`, 1),
		"YAML, cut":          podsYAML[:strings.Index(podsYAML, ": bank")],
		"YAML, one element":  strings.Replace(podsYAML, "name: b", "name: b: c", 1),
		"archive, cut":       shapes()["tar"][:512+len(nodeYAML)+512-len(nodeYAML)%512+600],
		"the API server":     strings.Replace(pretty, "b\"", "a\"", 1) + `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden: User \"x\" cannot list resource \"pods\" in API group \"\" at the cluster scope","reason":"Forbidden"}`,
		"an error beside it": "Error from server (Forbidden): pods is forbidden: User \"dev\" cannot list resource \"pods\" in API group \"\" at the cluster scope\n" + podsYAML,
	} {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(text), "f"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		unread := slices.ContainsFunc(s.Warnings, func(w snapshot.Warning) bool { return w.Unread })
		if _, is := s.Pods.Get("shop", "other"); is != snapshot.Unknown || !unread || s.Pods.Scope.Whole() {
			t.Errorf("%s: %v, %v, %v", name, is, s.Warnings, &s.Pods.Scope)
		}
		if name != "archive, cut" {
			if _, is := s.Pods.Get("shop", "a"); is != snapshot.Present {
				t.Errorf("%s: what can be read is not used", name)
			}
		}
	}
}

// Texts that people have instead of objects are called what they are, and the headers and notes that programs
// write beside objects are passed over.
func TestOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"NAMESPACE,NAME,READY,STATUS\nshop,web,1/1,Running\n":                                    "table of values",
		"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n":                                   "web page",
		"# HELP up is it\n# TYPE up gauge\nup{job=\"a\"} 1\n":                                    "metrics",
		"/registry/minions/a\nk8s\x00\n\x02v1\n":                                                 "etcd stores",
		`{"header":{"revision":5},"kvs":[{"key":"L3JlZ2lzdHJ5","value":"azhzAA=="}]}`:            "values of etcd",
		`{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","verb":"list"}`:            "audit log",
		"apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- {name: u, user: {token: hush}}\n": "-kubeconfig reads",
		"map[apiVersion:v1 items:[map[kind:Node]] kind:List]\n":                                  "template of Go",
		"NAME   STATUS   ROLES    AGE\na      Ready    <none>   3d\n":                            "table for people",
		"HTTP/2 200\r\naudit-id: 5\r\ncontent-type: application/json\r\ndate: Fri, 01 May 2026 12:00:00 GMT\r\n\r\n" + `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`: "",
		"Script started on 2026-05-01\n$ kubectl get node a -o yaml\r\napiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: a\r\n$ exit\nScript done on 2026-05-01\n":              "",
	} {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(text), "f"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if _, is := s.Nodes.Get("", "a"); is != snapshot.Present {
				t.Errorf("%q: the node was not read: %v", text, s.Warnings)
			}
			continue
		}
		if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0].Problem, want) || !s.Empty() || strings.Contains(s.Warnings[0].String(), "hush") {
			t.Errorf("%q: %v, want %s", text, s.Warnings, want)
		}
	}
}

// An item of a List of many kinds that does not say its API version is of no version, not of the List's.
func TestItemWithoutVersion(t *testing.T) {
	for in, want := range map[string]string{
		`{"apiVersion":"v1","kind":"List","items":[{"kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"shop"}}]}`:                           "",
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudgetList","items":[{"kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"shop"}}]}`: "policy/v1",
	} {
		var told []string
		r := snapshot.Reader{Each: func(r *snapshot.Ref, _ []byte) { told = append(told, r.String()) }}
		if err := r.Stream(strings.NewReader(in), "dump"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Budgets.Refs) != 1 || s.Budgets.Refs[0].APIVersion != want || len(told) != 1 {
			t.Errorf("%s: %+v, told %v", in, s.Budgets.Refs, told)
		}
	}
}

// What a machine of the Cluster API writes in a form of its own and that cannot be read is told; its hooks are
// read all the same.
func TestOddForms(t *testing.T) {
	for in, want := range map[string]string{
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","metadata":{"name":"m","namespace":"d","annotations":{"pre-drain.delete.hook.machine.cluster.x-k8s.io/x":"y"}},"spec":{"nodeDrainTimeout":{"x":1}}}`: "spec.nodeDrainTimeout",
	} {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(in), "dump"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Warnings) != 1 || s.Warnings[0].Field != want || !s.Warnings[0].Unread {
			t.Errorf("%s: %+v", in, s.Warnings)
		}
		for i := range s.Machines.Items {
			if hooks := s.Machines.Items[i].Spec.LifecycleHooks.PreDrain; len(hooks) != 1 {
				t.Errorf("%s: the hooks are %v", in, hooks)
			}
		}
	}
}
