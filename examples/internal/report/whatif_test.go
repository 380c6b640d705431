package report_test

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/sample"
)

// A live page contains its input, which answers questions after a round trip: an accepted
// risk, a drained node and another release change the plan, and the page of the answer
// contains the steps that it mentions.
func TestWhatIf(t *testing.T) {
	in := &report.Input{Source: "sample", Situation: sample.Cluster(sample.Size{Nodes: 20, Pods: 200, Operators: 3}), Goal: &plan.Goal{Release: "4.19.15", PauseWorkers: true}, Catalog: shop(t)}
	before, err := report.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change report.Change
		says   []string // expressions
		page   string
	}{
		"nothing":   {},
		"accept":    {report.Change{Accept: []string{"NoGPU"}}, []string{`Before: \d+ steps to 4.19.15, .* Now: \d+ steps to 4.19.15`, `No longer in the plan: update the cluster from 4.19.\d+ to 4.19.15`}, "cluster to 4.19.15"},
		"drain":     {report.Change{To: "4.19.6", Drain: []string{"worker-0002"}}, []string{`New in the plan: update the cluster from 4.18.20 to 4.19.6`, `New in the plan: .*worker-0002`, `The drain of worker-0002 completes`}, "drain worker-0002"},
		"subscribe": {report.Change{Subscribe: []string{"shop/stable"}}, []string{`Installs shop.v1.0.0 from channel stable`, `Installs database.v4.2.0 .*because`}, "shop.v1.0.0"},
		"cannot":    {report.Change{Subscribe: []string{"shop/none"}}, []string{`shop/none cannot be installed: (?s:.*)`}, ""},
		"no node":   {report.Change{Drain: []string{"worker-9999"}}, []string{`^node worker-9999: there is no such node$`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			said, page := answer(t, in, before, test.change)
			for _, want := range test.says {
				if !regexp.MustCompile("(?m)" + want).MatchString(said) {
					t.Errorf("%q is not said in\n%s", want, said)
				}
			}
			if len(test.says) == 0 && said != "" {
				t.Errorf("nothing was changed, and this is said:\n%s", said)
			}
			if !strings.Contains(page, test.page) {
				t.Errorf("the page does not show %q", test.page)
			}
		})
	}
}

// answer asks a live page, and returns the sentences and the page of the answer.
func answer(t *testing.T, in *report.Input, before *report.Report, change report.Change) (said, page string) {
	t.Helper()
	var question, out bytes.Buffer
	if err := report.Ask(&question, in, before, change); err != nil {
		t.Fatal(err)
	}
	if err := report.Reply(t.Context(), &question, &out); err != nil {
		return err.Error(), ""
	}
	a := &report.Answer{}
	if err := json.Unmarshal(out.Bytes(), a); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range a.Says {
		lines = append(lines, string(s.Tone)+" "+s.Text)
	}
	return strings.Join(lines, "\n"), a.HTML
}

// Where there is no plan, an answer mentions none: it says why there is none.
func TestWhatIfNoPlan(t *testing.T) {
	situation := sample.Cluster(sample.Size{Nodes: 20, Pods: 200, Operators: 3})
	for name, test := range map[string]struct {
		from, to string
		want     []string
	}{
		"no longer a plan": {"4.19.15", "4.20.1", []string{`bad Before: \d+ steps to 4.19.15, .*. Now: there is no plan to 4.20.1.`, "bad Why there is no plan: .*4.20.1.*"}},
		"still no plan":    {"4.20.1", "4.20.2", []string{`bad Before: there is no plan to 4.20.1. Now: there is no plan to 4.20.2.`, "bad Why there is no plan: .*4.20.2.*", "note No longer a reason: .*4.20.1.*"}},
		"now a plan":       {"4.20.1", "4.19.15", []string{`good Before: there is no plan to 4.20.1. Now: \d+ steps to 4.19.15, .*.`}},
		"first question":   {"", "4.20.1", []string{"bad Before: nothing is planned. Now: there is no plan to 4.20.1.", "bad Why there is no plan: .*4.20.1.*"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &report.Input{Situation: situation}
			if test.from != "" {
				in.Goal = &plan.Goal{Release: test.from}
			}
			before, err := report.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := answer(t, in, before, report.Change{To: test.to})
			for _, line := range strings.Split(said, "\n") {
				if !regexp.MustCompile("^(" + strings.Join(test.want, "|") + "|warning New finding: .*|good Resolved: .*)$").MatchString(line) {
					t.Errorf("this is said: %s", line)
				}
			}
			for _, want := range test.want {
				if !regexp.MustCompile("(?m)^" + want + "$").MatchString(said) {
					t.Errorf("%q is not said in\n%s", want, said)
				}
			}
		})
	}
}

