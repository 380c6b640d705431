package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/long"
)

// troubled writes a cluster whose update is stuck: per 300 nodes with long names four are silent and ten are being
// drained; three pools, one of them paused, and budgets for six pods each, of which every second one allows nothing.
func troubled(t *testing.T, nodes, pods int) string {
	t.Helper()
	var items []any
	add := func(format string, args ...any) {
		var one any
		if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &one); err != nil {
			t.Fatal(err)
		}
		items = append(items, one)
	}
	add(`{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version"},"spec":{"clusterID":"c","channel":"stable-4.19"},"status":{"desired":{"version":"4.19.12"},"history":[{"state":"Partial","version":"4.19.12","startedTime":"2026-03-14T01:00:00Z"},{"state":"Completed","version":"4.19.8","startedTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T01:00:00Z"}],"conditions":[{"type":"Progressing","status":"True","lastTransitionTime":"2026-03-14T01:00:00Z"},{"type":"Available","status":"True"},{"type":"Failing","status":"False"}]}}`)
	for i := range 33 {
		version, degraded := "4.19.12", "False"
		if i == 0 {
			version = "4.19.8"
		}
		if i == 1 {
			degraded = "True"
		}
		add(`{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":%q},"status":{"versions":[{"name":"operator","version":%q}],"conditions":[{"type":"Available","status":"True","lastTransitionTime":"2026-03-14T02:00:00Z"},{"type":"Degraded","status":%q,"message":"too few of its replicas are available","lastTransitionTime":"2026-03-14T02:10:00Z"},{"type":"Progressing","status":"False","lastTransitionTime":"2026-03-14T02:00:00Z"}]}}`, []string{"machine-config", "ingress", fmt.Sprint("operator-", i)}[min(i, 2)], version, degraded)
	}
	for _, name := range []string{"worker", "infra", "gpu"} {
		add(`{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfigPool","metadata":{"name":%q},"spec":{"paused":%t,"maxUnavailable":20,"configuration":{"name":"new"},"nodeSelector":{"matchLabels":{"node-role.kubernetes.io/%s":""}}},"status":{"configuration":{"name":"old"}}}`, name, name == "gpu", name)
	}
	for n := range nodes {
		i := n * 300 / nodes
		pool, spec, ready, desired, current, state := "worker", `{}`, `{"type":"Ready","status":"True","lastTransitionTime":"2026-03-14T01:00:00Z"}`, "old", "old", "Done"
		switch {
		case i < 4:
			ready = `{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.","lastTransitionTime":"2026-03-14T03:21:00Z"}`
		case i < 14:
			spec, desired, state = `{"unschedulable":true}`, "new", "Working"
		case i < 80:
			desired, current = "new", "new"
		case i > 250:
			pool = "gpu"
		case i > 210:
			pool = "infra"
		}
		add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"ip-10-0-%d-%d.eu-west-1.compute.internal","labels":{"node-role.kubernetes.io/%s":""},"annotations":{"machineconfiguration.openshift.io/currentConfig":%q,"machineconfiguration.openshift.io/desiredConfig":%q,"machineconfiguration.openshift.io/state":%q}},"spec":%s,"status":{"allocatable":{"cpu":"64","memory":"256Gi","pods":"250"},"conditions":[%s]}}`, n/200, n%200, pool, current, desired, state, spec, ready)
	}
	for i := range pods {
		app, on := i/6, i%(nodes*2/3)
		add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"service-%d-5f-%d","namespace":"team-%d","labels":{"app":"service-%d","pod-template-hash":"5f"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"service-%d-5f","uid":"r%d","controller":true}]},"spec":{"nodeName":"ip-10-0-%d-%d.eu-west-1.compute.internal","containers":[{"name":"c"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, app, i, app%9, app, app, app, on/200, on%200)
	}
	for app := range pods / 6 {
		add(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"service-%d","namespace":"team-%d"},"spec":{"minAvailable":%d,"selector":{"matchLabels":{"app":"service-%d"}}},"status":{"currentHealthy":6,"desiredHealthy":%d,"expectedPods":6,"disruptionsAllowed":%d}}`, app, app%9, 5+app%2, app, 5+app%2, 1-app%2)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "troubled.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The first screen of a crowded cluster fits a small screen and a sheet of paper; on a phone nothing is wider than
// the screen and no name is broken that would fit a line; all of it takes at most ten sheets.
func TestCrowded(t *testing.T) {
	binary(t)
	p := openInput(t, readInput(t, troubled(t, 300, 900)), nil, 1280, 800)
	p.is(`document.documentElement.outerHTML.length < 300000`, "at most 300 KB")
	p.is(`document.getElementById("top").getBoundingClientRect().bottom <= 800`, "the first screen fits 1280x800")
	p.is(`document.querySelectorAll("#top .do > li").length >= 1 && document.querySelectorAll("#top .do > li").length <= 5`, "at most five steps")
	p.run(emulation.SetDeviceMetricsOverride(390, 844, 1, false), chromedp.Poll(`innerWidth === 390`, nil))
	p.is(`document.documentElement.scrollWidth <= 390`, "nothing is wider than a phone")
	p.is(`[...document.querySelectorAll("#top .w")].every(e => e.getClientRects().length === 1 && (e.offsetHeight < 30 || e.scrollWidth >= e.parentElement.clientWidth * .8))`, "no broken names")
	p.is(`[...document.querySelectorAll("#top .stages tr")].every(r => r.getBoundingClientRect().right <= 390)`, "stages fit a phone")
	p.is(`document.querySelector("#top .do .cmd").getBoundingClientRect().bottom <= 844`, "verdict, causes and the first step with its command are on the first screen of a phone")
	if n := p.pages(""); n > 10 {
		t.Errorf("%d sheets of paper", n)
	} else {
		t.Logf("%d sheets of paper", n)
	}
	p.run(emulation.SetEmulatedMedia().WithMedia("print"), emulation.SetDeviceMetricsOverride(703, 1032, 1, false))
	p.is(`document.getElementById("top").getBoundingClientRect().height <= 1032`, "the first screen is on one sheet")
}

// Five thousand nodes in trouble have a page of at most 1.5 MB, which loads in half a second.
func TestCrowdedLarge(t *testing.T) {
	if !long.Enabled() {
		t.Skip("5,000 nodes in trouble are diagnosed with FAIRLEAD_LONG=1 alone")
	}
	file := os.Getenv("FAIRLEAD_CROWDED") // made before
	if file == "" {
		file = write(t, readInput(t, troubled(t, 5000, 9000)), nil)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > 1_500_000 {
		t.Errorf("%v bytes, %v", info, err)
	}
	p := blank(t, file, 1280, 800)
	p.load()
	took, err := strconv.Atoi(p.text(`Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`))
	if err != nil || took > 500 {
		t.Errorf("loaded in %d ms, %v", took, err)
	}
	t.Logf("%d bytes, loaded in %d ms", info.Size(), took)
	p.is(`document.getElementById("top").getBoundingClientRect().bottom <= 800`, "the first screen fits 1280x800")
}
