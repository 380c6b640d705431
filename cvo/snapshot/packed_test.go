package snapshot_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// stream reads a text, which may be damaged.
func stream(t *testing.T, text string) (*snapshot.Snapshot, error) {
	t.Helper()
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(text), "f"); err != nil {
		return nil, err
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s, nil
}

// What is compressed again and again is refused, and files of hosted clusters, which are other
// clusters, are passed over.
func TestPacked(t *testing.T) {
	text := podsYAML
	for range 4 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		z.Close()
		text = b.String()
	}
	if _, err := stream(t, text); err == nil || !strings.Contains(err.Error(), "more often") {
		t.Errorf("compressed four times: %v", err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range [][2]string{{"mg/nodes.yaml", nodeYAML}, {"mg/hostedcluster-a/pods.yaml", podsYAML}, {"hostedcluster-b/pods.yaml", podsYAML}} {
		_ = w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte(f[1]))
	}
	w.Close()
	if s, err := stream(t, b.String()); err != nil || len(s.Nodes.Items) != 1 || len(s.Pods.Items) != 0 {
		t.Errorf("an archive with hosted clusters: %v, %+v", err, s)
	}
}

// What was deleted while somebody watched is not there.
func TestWatched(t *testing.T) {
	event := func(kind string) string {
		return `{"type":"` + kind + `","object":` + strings.TrimSpace(nodeJSON) + "}\n"
	}
	for kinds, want := range map[string]int{"ADDED": 1, "MODIFIED": 1, "DELETED": 0, "BOOKMARK": 0} {
		if s, err := stream(t, event(kinds)); err != nil || len(s.Nodes.Items) != want {
			t.Errorf("%s: %v, %+v", kinds, err, s)
		}
	}
}

// A request that is refused in a namespace leaves the others known.
func TestRefusedNamespace(t *testing.T) {
	s, err := stream(t, "Error from server (Forbidden): pods is forbidden: User \"dev\" cannot list resource \"pods\" in API group \"\" in the namespace \"shop\"\n"+podsYAML)
	if err != nil {
		t.Fatal(err)
	}
	_, in := s.Pods.Get("shop", "other")
	_, beside := s.Pods.Get("bank", "other")
	if in != snapshot.Unknown || beside != snapshot.Absent {
		t.Errorf("in the namespace: %v, beside it: %v", in, beside)
	}
}

// A document ends at a second apiVersion only if it begins with one: as kubectl writes objects, but not
// people.
func TestKindFirst(t *testing.T) {
	s, err := stream(t, "kind: Node\napiVersion: v1\nmetadata:\n  name: n1\n")
	if err != nil || len(s.Nodes.Items) != 1 || len(s.Warnings) != 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

// Where a list is cut off, more of any kind in it may be missing than what the rest mentions; and the
// last object may lack a part even if what is left of it can be read.
func TestCutLists(t *testing.T) {
	list := "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"}},\n{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n"
	s, err := stream(t, list)
	if err != nil {
		t.Fatal(err)
	}
	_, pod := s.Pods.Get("shop", "other")
	_, node := s.Nodes.Get("", "other")
	if pod != snapshot.Unknown || node != snapshot.Unknown {
		t.Errorf("cut in a node: pods %v, nodes %v", pod, node)
	}
	s, err = stream(t, podsYAML[:strings.Index(podsYAML, "    namespace: bank")])
	if err != nil || len(s.Pods.Items) != 1 || s.Pods.Items[0].Name != "a" {
		t.Errorf("cut in the last pod: %v, %+v", err, s.Pods.Items)
	}
}