// shop is the catalog of the README.
func shop(t *testing.T) string {
	t.Helper()
	c, err := catalog.Open(t.Context(), os.DirFS("../../testdata/shop"), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.Slim(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The policy of a live page allows WebAssembly and its own worker, and no more; a page that
// would be too large is refused, with the sizes of its parts.
func TestLive(t *testing.T) {
	in := &report.Input{Situation: sample.Cluster(sample.Size{Nodes: 20, Pods: 200, Operators: 3})}
	r, err := report.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteLive(&b, in, []byte("engines")); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	policy := regexp.MustCompile(`^default-src 'none'; script-src 'sha256-\S+' 'sha256-\S+' 'wasm-unsafe-eval'; worker-src blob:; style-src 'sha256-\S+'; base-uri 'none'; form-action 'none'$`)
	if got := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page); got == nil || !policy.MatchString(strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(got[1])) {
		t.Errorf("policy %q", got)
	}
	if n := strings.Count(page, "</script>"); n != 7 {
		t.Errorf("%d scripts end in the page; it has seven", n)
	}
	noise := make([]byte, 8_000_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	b.Reset()
	if err := r.WriteLive(&b, in, noise); err == nil || !strings.Contains(err.Error(), "at most 10,000,000") || b.Len() > 0 {
		t.Errorf("a page of over %d bytes: %v, and %d bytes were written", report.MaxLive, err, b.Len())
	}
}

// A page of a snapshot answers with the first screen before and after: what is supposed changes it, and a
// question that changes nothing finds it as it was. The early answer is that of the whole one.
func TestSupposed(t *testing.T) {
	var r snapshot.Reader
	r.Everywhere = true
	if err := r.Stream(strings.NewReader(`
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {topology.kubernetes.io/zone: one}}, spec: {unschedulable: true}, status: {allocatable: {cpu: "4", pods: "9"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {topology.kubernetes.io/zone: two}}, status: {allocatable: {cpu: "2", pods: "9"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-5f-1, namespace: shop, labels: {app: web, pod-template-hash: 5f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5f, uid: r, controller: true}]}, spec: {nodeName: b, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: big, namespace: shop, creationTimestamp: "2026-03-14T03:00:00Z"}, spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-03-14T03:00:00Z"}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}, status: {currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}}
`), "cluster.yaml"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 14, 4, 4, 0, 0, time.UTC)
	in := &report.Input{Source: "cluster.yaml", Situation: plan.FromSnapshot(s), Snapshot: s, Looked: at, Diagnosis: diagnosis.Diagnose(s, at, nil)}
	before, err := report.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]report.Change{
		`If node a is not cordoned, the cluster goes from \w+ to \w+: (nothing that is known is wrong|this is no cause)`: {Suppose: []report.Tried{{What: diagnosis.Uncordoned, Name: "a"}}},
		`If zone two is lost, the cluster \w+ .*: then node b does not report`:                                           {Suppose: []report.Tried{{What: diagnosis.ZoneLost, Name: "two"}}},
		`If budget shop/web allows one disruption and node b is lost, the cluster .*: then node b does not report`:       {Suppose: []report.Tried{{What: diagnosis.BudgetFixed, Name: "shop/web"}, {What: diagnosis.NodeLost, Name: "b"}}},
		`node c is lost: there is no such object`:                                                                        {Suppose: []report.Tried{{What: diagnosis.NodeLost, Name: "c"}}},
		`^$`: {},
	} {
		var question, out bytes.Buffer
		if err := report.Ask(&question, in, before, change); err != nil {
			t.Fatal(err)
		}
		err := report.Reply(t.Context(), &question, &out)
		if len(change.Suppose) == 1 && change.Suppose[0].Name == "c" {
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		var first, whole report.Answer
		d := json.NewDecoder(&out)
		if len(change.Suppose) > 0 {
			if err := d.Decode(&first); err != nil || first.HTML != "" {
				t.Errorf("%s: %v: the first answer is not short", want, err)
			}
		}
		if err := d.Decode(&whole); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).MatchString(html.UnescapeString(first.First)) {
			t.Errorf("%s is not said:\n%s", want, first.First)
		}
		if !strings.Contains(whole.HTML, first.First) || strings.Contains(whole.HTML, "This is not the cluster as it is") != (len(change.Suppose) > 0) {
			t.Errorf("%s: the page is not that of the first answer", want)
		}
		if len(change.Suppose) == 0 && !strings.Contains(whole.HTML, before.Diagnosis.Causes[0]) {
			t.Error("without a change, the first screen is another one")
		}
	}
}
