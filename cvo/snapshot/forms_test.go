package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/long"
)

const (
	node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"7"},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-02T10:00:00Z"}],"allocatable":{"cpu":4}}}`
	pod  = `{"metadata":{"name":"web","namespace":"shop"},"spec":{"nodeName":"n1","containers":[{"name":"c"}]},"status":{"phase":"Running"}}`
	cv   = `{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version","uid":"a"},"spec":{"clusterID":"one"},"status":{"desired":{"version":"4.18.3"}}}`
)

// forms are the same small cluster as people have it.
func forms() map[string]fstest.MapFS {
	f := func(files ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		return m
	}
	const image = "quay-io-must-gather-sha256-1/"
	return map[string]fstest.MapFS{
		"must-gather": f(
			"timestamp", "2026-01-02 10:00:05.1 +0000 UTC m=+0.1\n2026-01-02 10:03:00 +0000 UTC m=+175.1\n",
			"event-filter.html", "<html>",
			image+"cluster-scoped-resources/core/nodes/n1.yaml", node,
			image+"cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml", cv,
			image+"etcd_info/endpoint_health.json", `[{"endpoint":"https://10.0.0.1:2379","health":true,"took":"5ms"}]`,
			image+"etcd_info/endpoint_status.json", `[{"Endpoint":"https://10.0.0.1:2379","Status":{"header":{}}}]`,
			image+"namespaces/shop/core/pods.yaml", `{"kind":"PodList","apiVersion":"v1","items":[`+pod+`]}`,
			image+"namespaces/shop/pods/web/c/c/logs/current.log", "2026 {kind: Pod",
			image+"namespaces/shop/core/secrets.yaml", `{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"s","namespace":"shop"},"data":{"token":"aaaa"}}]}`,
		),
		"cluster-info dump": f(
			"nodes.json", `{"kind":"NodeList","apiVersion":"v1","items":[`+node+`]}`,
			"shop/pods.json", `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[`+pod+`]}`,
			"shop/web/logs.txt", "==== START",
		),
		"support bundle": f(
			"cluster-resources/nodes.json", `{"kind":"NodeList","apiVersion":"v1","items":[`+node+`]}`,
			"cluster-resources/pods/shop.json", `[`+pod+`]`,
			"cluster-resources/pods/logs/shop/web/c.log", "text",
			"cluster-resources/pods-errors.json", `["pods is forbidden"]`,
			"version.yaml", "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\n",
			"analysis.json", `[{"name":"x","severity":"warn"}]`,
		),
		"insights archive": f(
			"config/node/n1.json", node,
			"config/version.json", strings.Replace(cv, `"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion",`, "", 1),
			"config/pod/shop/web.json", strings.Replace(pod, `{"metadata"`, `{"kind":"Pod","apiVersion":"v1","metadata"`, 1),
			"config/alerts.json", `[{"labels":{"alertname":"Down","severity":"critical"},"state":"firing","annotations":{}}]`,
			"insights-operator/gathers.json", `{"status_reports":[{"name":"x"}]}`,
		),
		"lists in lists, broken and foreign files": f(
			"all.json", `{"kind":"List","items":[{"kind":"NodeList","apiVersion":"v1","items":[`+node+`]},{"kind":"PodList","apiVersion":"v1","items":[`+pod+`]}]}`,
			"values.yaml", "replicas: [1,\n",
			"notes.json", "not found",
			"old.json", strings.Replace(node, `"7"`, `"6"`, 1),
		),
	}
}

