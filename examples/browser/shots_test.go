package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Shots takes pictures of pages to look at: FAIRLEAD_SHOTS names a directory of pages. Beside each
// NAME.html are written NAME-1280.png, NAME-390.png (both first screens), NAME-whole.png and NAME.pdf.
func TestShots(t *testing.T) {
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		t.Skip("FAIRLEAD_SHOTS names no directory of pages to look at")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".html")
		p := blank(t, file, 1280, 800)
		p.run(chromedp.Navigate(p.at), chromedp.Sleep(500*time.Millisecond))
		shot := func(suffix string, width, height int64, whole bool) {
			p.run(emulation.SetDeviceMetricsOverride(width, height, 1, false), chromedp.Sleep(200*time.Millisecond), chromedp.ActionFunc(func(ctx context.Context) error {
				text, err := page.CaptureScreenshot().WithCaptureBeyondViewport(whole).Do(ctx)
				if err != nil {
					return err
				}
				return os.WriteFile(name+suffix, text, 0o600)
			}))
		}
		shot("-1280.png", 1280, 800, false)
		shot("-390.png", 390, 844, false)
		t.Logf("%s: first screen ends at %s of 800, at 390 at %s; %d pages", filepath.Base(name),
			p.textAt(1280, 800, `Math.round(document.getElementById("top").getBoundingClientRect().bottom)`), p.textAt(390, 844, `Math.round(document.getElementById("top").getBoundingClientRect().bottom)`), p.pages(name+".pdf"))
		t.Logf("  on paper: %s", p.heights())
	}
}

// heights says how high each section is on paper, in pixels of 96 to the inch, of which a sheet of A4 has about 1030.
func (p *tab) heights() string {
	p.Helper()
	p.run(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil), emulation.SetEmulatedMedia().WithMedia("print"), emulation.SetDeviceMetricsOverride(703, 1032, 1, false), chromedp.Sleep(200*time.Millisecond))
	text := p.text(`[...document.querySelectorAll("main section")].map(s => s.id + " " + Math.round(s.getBoundingClientRect().height) + " (" + [...s.children].filter(c => c.offsetHeight > 150 || c.tagName === "figure").map(c => c.tagName + "." + c.className + " " + Math.round(c.getBoundingClientRect().height)) + ")").join("\n")`)
	p.run(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil), emulation.SetEmulatedMedia().WithMedia(""))
	return text
}

// textAt evaluates an expression in a window of a size.
func (p *tab) textAt(width, height int64, script string) string {
	p.Helper()
	p.run(emulation.SetDeviceMetricsOverride(width, height, 1, false), chromedp.Sleep(100*time.Millisecond))
	return p.text(script)
}

// pages prints the page, and returns how many sheets of A4 that takes.
func (p *tab) pages(file string) int {
	p.Helper()
	var text []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		text, _, err = page.PrintToPDF().WithPaperWidth(8.27).WithPaperHeight(11.69).WithPrintBackground(true).Do(ctx)
		return err
	}))
	if file != "" {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			p.Fatal(err)
		}
	}
	count := 0
	for _, part := range strings.Split(string(text), "/Type /Page")[1:] {
		if !strings.HasPrefix(part, "s") {
			count++
		}
	}
	return count
}

// noScript switches the page's script off, or on again.
func noScript(off bool) chromedp.Action { return emulation.SetScriptExecutionDisabled(off) }

// load0 loads a page that has no script.
func (p *tab) load0() {
	p.Helper()
	p.run(chromedp.Navigate(p.at), chromedp.Sleep(300*time.Millisecond))
}

// shot takes a picture of what is seen.
func (p *tab) shot(file string) {
	p.Helper()
	var text []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		text, err = page.CaptureScreenshot().Do(ctx)
		return err
	}))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.Fatal(err)
	}
}
