// Package browser tests pages in a real browser. The tests are skipped if there is no
// Chromium or Chrome.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/sample"
	"github.com/fairlead/fairlead/internal/long"
)

// binary returns the path of the browser.
func binary(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed (Debian: apt-get install chromium): the page is not tried in a browser")
	return ""
}

// tab is a page that is open in a browser, with the errors that occurred there.
type tab struct {
	*testing.T
	ctx context.Context
	at  string // the address of the page

	mu      sync.Mutex
	trouble []string
}

// open makes a report of a cluster and opens it in a window.
func open(t *testing.T, size sample.Size, width, height int64) *tab {
	t.Helper()
	return openInput(t, &report.Input{Source: "sample", Situation: sample.Cluster(size), Goal: &plan.Goal{Minor: "4.20", PauseWorkers: true}}, nil, width, height)
}

// openInput opens the report of an input, which is live if there are engines.
func openInput(t *testing.T, in *report.Input, engines []byte, width, height int64) *tab {
	t.Helper()
	p := blank(t, write(t, in, engines), width, height)
	p.load()
	return p
}

// write writes the report of an input, and returns its file.
func write(t *testing.T, in *report.Input, engines []byte) string {
	t.Helper()
	binary(t)
	r, err := report.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if engines == nil {
		err = r.WriteHTML(&b)
	} else {
		err = r.WriteLive(&b, in, engines)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the page has %d bytes", b.Len())
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// blank starts a browser for a file, and does not load it yet.
func blank(t *testing.T, file string, width, height int64) *tab {
	t.Helper()
	path := binary(t)
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, time.Duration(long.N(4, 15))*time.Minute)
	t.Cleanup(cancel)
	at := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	p := &tab{T: t, ctx: ctx, at: at}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.bad("exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.bad("console: " + string(e.Type))
		case *network.EventRequestWillBeSent:
			if e.Request.URL != at && !strings.HasPrefix(e.Request.URL, "blob:") { // a blob is created by the page
				p.bad("request: " + e.Request.URL)
			}
		case *page.EventJavascriptDialogOpening:
			p.bad("dialog: " + e.Message)
		}
	})
	// What a policy refuses is reported as an event, which the page records.
	watch := `addEventListener("securitypolicyviolation", e => (window.refused ??= []).push(e.violatedDirective + " " + e.blockedURI + " " + e.sample))`
	p.run(network.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, false),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(watch).Do(ctx)
			return err
		}))
	t.Cleanup(func() {
		if refused := p.text(`(window.refused || []).join("; ")`); refused != "" {
			t.Error("the page's own policy refuses: ", refused)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.trouble) > 0 {
			t.Error(strings.Join(p.trouble, "\n"))
		}
	})
	return p
}

// load loads the page.
func (p *tab) load() {
	p.Helper()
	p.run(chromedp.Navigate(p.at), chromedp.Poll(whole, nil))
}

func (p *tab) bad(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = append(p.trouble, text)
}

