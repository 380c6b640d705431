package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
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
