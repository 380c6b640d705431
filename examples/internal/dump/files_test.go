package dump

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/taints"
)

// A directory is read file by file, and an object in several files counts once.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nodes.yaml":        "kind: NodeList\nitems:\n- metadata: {name: n1}\n- metadata: {name: n2}\n",
		"core/n1.yml":       "kind: Node\nmetadata: {name: n1}\n",
		"core/pods.json":    `{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p","namespace":"a"}},{"kind":"Pod","metadata":{"name":"p","namespace":"b"}}]}`,
		"alerts.json":       "no objects",
		"core/log.txt":      "nothing: [that is read",
		"core/budgets.yaml": "kind: PodDisruptionBudgetList\nitems: []\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) (io.ReadCloser, error) { return os.Open(name) }
	var kinds, alerts []string
	var lists bytes.Buffer
	write := Lists(&lists, "Node", "Pod", "PodDisruptionBudget")
	take := Once(func(o Object) error {
		kinds = append(kinds, o.Kind+" "+o.Meta.Namespace+"/"+o.Meta.Name)
		return write(o)
	})
	read := func(src io.Reader, file string) error { return Read(src, file, take) }
	files := Files{Open: open, Read: read, Alerts: func(file string) error {
		alerts = append(alerts, filepath.Base(file))
		return nil
	}}
	err := files.In(dir)
	want := "PodDisruptionBudgetList /, Node /n1, Pod a/p, Pod b/p, List /, Node /n2, NodeList /"
	if got := strings.Join(kinds, ", "); err != nil || got != want {
		t.Errorf("%v, %s\nwant %s", err, got, want)
	}
	if len(alerts) != 1 {
		t.Errorf("alerts: %q", alerts)
	}
	cluster, err := taints.ReadCluster(&lists)
	if err != nil || len(cluster.Nodes) != 2 || len(cluster.Pods) != 2 {
		t.Errorf("%v, %+v", err, cluster)
	}
	if err := files.In(filepath.Join(dir, "nothing")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	files.Alerts = nil
	if err := files.In(dir); err != nil {
		t.Error(err)
	}
}

// These are skipped: a directory by name, a file that was removed meanwhile, and, with an
// error at the end, a file without read permission.
func TestFilesPassedOver(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "closed.yaml", "gone.json", "namespaces/x.yaml", "prometheus/rules.json", "z.yml"} {
		path := filepath.Join(dir, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var read []string
	files := Files{
		Open: func(name string) (io.ReadCloser, error) {
			switch filepath.Base(name) {
			case "closed.yaml":
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
			case "gone.json":
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return io.NopCloser(strings.NewReader("")), nil
		},
		Read: func(_ io.Reader, file string) error {
			read = append(read, filepath.Base(file))
			return nil
		},
		Alerts: func(file string) error {
			read = append(read, "alerts of "+filepath.Base(file))
			return nil
		},
		Skip: func(dir string) bool { return dir == "namespaces" },
	}
	err := files.In(dir)
	if got := strings.Join(read, ", "); got != "a.yaml, alerts of rules.json, z.yml" {
		t.Errorf("read: %s", got)
	}
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "closed.yaml") {
		t.Errorf("what must not be read: %v", err)
	}
	if err := files.In(filepath.Join(dir, "closed.yaml")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file alone that must not be read: %v", err)
	}
	if read = nil; files.In("-") != nil || len(read) != 1 {
		t.Errorf("standard input: %q", read)
	}
}