// run runs actions in the browser.
func (p *tab) run(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// text evaluates an expression, and returns its value as a text.
func (p *tab) text(script string) (s string) {
	p.Helper()
	p.run(chromedp.Evaluate("String("+script+")", &s))
	return s
}

// is fails if an expression is not true.
func (p *tab) is(script, what string) {
	p.Helper()
	if got := p.text(script); got != "true" {
		p.Errorf("%s: %s is %s", what, script, got)
	}
}

// focus moves the focus to the first element that a selector finds.
func (p *tab) focus(selector string) {
	p.Helper()
	p.run(chromedp.Poll("!!document.querySelector(`"+selector+"`)", nil, chromedp.WithPollingTimeout(20*time.Second)), chromedp.Evaluate("document.querySelector(`"+selector+"`).focus()", nil))
}

// keys presses keys.
func (p *tab) keys(keys string) {
	p.Helper()
	p.run(chromedp.KeyEvent(keys))
}

// Every kind of mark says why when it is clicked.
func TestClicks(t *testing.T) {
	p := open(t, sample.Size{Nodes: 60, Pods: 700, Operators: 6, Hostile: true}, 1280, 900)
	for kind, want := range map[string]string{
		"step:0": "Done when", "rel:": "Updates to", "op:0:": "Updates to", "node:1": "Pool", "work:0": "Kind", "budget:0": "Healthy", "taint:0": "Not tolerated by", "machine:0": "storage-operator",
	} {
		var told string
		p.run(chromedp.Evaluate(`document.querySelector('[data-k^="`+kind+`"]:last-of-type, [data-k^="`+kind+`"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil),
			chromedp.Evaluate(`document.getElementById("whytext").innerText`, &told))
		if !strings.Contains(told, want) {
			t.Errorf("%s: %q is not told:\n%s", kind, want, told)
		}
	}
	// Details are words, not identifiers of the engines.
	var heads string
	p.run(chromedp.Evaluate(`JSON.parse(document.getElementById("data").textContent).plan.steps.map((_, i) => { document.querySelector('#plan [data-k="step:' + i + '"]').dispatchEvent(new MouseEvent("click", {bubbles: true})); return document.querySelector("#whytext h2").textContent; }).join("\n")`, &heads))
	for i, head := range strings.Split(heads, "\n") {
		if !regexp.MustCompile(`^Step \d+: [a-z]+ [a-z]`).MatchString(head) {
			t.Errorf("step %d: %s", i, head)
		}
	}
	// A real click, on what is visible.
	var at []float64
	p.run(chromedp.Evaluate(`document.getElementById("close").click()`, nil), chromedp.Evaluate(`(() => { const e = document.querySelector('#map [data-k^="node:"]'); e.scrollIntoView({block: "center", behavior: "instant"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, &at))
	p.run(chromedp.MouseClickXY(at[0], at[1]))
	p.is(`document.querySelector("#whytext h2").textContent.startsWith("Node ")`, "a click on the map")
	p.is(`[...document.querySelectorAll("[data-k]")].some(e => { e.dispatchEvent(new MouseEvent("click", {bubbles: true})); return document.querySelector("#whytext h2").textContent.includes("</script>"); })`, "hostile names are text")
	p.is(`document.querySelector("#whytext h2").textContent.includes("⟨U+202E⟩")`, "marks that turn text around are shown")
	p.is(`document.querySelectorAll("img, iframe, object, a:not([href^='#'])").length === 0`, "nothing was made of names")
	p.keys(kb.Escape)
	p.is(`document.getElementById("why").hidden`, "Escape closes")
}

// A workload says which of its pods wait for a node, and which are on one that the dump does
// not contain.
func TestPodsWithoutNode(t *testing.T) {
	s := sample.Cluster(sample.Size{Nodes: 20, Pods: 100})
	first := s.Pods[0].Labels["app"]
	s.Pods[0].Spec.NodeName, s.Pods[0].Status.Phase = "", "Pending"
	s.Pods[1].Spec.NodeName, s.Pods[2].Spec.NodeName = "elsewhere", "elsewhere"
	if s.Pods[2].Labels["app"] != first {
		t.Fatal("the first three pods are not of one workload")
	}
	p := openInput(t, &report.Input{Source: "sample", Situation: s}, nil, 1280, 900)
	tell := func(mark string) (told string) {
		p.run(chromedp.Evaluate(`document.querySelector('[data-k="`+mark+`"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil),
			chromedp.Evaluate(`document.getElementById("whytext").innerText`, &told))
		return told
	}
	told := tell("work:0")
	for _, want := range []string{"Unscheduled\n1 pod waits for a node", "Unknown nodes\n2 pods are on nodes that are not in the dump"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	// Nothing is told of what there is none of.
	for _, mark := range []string{"work:1", "budget:0"} {
		if told := tell(mark); strings.Contains(told, "Unscheduled") || strings.Contains(told, "Unknown nodes") || strings.Contains(told, "Unmanaged") {
			t.Errorf("%s:\n%s", mark, told)
		}
	}
}

// Empty lists of nodes and pods have a page, too.
func TestEmpty(t *testing.T) {
	for name, nodes := range map[string][]fairlead.Node{"no nodes": {}, "no pods": sample.Cluster(sample.Size{Nodes: 5}).Nodes} {
		t.Run(name, func(t *testing.T) {
			p := openInput(t, &report.Input{Source: "sample", Situation: &plan.Situation{Nodes: nodes, Pods: []fairlead.Pod{}}}, nil, 1280, 900)
			p.run(chromedp.Poll(`document.querySelectorAll("#worklist .empty").length === 1`, nil, chromedp.WithPollingTimeout(20*time.Second)))
		})
	}
}

// Search finds nodes, workloads and versions, and says how many.
func TestSearch(t *testing.T) {
	p := open(t, sample.Size{Nodes: 60, Pods: 700, Operators: 6}, 1280, 900)
	p.keys("/")
	p.is(`document.activeElement.id === "find"`, "/ goes to the search")
	p.run(chromedp.Evaluate(`document.getElementById("find").value = ""`, nil)) // the driver types the key that the page has taken
	p.keys("worker-0040")
	p.run(chromedp.Poll(`document.querySelectorAll("#nodelist .lrow").length === 1`, nil))
	p.run(chromedp.Poll(`/^\d+ match(es)?$/.test(document.getElementById("found").textContent)`, nil), chromedp.Poll(`document.querySelector(".match") && document.querySelector(".match").getBoundingClientRect().top < innerHeight`, nil))
	p.keys(kb.Escape) // ends the search
	p.run(chromedp.Poll(`document.querySelectorAll("#map .off").length === 0 && document.querySelectorAll("[data-s][hidden]").length === 0`, nil))
	p.keys("4.19.6")
	p.run(chromedp.Poll(`document.querySelectorAll(".pic .off").length > 10 && document.querySelectorAll("#map [data-k]:not(.off)").length === 0`, nil))
	p.is(`!document.querySelector('[data-k="rel:`+p.text(`JSON.parse(document.getElementById("data").textContent).update.releases.indexOf("4.19.6")`)+`"]').classList.contains("off")`, "a release")
	p.keys(kb.Escape)
	// Show only nodes that are down.
	p.run(chromedp.Poll(`document.querySelectorAll(".pic .off").length === 0`, nil), chromedp.Evaluate(`[...document.querySelectorAll("#legend button")].find(b => b.textContent.startsWith("down")).click()`, nil))
	p.run(chromedp.Poll(`document.querySelectorAll("#nodelist .lrow").length >= 1 && document.querySelectorAll("#nodelist .lrow").length < 5`, nil))
}

// whole says whether the script has set the page up: the filters of nodes come last.
const whole = `!!document.querySelector("#legend button") || !JSON.parse(document.getElementById("data").textContent).nodes?.name.length`

// The largest page: how long it takes to open, to search, and to scroll. The times are not
// asserted, because they depend on the machine; FAIRLEAD_LONG=1 with -v logs them. On a busy
// machine, processor time is what the page itself is responsible for.
func TestLarge(t *testing.T) {
	if !long.Enabled() {
		t.Skip("the largest report is opened with FAIRLEAD_LONG=1 alone")
	}
	file := os.Getenv("FAIRLEAD_PAGE") // made before, see TestSize of examples/internal/report
	if file == "" {
		file = write(t, &report.Input{Source: "sample", Situation: sample.Cluster(sample.Size{Nodes: 5000, Pods: 150_000, Operators: 50}), Goal: &plan.Goal{Minor: "4.20", PauseWorkers: true}}, nil)
	}
	p := blank(t, file, 1280, 900)
	tasks := p.traced(func() {
		p.load()
		p.run(chromedp.Sleep(3 * time.Second))
	})
	t.Logf("open: load event at %s ms; %s", p.text(`Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`), told(tasks))
	tasks = p.traced(func() {
		p.keys("/")
		p.keys("worker-04")
		p.run(chromedp.Poll(`document.getElementById("found").textContent !== ""`, nil), chromedp.Sleep(2*time.Second))
	})
	t.Logf("search: %s", told(tasks))
	tasks = p.traced(func() {
		p.keys(kb.Escape)
		p.run(chromedp.Sleep(2 * time.Second))
	})
	t.Logf("end of the search: %s", told(tasks))
	tasks = p.traced(func() {
		p.run(chromedp.Evaluate(`window.frames_ = []; let last = performance.now(); const step = () => requestAnimationFrame(t => { frames_.push(t - last); last = t; scrollBy({top: 120, behavior: "instant"}); if (scrollY + innerHeight < document.documentElement.scrollHeight - 1) step(); else window.scrolled = true; }); step(); 0`, nil), chromedp.Poll(`window.scrolled`, nil))
	})
	t.Logf("scroll to the end: %s frames, the longest %s ms; %s", p.text(`frames_.length`), p.text(`Math.round(Math.max(...frames_))`), told(tasks))
	tasks = p.traced(func() {
		p.run(chromedp.Evaluate(`location.hash = "#nodes"; document.querySelector('[data-k="node:1"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil), chromedp.Sleep(time.Second))
	})
	t.Logf("why a node: %s", told(tasks))
}

// Everything can be reached with the keyboard.
func TestKeys(t *testing.T) {
	p := open(t, sample.Size{Nodes: 60, Pods: 700, Operators: 6}, 1280, 900)
	was := p.text(`document.documentElement.dataset.theme`)
	p.keys("t")
	p.is(`document.documentElement.dataset.theme !== "`+was+`"`, "t switches the theme")
	p.keys("?")
	p.is(`document.getElementById("help").open`, "? shows the keys")
	p.keys(kb.Escape)
	p.is(`!document.getElementById("help").open`, "Escape closes them")
	p.keys("n")
	p.is(`document.activeElement.id === "first"`, "n goes to the next section")
	p.focus(`#nodelist .lbody`)
	p.keys(kb.ArrowDown + kb.ArrowDown + kb.Enter)
	p.is(`document.querySelector("#whytext h2").textContent === "Node "+JSON.parse(document.getElementById("data").textContent).nodes.name[1]`, "Enter on a row says why")
	p.keys(kb.Escape)
	p.is(`document.activeElement.className === "lbody"`, "the focus comes back")
	p.focus(`#map [data-k^="node:"]`)
	p.keys(kb.Enter)
	p.is(`document.querySelector("#whytext h2").textContent.startsWith("Node ")`, "Enter on the map")
	p.keys(kb.Escape)
	p.focus(`#plan .pic [data-k="step:1"]`)
	p.keys(kb.Enter)
	p.is(`document.querySelector("#whytext h2").textContent.startsWith("Step 2")`, "Enter on a mark of a picture")
	p.keys(kb.Escape)
	before := p.text(`document.querySelector("#plan svg").getBoundingClientRect().width`)
	p.focus(`#plan .pic`)
	p.keys("+")
	p.is(`document.querySelector("#plan svg").getBoundingClientRect().width > `+before+`*1.3`, "+ zooms")
	p.keys("0")
	p.is(`Math.abs(document.querySelector("#plan svg").getBoundingClientRect().width - `+before+`) < 1`, "0 fits")
	// Everything that Tab visits has a name.
	p.is(`[...document.querySelectorAll("button, input, [tabindex='0']")].every(e => e.textContent.trim() || e.getAttribute("aria-label") || e.labels && e.labels.length)`, "names")
}

// contrast lists texts that are hard to read on their background.
const contrast = `(() => {
  const rgb = s => { const m = s.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const lum = c => { const f = c.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > .9) return c; } return [255, 255, 255, 1]; };
  const bad = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (e.namespaceURI.endsWith("svg")) {
      if (e.tagName !== "text") continue;
      let behind = ground(e);
      const r = e.previousElementSibling;
      if (r && r.tagName === "rect" && e.getAttribute("pointer-events") === "none") behind = rgb(getComputedStyle(r).fill);
      if (ratio(rgb(getComputedStyle(e).fill), behind) < 4.5) bad.add("svg " + e.getAttribute("class") + " " + e.textContent);
    } else if ([...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.checkVisibility() && !["SCRIPT", "STYLE"].includes(e.tagName)) {
      if (ratio(rgb(getComputedStyle(e).color), ground(e)) < 4.5) bad.add(e.tagName + "." + e.className + " " + e.textContent.slice(0, 30));
    }
  }
  return [...bad].join("; ");
})()`

// Texts are readable in both themes: their contrast is at least 4.5.
func TestContrast(t *testing.T) {
	p := open(t, sample.Size{Nodes: 60, Pods: 700, Operators: 6}, 1280, 900)
	for _, theme := range []string{"light", "dark"} {
		p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		p.run(chromedp.Poll(`document.documentElement.dataset.theme === "`+theme+`"`, nil)) // it follows the system
		p.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true); document.querySelector('[data-k="node:1"]').dispatchEvent(new MouseEvent("click",{bubbles:true}))`, nil))
		if bad := p.text(contrast); bad != "" {
			t.Errorf("%s: hard to read: %s", theme, bad)
		}
	}
}

// In a narrow window no text is cut off: nothing is wider than the window except what scrolls
// by itself. On paper everything is open, and there are no buttons.
func TestNarrowAndPaper(t *testing.T) {
	p := open(t, sample.Size{Nodes: 60, Pods: 700, Operators: 6, Hostile: true}, 390, 800)
	p.is(`document.documentElement.scrollWidth <= 390`, "a telephone")
	p.run(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil), emulation.SetEmulatedMedia().WithMedia("print"))
	p.is(`document.querySelectorAll("#findings details:not([open])").length === 0`, "findings are open")
	p.is(`[...document.querySelectorAll("header, nav, .tools, #legend, .scripted")].every(e => !e.checkVisibility())`, "no buttons, no lists that scroll")
	p.is(`document.querySelectorAll("#map [data-k]").length > 5`, "the nodes are there")
	p.run(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
}

// axe-core, if it is installed (npm install --no-save axe-core in this directory), finds no
// accessibility problems.
func TestAxe(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed (npm install --no-save axe-core here): accessibility is judged by the other tests alone")
	}
	in := &report.Input{Source: "sample", Situation: sample.Cluster(sample.Size{Nodes: 60, Pods: 700, Operators: 6}), Goal: &plan.Goal{Minor: "4.20", PauseWorkers: true}}
	for name, engines := range map[string][]byte{"page": nil, "live page": []byte("not asked")} {
		t.Run(name, func(t *testing.T) { judge(t, string(axe), openInput(t, in, engines, 1280, 900)) })
	}
}

// judge runs axe-core on a page, in both themes.
func judge(t *testing.T, axe string, p *tab) {
	t.Helper()
	for _, theme := range []string{"light", "dark"} {
		var found string
		p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
			chromedp.Evaluate(axe+";0", nil),
			chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | "))))`, &found, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		var list []string
		if err := json.Unmarshal([]byte(found), &list); err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			t.Errorf("%s: %s", theme, v)
		}
	}
}
