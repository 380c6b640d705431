package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/sample"
	"github.com/fairlead/fairlead/internal/long"
)

// engines builds what a live page runs.
func engines(t *testing.T) []byte {
	t.Helper()
	if built := os.Getenv("FAIRLEAD_WASM"); built != "" { // before
		engines, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		return engines
	}
	wasm := filepath.Join(t.TempDir(), "fairlead.wasm")
	build := exec.Command("go", "build", "-tags", "nocel,nohttp", "-ldflags=-s -w", "-o", wasm, "github.com/fairlead/fairlead/examples/internal/live")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	engines, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	return engines
}

// A live page answers offline: the engines run in a worker, the whole page shows the changed
// cluster, and what is undone disappears.
func TestLive(t *testing.T) {
	binary(t)
	engines := engines(t)
	in := &report.Input{Source: "sample", Situation: sample.Cluster(sample.Size{Nodes: 60, Pods: 700, Operators: 6, Hostile: true}), Goal: &plan.Goal{Release: "4.19.15", PauseWorkers: true}}
	shop, err := catalog.Open(t.Context(), os.DirFS("../testdata/shop"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if in.Catalog, err = report.Slim(shop); err != nil {
		t.Fatal(err)
	}
	p := openInput(t, in, engines, 1280, 900)
	steps := p.text(`document.querySelectorAll("#plan .steps > li").length`)
	answered := func(text string) {
		t.Helper()
		p.run(chromedp.Poll(`!document.getElementById("answer").innerText.includes("Working") && document.getElementById("answer").innerText.includes("`+text+`")`, nil, chromedp.WithPollingTimeout(2*time.Minute)))
	}
	// With the form.
	p.run(chromedp.SetValue("#kind", "accept"), chromedp.Evaluate(`document.getElementById("kind").dispatchEvent(new Event("change"))`, nil), chromedp.SendKeys("#which", "NoGPU"+kb.Enter))
	answered("No longer in the plan: update the cluster")
	p.is(`document.querySelectorAll("#plan .steps > li").length < `+steps, "the plan is shorter")
	p.is(`document.querySelectorAll("#plan .steps > li").length === JSON.parse(document.getElementById("data").textContent).plan.steps.length`, "the data is that of the changed cluster")
	// With a mark, in addition.
	p.run(chromedp.Evaluate(`document.querySelector('[data-k="node:1"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil), chromedp.Evaluate(`document.querySelector('#whytext [data-what="drain"]').click()`, nil))
	answered("The drain of ")
	p.is(`document.querySelectorAll("#tried button").length === 2`, "both are tried")
	p.is(`[...document.querySelectorAll("#plan .steps > li")].some(e => e.textContent.includes("out of service"))`, "the plan drains the node")
	p.run(chromedp.Poll(whole+` && document.querySelectorAll("#whatif").length === 1`, nil)) // and only once
	p.run(chromedp.Evaluate(`document.querySelector('[data-k="node:1"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil))
	p.is(`!document.getElementById("why").hidden`, "marks of the new page say why")
	p.keys(kb.Escape)
	// An operator, with what it requires.
	p.run(chromedp.SetValue("#kind", "subscribe"), chromedp.Evaluate(`document.getElementById("kind").dispatchEvent(new Event("change"))`, nil), chromedp.SendKeys("#which", "shop"+kb.Enter))
	answered("Installs database.v4.2.0")
	p.is(`document.getElementById("operators").textContent.includes("shop")`, "it is among the operators")
	// Something that does not exist.
	p.run(chromedp.SendKeys("#which", "nothing"+kb.Enter))
	answered("not found in this report")
	// All of it undone.
	p.run(chromedp.Click("#tried li:first-child button"), chromedp.Click("#tried li:first-child button"), chromedp.Click("#tried li:first-child button"))
	p.run(chromedp.Poll(`document.getElementById("answer").innerText === "" && document.querySelectorAll("#plan .steps > li").length === `+steps, nil, chromedp.WithPollingTimeout(2*time.Minute)))
	if bad := p.text(contrast); bad != "" {
		t.Errorf("hard to read: %s", bad)
	}
}

// The largest cluster fits into a live page, which answers.
func TestLiveLarge(t *testing.T) {
	if !long.Enabled() {
		t.Skip("the largest live page is opened with FAIRLEAD_LONG=1 alone")
	}
	binary(t)
	p := openInput(t, &report.Input{Source: "sample", Situation: sample.Cluster(sample.Size{Nodes: 5000, Pods: 150_000, Operators: 50}), Goal: &plan.Goal{Release: "4.19.15", PauseWorkers: true}}, engines(t), 1280, 900)
	begun := time.Now()
	p.run(chromedp.SetValue("#kind", "accept"), chromedp.Evaluate(`document.getElementById("kind").dispatchEvent(new Event("change"))`, nil), chromedp.SendKeys("#which", "NoGPU"+kb.Enter))
	p.run(chromedp.Poll(`document.getElementById("answer").innerText && !document.getElementById("answer").innerText.includes("Working")`, nil, chromedp.WithPollingTimeout(10*time.Minute)))
	t.Logf("answered after %s: %s", time.Since(begun).Round(time.Second), p.text(`document.getElementById("answer").innerText`))
	p.is(`document.getElementById("answer").innerText.includes("No longer in the plan: update the cluster")`, "the risk is accepted")
	p.run(chromedp.Poll(whole, nil))
}
