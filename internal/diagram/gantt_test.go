package diagram_test

import (
	"encoding/xml"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/diagram"
)

func ExampleGantt() {
	g := &diagram.Gantt{
		Title: "an update",
		Start: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC),
		Keys:  []diagram.Key{{Label: "apply"}, {Marked: true, Label: "wait"}},
		Rows: []diagram.Row{
			{Label: "etcd", Bars: []diagram.Bar{{End: time.Minute, Label: "applied"}, {Start: time.Minute, End: 3 * time.Minute, Label: "levels", Marked: true}}},
			{Label: "dns", Bars: []diagram.Bar{{Start: 3 * time.Minute, End: 4 * time.Minute, Label: "applied", Tone: 1}}},
		},
		Marks: []diagram.Mark{{At: 3 * time.Minute, Label: "runlevel 20"}},
	}
	if err := g.WriteInline(os.Stdout); err != nil {
		panic(err)
	}

	// Output:
	// <svg class="fd" viewBox="0 0 1160 182" width="1160" height="182" role="group" aria-label="an update">
	// <text class="h" x="12" y="22">an update</text>
	// <rect class="b t0" x="12" y="34" width="14" height="12" rx="2"/><text class="d" x="31" y="44">apply</text>
	// <rect class="b hot" x="73" y="34" width="14" height="12" rx="2"/><text class="d" x="92" y="44">wait</text>
	// <rect class="band" x="12" y="116" width="1136" height="24"/>
	// <path class="g" d="M49.0 88V143"/><text class="d m" x="49.0" y="84">0s</text><text class="d m" x="49.0" y="155">0s</text><text class="d m" x="49.0" y="170">08:00:00</text>
	// <path class="g" d="M319.8 88V143"/><text class="d m" x="319.8" y="84">1m</text><text class="d m" x="319.8" y="155">1m</text><text class="d m" x="319.8" y="170">08:01:00</text>
	// <path class="g" d="M590.5 88V143"/><text class="d m" x="590.5" y="84">2m</text><text class="d m" x="590.5" y="155">2m</text><text class="d m" x="590.5" y="170">08:02:00</text>
	// <path class="g" d="M861.2 88V143"/><text class="d m" x="861.2" y="84">3m</text><text class="d m" x="861.2" y="155">3m</text><text class="d m" x="861.2" y="170">08:03:00</text>
	// <path class="g" d="M1132.0 88V143"/><text class="d m" x="1132.0" y="84">4m</text><text class="d m" x="1132.0" y="155">4m</text><text class="d m" x="1132.0" y="170">08:04:00</text>
	// <path class="n" d="M861.2 70v3M861.2 87V140"><title>runlevel 20&#xA;3m</title></path><text class="m" x="861.2" y="67">runlevel 20</text>
	// <text class="e" x="41" y="108"><title>etcd</title>etcd</text>
	// <rect class="b t0" x="49.0" y="94" width="270.8" height="20" rx="2"><title>applied&#xA;0s to 1m</title></rect>
	// <rect class="b hot" x="319.8" y="94" width="541.5" height="20" rx="2"><title>levels&#xA;1m to 3m</title></rect><path class="z" d="M320 114l10 -20M327 114l10 -20M334 114l10 -20M341 114l10 -20M348 114l10 -20M355 114l10 -20M362 114l10 -20M369 114l10 -20M376 114l10 -20M383 114l10 -20M390 114l10 -20M397 114l10 -20M404 114l10 -20M411 114l10 -20M418 114l10 -20M425 114l10 -20M432 114l10 -20M439 114l10 -20M446 114l10 -20M453 114l10 -20M460 114l10 -20M467 114l10 -20M474 114l10 -20M481 114l10 -20M488 114l10 -20M495 114l10 -20M502 114l10 -20M509 114l10 -20M516 114l10 -20M523 114l10 -20M530 114l10 -20M537 114l10 -20M544 114l10 -20M551 114l10 -20M558 114l10 -20M565 114l10 -20M572 114l10 -20M579 114l10 -20M586 114l10 -20M593 114l10 -20M600 114l10 -20M607 114l10 -20M614 114l10 -20M621 114l10 -20M628 114l10 -20M635 114l10 -20M642 114l10 -20M649 114l10 -20M656 114l10 -20M663 114l10 -20M670 114l10 -20M677 114l10 -20M684 114l10 -20M691 114l10 -20M698 114l10 -20M705 114l10 -20M712 114l10 -20M719 114l10 -20M726 114l10 -20M733 114l10 -20M740 114l10 -20M747 114l10 -20M754 114l10 -20M761 114l10 -20M768 114l10 -20M775 114l10 -20M782 114l10 -20M789 114l10 -20M796 114l10 -20M803 114l10 -20M810 114l10 -20M817 114l10 -20M824 114l10 -20M831 114l10 -20M838 114l10 -20M845 114l10 -20"/>
	// <text class="e" x="41" y="132"><title>dns</title>dns</text>
	// <rect class="b t1" x="861.2" y="118" width="270.8" height="20" rx="2"><title>applied&#xA;3m to 4m</title></rect>
	// </svg>
}

// TestGanttIsXML checks that, for any labels and times, the image is XML and
// has no more lines than it needs.
func TestGanttIsXML(t *testing.T) {
	for _, label := range []string{"", "a<b>&\"'", "\xff\x00", strings.Repeat("long ", 50), "]]>"} {
		for _, end := range []time.Duration{0, 1, -5, time.Second, 90 * 24 * time.Hour, 1<<63 - 1} {
			g := &diagram.Gantt{
				Title: label, Marks: []diagram.Mark{{At: end, Label: label}},
				Rows: []diagram.Row{{Label: label, Bars: []diagram.Bar{{Start: end / 2, End: end, Label: label, Tone: -3}, {Start: end, End: 0}}}},
			}
			var out strings.Builder
			if err := g.WriteSVG(&out); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "\n"); n > 80 {
				t.Errorf("%v: %d lines", end, n)
			}
			d := xml.NewDecoder(strings.NewReader(out.String()))
			for {
				_, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%q, %v: %v\n%s", label, end, err, out.String())
				}
			}
		}
	}
}

func ExampleGantt_WriteMermaid() {
	g := &diagram.Gantt{
		Title: "an update: 4.18 to 4.19",
		Rows: []diagram.Row{
			{Label: "operator etcd", Bars: []diagram.Bar{{End: time.Minute, Label: "updates"}, {Start: time.Minute, End: 3 * time.Minute, Label: "degraded", Marked: true}}},
			{Label: "nothing"},
			{Label: "#1;", Bars: []diagram.Bar{{Start: 3 * time.Minute, End: time.Minute}}},
		},
		Marks: []diagram.Mark{{At: 3 * time.Minute, Label: "runlevel 20"}},
	}
	if err := g.WriteMermaid(os.Stdout, time.Date(2026, 3, 1, 23, 59, 0, 999, time.UTC)); err != nil {
		panic(err)
	}

	// Output:
	// gantt
	//     title an update 4.18 to 4.19
	//     dateFormat YYYY-MM-DDTHH:mm:ss
	//     axisFormat %H:%M
	//     section operator etcd
	//     updates :2026-03-01T23:59:00, 2026-03-02T00:00:00
	//     degraded :crit, 2026-03-02T00:00:00, 2026-03-02T00:02:00
	//     section 1
	//     - :2026-03-02T00:02:00, 2026-03-02T00:02:01
	//     section marks
	//     runlevel 20 :milestone, 2026-03-02T00:02:00, 0s
}
