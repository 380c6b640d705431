package browser

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/internal/long"
)

// readInput reads a dump as the verb report does.
func readInput(t *testing.T, files ...string) *report.Input {
	t.Helper()
	var r snapshot.Reader
	r.Everywhere = true
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := r.Stream(f, filepath.Base(file)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	sit, err := situation.Of(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosing.Of(s)
	return &report.Input{
		Source: filepath.Base(files[0]), Name: s.Identity.Name, Situation: &sit.Situation, Alerts: sit.Alerts, DaemonSets: sit.DaemonSets, Listed: sit.Listed, Around: sit.Around,
		Diagnosis: d, Installed: sit.Installed, Snapshot: s, Looked: d.At,
	}
}

// crowd writes a cluster of 24 nodes in three zones, with pods of Deployments and the budgets of them; the
// first node is silent, the second cordoned, and one budget allows nothing.
func crowd(t *testing.T, nodes, pods int) string {
	t.Helper()
	var b strings.Builder
	doc := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	doc(`{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version"},"spec":{"clusterID":"c","channel":"stable-4.19","desiredUpdate":{"version":"4.19.12"}},"status":{"desired":{"version":"4.19.12"},"history":[{"state":"Partial","version":"4.19.12","startedTime":"2026-03-14T02:00:00Z"},{"state":"Completed","version":"4.19.8","startedTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T01:00:00Z"}],"conditions":[{"type":"Progressing","status":"True","lastTransitionTime":"2026-03-14T02:00:00Z"},{"type":"Available","status":"True"},{"type":"Failing","status":"False"}]}}`)
	doc(`{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"machine-config"},"status":{"versions":[{"name":"operator","version":"4.19.8"}],"conditions":[{"type":"Available","status":"True"},{"type":"Degraded","status":"False"},{"type":"Progressing","status":"True"}]}}`)
	doc(`{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfigPool","metadata":{"name":"worker"},"spec":{"paused":true,"maxUnavailable":2,"configuration":{"name":"new"},"nodeSelector":{"matchLabels":{"node-role.kubernetes.io/worker":""}}},"status":{"machineCount":%d,"configuration":{"name":"old"}}}`, nodes)
	for i := range nodes {
		spec, ready := `{}`, `{"type":"Ready","status":"True","lastTransitionTime":"2026-03-14T01:00:00Z"}`
		if i == 0 {
			spec, ready = `{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}]}`, `{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.","lastTransitionTime":"2026-03-14T03:21:00Z"}`
		}
		if i == 1 {
			spec = `{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}`
		}
		doc(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-%03d","labels":{"node-role.kubernetes.io/worker":"","topology.kubernetes.io/zone":"zone-%d"},"annotations":{"machineconfiguration.openshift.io/currentConfig":"old","machineconfiguration.openshift.io/desiredConfig":"old","machineconfiguration.openshift.io/state":"Done"}},"spec":%s,"status":{"allocatable":{"cpu":"64","memory":"256Gi","pods":"500"},"conditions":[%s],"nodeInfo":{"kubeletVersion":"v1.32.0"}}}`, i, i%3, spec, ready)
	}
	for i := range pods {
		app := i / 20
		doc(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"app-%d-5f-%d","namespace":"team-%d","labels":{"app":"app-%d","pod-template-hash":"5f"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-%d-5f","uid":"r%d","controller":true}]},"spec":{"nodeName":"worker-%03d","containers":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, app, i, app%10, app, app, app, 2+i%(nodes-2))
	}
	for app := range pods / 20 {
		doc(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"app-%d-5f","namespace":"team-%d"},"spec":{"replicas":20}}`, app, app%10)
		least := 10
		if app == 0 {
			least = 20
		}
		if app%5 == 0 {
			doc(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"app-%d","namespace":"team-%d"},"spec":{"minAvailable":%d,"selector":{"matchLabels":{"app":"app-%d"}}},"status":{"currentHealthy":20,"desiredHealthy":%d,"expectedPods":20,"disruptionsAllowed":%d}}`, app, app%10, least, app, least, 20-least)
		}
	}
	file := filepath.Join(t.TempDir(), "crowd.json")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Every change that can be supposed is answered by the first screen before and after, with changed cells marked, in
// a sentence; what is undone is gone.
func TestSupposed(t *testing.T) {
	binary(t)
	pods := long.N(400, 15_000)
	p := openInput(t, readInput(t, crowd(t, long.N(24, 500), pods)), engines(t), 1280, 800)
	first := p.text(`document.querySelector("#top .verdict").textContent`)
	for _, c := range []struct{ kind, name, says string }{
		{"Unpaused", "worker", "If pool worker is not paused"},
		{"BudgetFixed", "team-0/app-0", "If budget team-0/app-0 allows one disruption"},
		{"OneMore", "Deployment team-0/app-0", "If deployment team-0/app-0 runs one more pod"},
		{"Uncordoned", "worker-001", "If node worker-001 is not cordoned"},
		{"NodeBack", "worker-000", "If node worker-000 is back"},
		{"NodeLost", "worker-005", "If node worker-005 is lost"},
		{"ZoneLost", "zone-1", "If zone zone-1 is lost"},
	} {
		begun := time.Now()
		p.run(chromedp.SetValue("#kind", c.kind), chromedp.Evaluate(`document.getElementById("kind").dispatchEvent(new Event("change"))`, nil), chromedp.SendKeys("#which", c.name+kb.Enter))
		p.run(chromedp.Poll(`document.querySelector(".compared .card")`, nil, chromedp.WithPollingTimeout(2*time.Minute)))
		early := time.Since(begun)
		p.run(chromedp.Poll(`!document.getElementById("answer").innerText.includes("Making") && document.querySelectorAll("#tried button").length === 1`, nil, chromedp.WithPollingTimeout(2*time.Minute)))
		t.Logf("%s %s: %d pods, first screen after %s, whole page after %s: %s", c.kind, c.name, pods, early.Round(10*time.Millisecond), time.Since(begun).Round(10*time.Millisecond), p.text(`document.querySelector(".compared .card")?.innerText`))
		p.is(`document.querySelector(".compared .card")?.innerText.startsWith("`+c.says+`")`, "the sentence")
		p.is(`document.querySelectorAll(".compared tbody tr").length >= 3 && document.querySelectorAll(".compared thead th").length === 3`, "before and after")
		p.is(`[...document.querySelectorAll(".compared tr")].every(r => !r.querySelector("mark") || r.children[1].innerText !== r.children[2].innerText.replace(/^changed\s*/, ""))`, "what is marked is different")
		p.is(`document.querySelectorAll(".compared tr.changed").length === document.querySelectorAll(".compared mark").length`, "what is different is marked")
		p.is(`document.querySelector("#top .if")?.textContent.includes("not the cluster as it is")`, "the page says that it is not the cluster")
		p.is(`document.documentElement.scrollWidth <= 1280`, "nothing is wider than the screen")
		if name := os.Getenv("FAIRLEAD_SHOT"); name != "" {
			p.shot(filepath.Join(name, cmp.Or(c.kind, "x")+".png"))
		}
		p.run(chromedp.Click("#tried button"), chromedp.Poll(`document.getElementById("answer").innerText === ""`, nil, chromedp.WithPollingTimeout(2*time.Minute)))
		if now := p.text(`document.querySelector("#top .verdict").textContent`); now != first {
			t.Errorf("undone, the first screen says %s, not %s", now, first)
		}
	}
}
