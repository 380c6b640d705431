package dump

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/taints"
)

// A directory is read file by file, and what several of them hold counts once.
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
	err := Files(open, dir, read, func(file string) error {
		alerts = append(alerts, filepath.Base(file))
		return nil
	})
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
	if err := Files(open, filepath.Join(dir, "nothing"), read, nil); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := Files(open, dir, read, nil); err != nil {
		t.Error(err)
	}
}