func read(t testing.TB, dump fstest.MapFS) *snapshot.Snapshot {
	t.Helper()
	var r snapshot.Reader
	if err := r.FS(dump, "dump"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every form shows the node and the pod; nothing is refused because of other files.
func TestForms(t *testing.T) {
	for name, dump := range forms() {
		s := read(t, dump)
		n, is := s.Nodes.Get("", "n1")
		if is != snapshot.Present || n.Status.Allocatable["cpu"] != "4" {
			t.Errorf("%s: node: %v", name, is)
		}
		if _, is := s.Pods.Get("shop", "web"); is != snapshot.Present {
			t.Errorf("%s: pod: %v", name, is)
		}
		if len(s.PodsOn("n1")) != 1 {
			t.Errorf("%s: %d pods on n1", name, len(s.PodsOn("n1")))
		}
		if _, is := s.Pods.Get("shop", "other"); is == snapshot.Absent != (name != "insights archive") {
			t.Errorf("%s: another pod of the namespace: %v", name, is)
		}
		if _, is := s.Pods.Get("bank", "web"); is == snapshot.Absent && !s.Pods.Scope.Assumed {
			t.Errorf("%s: a pod of another namespace: %v", name, is)
		}
		for _, w := range s.Warnings {
			if w.Unread {
				t.Errorf("%s: %v", name, &w)
			}
		}
		text := fmt.Sprintf("%+v", s)
		if strings.Contains(text, "aaaa") {
			t.Errorf("%s: a secret was kept", name)
		}
		if version := s.Version(); (name == "must-gather" || name == "insights archive") && (version == nil || version.Status.Desired.Version != "4.18.3") {
			t.Errorf("%s: the version is not known", name)
		}
	}
	s := read(t, forms()["must-gather"])
	if s.Clock.At != time.Date(2026, 1, 2, 10, 3, 0, 0, time.UTC) || len(s.Etcd.Items) != 1 || !s.Etcd.Items[0].Healthy {
		t.Errorf("%+v %+v", s.Clock, s.Etcd.Items)
	}
	if s := read(t, forms()["insights archive"]); len(s.Alerts.Items) != 1 {
		t.Error("the alerts are not known")
	}
}

// The output of kubectl cluster-info dump has logs between the lists.
func TestLogsBetween(t *testing.T) {
	text := `{"kind":"NodeList","apiVersion":"v1","items":[` + node + "]}\n==== START logs for container c of pod shop/web ====\n{\"kind\":\"Pod\"\n- : {\n==== END logs for container c of pod shop/web ====\n" +
		`{"kind":"PodList","apiVersion":"v1","items":[` + pod + `,{"metadata":{"name":"x","namespace":"shop"},"spec":{"nodeName":3,"containers":{}}}]}` + "\n"
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(text), "-"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil || len(s.Nodes.Items) != 1 || len(s.Pods.Items) != 2 {
		t.Fatalf("%v %d nodes, %d pods, %v", err, len(s.Nodes.Items), len(s.Pods.Items), s.Warnings)
	}
	if len(s.Warnings) != 1 || s.Warnings[0].Where.Line != 6 || s.Warnings[0].Field != "spec.containers" || s.Pods.Items[1].Spec.NodeName != "3" {
		t.Errorf("%+v", s.Warnings)
	}
}

// Two clusters in one input are refused, with both names.
func TestTwoClusters(t *testing.T) {
	var r snapshot.Reader
	for i, id := range []string{"one", "two"} {
		if err := r.Stream(strings.NewReader(strings.Replace(cv, "one", id, 1)), fmt.Sprintf("cv%d.json", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.Snapshot()
	if err == nil || !strings.Contains(err.Error(), "one") || !strings.Contains(err.Error(), "two") {
		t.Error(err)
	}
}

// A node whose clock is far ahead does not set the time, and deadlines never do.
func TestClock(t *testing.T) {
	text := ""
	for i, at := range []string{"2026-01-02T10:00:00Z", "2026-01-02T10:00:30Z", "2027-01-02T10:00:00Z", "2026-01-02T09:58:00Z"} {
		text += fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: n%d, deletionTimestamp: \"2030-01-01T00:00:00Z\"}\nstatus: {conditions: [{type: Ready, status: \"True\", lastHeartbeatTime: %q}]}\n---\n", i, at)
	}
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(text), "nodes.yaml"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil || s.Clock.At.Format(time.RFC3339) != "2026-01-02T10:00:30Z" || !slices.Equal(s.Clock.Ahead, []string{"n2"}) {
		t.Errorf("%v %+v", err, s.Clock)
	}
}

// However an input is damaged, it is read: without a panic, and without more objects or a wider
// scope than it has.
func TestDamage(t *testing.T) {
	all := forms()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range long.N(200, 20_000) {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		name := names[random.IntN(len(names))]
		dump := forms()[name]
		var files []string
		for file := range dump {
			files = append(files, file)
		}
		slices.Sort(files)
		file := files[random.IntN(len(files))]
		data := slices.Clone(dump[file].Data)
		switch random.IntN(4) {
		case 0:
			data[random.IntN(len(data))] = byte(random.IntN(256))
		case 1:
			data = data[:random.IntN(len(data))]
		case 2:
			data = append(append(data, '\n'), data...)
		case 3:
			for _, word := range []string{`"Running"`, `"n1"`, `[{"name":"c"}]`} {
				data = []byte(strings.Replace(string(data), word, []string{"null", "3", "{}", "[[1]]", `"x"`}[random.IntN(5)], 1))
			}
		}
		dump[file] = &fstest.MapFile{Data: data}
		var r snapshot.Reader
		if err := r.FS(dump, ""); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, name, err)
		}
		s, err := r.Snapshot()
		if err != nil {
			continue // it seems to have two clusters
		}
		if len(s.Nodes.Items) > 2 || len(s.Pods.Items) > 2 {
			t.Errorf("seed %d: %s: %d nodes, %d pods", seed, name, len(s.Nodes.Items), len(s.Pods.Items))
		}
		if _, is := s.Pods.Get("shop", "web"); is == snapshot.Absent && strings.Contains(string(data), `"name":"web","namespace":"shop"`) && strings.Contains(file, "pod") {
			t.Errorf("seed %d: %s: %s: the pod counts as absent\n%s", seed, name, file, data)
		}
	}
}

// Files of different times: if every node was made after the update's last word, durations count
// to that word, and not to what nodes that are not of this update have written.
func TestApart(t *testing.T) {
	const update = `{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version","creationTimestamp":"2026-01-01T00:00:00Z"},
		"status":{"conditions":[{"type":"Progressing","status":"True","lastTransitionTime":"2026-01-02T10:00:00Z"}]}}`
	node := func(name, made string) string {
		return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + name + `","creationTimestamp":"` + made + `"},
			"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-03-01T10:00:00Z"}]}}`
	}
	for _, c := range []struct {
		nodes []string
		at    string
		apart bool
	}{
		{[]string{node("a", "2026-03-01T09:00:00Z"), node("b", "2026-03-01T09:00:00Z")}, "2026-01-02T10:00:00Z", true},
		{[]string{node("a", "2026-03-01T09:00:00Z"), node("b", "2026-01-01T09:00:00Z")}, "2026-03-01T10:00:00Z", false}, // a node was replaced
		{nil, "2026-01-02T10:00:00Z", false},
	} {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(update+strings.Join(c.nodes, "")), "dump"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil || s.Clock.At.Format(time.RFC3339) != c.at || s.Clock.Apart != c.apart {
			t.Errorf("%d nodes: %+v, %v; want %s, %t", len(c.nodes), s.Clock, err, c.at, c.apart)
		}
	}
}
