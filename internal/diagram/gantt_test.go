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
	// <svg class="fd" viewBox="0 0 1160 152" width="1160" height="152" role="group" aria-label="an update">
	// <text class="h" x="12" y="22">an update</text>
	// <rect class="b t0" x="12" y="34" width="14" height="12" rx="2"/><text class="d" x="31" y="44">apply</text>
	// <rect class="b hot" x="73" y="34" width="14" height="12" rx="2"/><text class="d" x="92" y="44">wait</text>
	// <rect class="band" x="12" y="100" width="1136" height="24"/>
	// <path class="g" d="M49.0 72V124"/><text class="d m" x="49.0" y="68">0s</text><text class="d m" x="49.0" y="140">08:00:00</text>
	// <path class="g" d="M319.8 72V124"/><text class="d m" x="319.8" y="68">1m</text><text class="d m" x="319.8" y="140">08:01:00</text>
	// <path class="g" d="M590.5 72V124"/><text class="d m" x="590.5" y="68">2m</text><text class="d m" x="590.5" y="140">08:02:00</text>
	// <path class="g" d="M861.2 72V124"/><text class="d m" x="861.2" y="68">3m</text><text class="d m" x="861.2" y="140">08:03:00</text>
	// <path class="g" d="M1132.0 72V124"/><text class="d m" x="1132.0" y="68">4m</text><text class="d m" x="1132.0" y="140">08:04:00</text>
	// <text class="e" x="41" y="92"><title>etcd</title>etcd</text>
	// <rect class="b t0" x="49.0" y="78" width="270.8" height="20" rx="2"><title>applied&#xA;0s to 1m</title></rect>
	// <rect class="b hot" x="319.8" y="78" width="541.5" height="20" rx="2"><title>levels&#xA;1m to 3m</title></rect>
	// <text class="e" x="41" y="116"><title>dns</title>dns</text>
	// <rect class="b t1" x="861.2" y="102" width="270.8" height="20" rx="2"><title>applied&#xA;3m to 4m</title></rect>
	// <path class="n" d="M861.2 72V124"><title>runlevel 20&#xA;3m</title></path>
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
