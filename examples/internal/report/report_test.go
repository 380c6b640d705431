package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/sample"
	"github.com/fairlead/fairlead/internal/long"
)

// made makes a report of a cluster whose goal is the release after the next.
func made(t *testing.T, size sample.Size) (*report.Report, string) {
	t.Helper()
	r, err := report.Make(t.Context(), &report.Input{Source: "sample", Situation: sample.Cluster(size), Goal: &plan.Goal{Minor: "4.20", PauseWorkers: true}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// Equal clusters have equal pages, byte for byte.
func TestSame(t *testing.T) {
	size := sample.Size{Nodes: 20, Pods: 200, Operators: 3}
	_, first := made(t, size)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, second := made(t, size); first != second {
		t.Error("two pages of equal clusters differ")
	}
}

// The largest cluster has a page of at most 1.5 MB. Plain runs try a fiftieth.
func TestSize(t *testing.T) {
	part := long.N(50, 1)
	_, page := made(t, sample.Size{Nodes: 5000 / part, Pods: 150000 / part, Operators: 50})
	t.Logf("%d bytes", len(page))
	if most := long.N(400_000, 1_500_000); len(page) > most {
		t.Errorf("the page has %d bytes; at most %d are allowed", len(page), most)
	}
	if out := os.Getenv("FAIRLEAD_PAGE"); out != "" { // to look at it
		if err := os.WriteFile(out, []byte(page), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// A page links to nothing, loads nothing, and its policy allows nothing but its own content.
func TestAlone(t *testing.T) {
	_, page := made(t, sample.Size{Nodes: 20, Pods: 200, Operators: 3, Hostile: true})
	for _, bad := range []string{"<img", "src=", "<link", "@import", "url(", "<iframe", " on", "eval(", "innerHTML"} {
		body := page
		if bad == " on" || bad == "src=" { // attributes, not words
			body = strings.Join(regexp.MustCompile(`<[a-zA-Z][^<>]*>`).FindAllString(page, -1), "\n")
			bad = regexp.MustCompile(`\s(on[a-z]+|src)\s*=`).FindString(body)
			if bad == "" {
				continue
			}
		}
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, href := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(href[1], "#") {
			t.Errorf("the page links to %q", href[1])
		}
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || strings.Contains(policy[1], "unsafe") || !strings.HasPrefix(policy[1], "default-src &#39;none&#39;") && !strings.HasPrefix(policy[1], "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d scripts end in the page; it has two", n)
	}
	if i := strings.IndexFunc(page, func(r rune) bool { return r == 0x202e }); i >= 0 {
		t.Errorf("a mark that turns text around stands in the page: %q", page[max(0, i-40):i+40])
	}
	if !strings.Contains(html.UnescapeString(page), "⟨U+202E⟩javascript:alert(1)") {
		t.Error("the hostile name is not shown as it is")
	}
}

// The data of a page is the report, in JSON that can be decoded.
func TestData(t *testing.T) {
	r, page := made(t, sample.Size{Nodes: 20, Pods: 300, Operators: 3, Hostile: true})
	_, rest, _ := strings.Cut(page, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	want, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got, expected any
	if err := errors.Join(json.Unmarshal([]byte(data), &got), json.Unmarshal(want, &expected)); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	if b, _ := json.Marshal(expected); !bytes.Equal(a, b) {
		t.Error("the data of the page is not the report")
	}
	pods := 0
	for _, n := range r.Workloads.Pods {
		pods += n
	}
	if pods != 300 {
		t.Errorf("%d pods are told of 300", pods)
	}
	worst, tones := []report.Tone{report.Bad, report.Warning, ""}, r.Budgets.Tone
	if !slices.IsSortedFunc(tones, func(a, b report.Tone) int { return slices.Index(worst, a) - slices.Index(worst, b) }) || tones[0] == tones[len(tones)-1] {
		t.Errorf("the budgets that hinder drains most do not come first: %q", tones)
	}
	if len(r.First) == 0 || r.Plan == nil || r.Plan.To != "4.20.23" && len(r.Plan.Steps) == 0 || len(r.Findings) == 0 || r.Budgets == nil || r.Machines == nil || r.Machines.Blocked == 0 || len(r.Taints) == 0 {
		t.Errorf("parts are missing: %d first, plan %+v", len(r.First), r.Plan)
	}
}

// The pictures of a page are well-formed.
func TestPictures(t *testing.T) {
	_, page := made(t, sample.Size{Nodes: 20, Pods: 200, Operators: 5, Hostile: true})
	found := regexp.MustCompile(`(?s)<svg class="fd".*?</svg>`).FindAllString(page, -1)
	if len(found) != 5 { // the plan, releases, operators, nodes, budgets
		t.Errorf("%d pictures", len(found))
	}
	for _, s := range found {
		d := xml.NewDecoder(strings.NewReader(s))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
