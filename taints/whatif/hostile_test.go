package whatif_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

// Names in the picture are text, whatever they contain.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{`</text><script>x</script>`, `" onload="x`, "\u202ea\x7f", "a\nb", "]]>", "&amp;"} {
		cluster := new(taints.Cluster)
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{eviction.LabelZone: name}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		cluster.Nodes = []fairlead.Node{n}
		pod := webPod(name)
		pod.Namespace, pod.Name = name, name
		cluster.Pods = []fairlead.Pod{pod}
		p, err := whatif.Predict(cluster, &whatif.Question{Start: time.Unix(0, 0), Events: []whatif.Event{{Nodes: []string{name}, Taint: &fairlead.Taint{Key: "k", Value: name, Effect: fairlead.NoExecute}}, {Zone: name, Dark: 12 * time.Minute}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if svg := b.String(); words.Visible(svg) != svg || !strings.Contains(svg, "1 pod is evicted") {
			t.Errorf("%q: hidden characters, or no eviction: %s", name, svg)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%q: %v: %s", name, err, &b)
			}
			if e, is := token.(xml.StartElement); is && (e.Name.Local == "script" || len(e.Attr) > 0 && strings.HasPrefix(e.Attr[len(e.Attr)-1].Name.Local, "on")) {
				t.Errorf("%q: %v", name, e)
			}
		}
	}
}

// The picture has a row for each workload, with how many pods are ready and how many its budget requires: in trouble
// while there are fewer, and well again once they are replaced; what nothing replaces does not end.
func TestLevels(t *testing.T) {
	cluster := new(taints.Cluster)
	for _, name := range []string{"a", "b"} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		cluster.Nodes = append(cluster.Nodes, n)
	}
	for i, app := range []string{"web", "web", "db"} {
		yes := true
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(app, "-5f-", i), Labels: map[string]string{"app": app, "pod-template-hash": "5f"}, OwnerReferences: []fairlead.OwnerReference{{Kind: "ReplicaSet", Name: app + "-5f", Controller: &yes}}}}
		p.Spec.NodeName, p.Status.Phase = "a", "Running"
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
		if app == "db" {
			p.OwnerReferences = nil
		}
		cluster.Pods = append(cluster.Pods, p)
	}
	budget := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	budget.Spec.MinAvailable = &fairlead.IntOrString{Int: 2}
	budget.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	cluster.Budgets = []fairlead.PodDisruptionBudget{budget}
	p, err := whatif.Predict(cluster, &whatif.Question{Start: time.Unix(0, 0), Replacement: time.Minute, Events: []whatif.Event{{Nodes: []string{"a"}, Taint: &fairlead.Taint{Key: "k", Effect: fairlead.NoExecute}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, w := range p.Workloads {
		for _, l := range w.Levels {
			told = append(told, fmt.Sprintf("%s %s +%s %d/%d coming %d gone %d short %v", w.Kind, w.Name, l.At.Sub(p.Start), l.Ready, w.Pods, l.Coming, l.Gone, l.Short))
		}
	}
	want := []string{
		"Pod db-5f-2 +0s 1/1 coming 0 gone 0 short false", "Pod db-5f-2 +0s 0/1 coming 0 gone 1 short false",
		"Deployment web +0s 2/2 coming 0 gone 0 short false", "Deployment web +0s 0/2 coming 2 gone 0 short true", "Deployment web +1m0s 2/2 coming 0 gone 0 short false",
	}
	slices.Sort(told)
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("levels\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	var b strings.Builder
	if err := p.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"✕ 1 pod is not made again, 2 evictions violate a budget", "0 of 2, 2 needed", "since 0s; it has not ended", ">node a<"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the picture does not say %q", part)
		}
	}
}
