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
		Rows: []diagram.Row{
			{Label: "etcd", Bars: []diagram.Bar{{End: time.Minute, Label: "applied"}, {Start: time.Minute, End: 3 * time.Minute, Label: "levels", Marked: true}}},
			{Label: "dns", Bars: []diagram.Bar{{Start: 3 * time.Minute, End: 4 * time.Minute, Label: "applied", Tone: 1}}},
		},
		Marks: []diagram.Mark{{At: 3 * time.Minute, Label: "runlevel 20"}},
	}
	if err := g.WriteSVG(os.Stdout); err != nil {
		panic(err)
	}

	// Output:
	// <svg xmlns="http://www.w3.org/2000/svg" width="1200" height="102" font-family="sans-serif" font-size="11">
	// <rect width="100%" height="100%" fill="white"/>
	// <text x="8" y="18" font-size="14">an update</text>
	// <path d="M260.0 44V82" stroke="#ddd"/><text x="260.0" y="40" text-anchor="middle" fill="#555">0s</text>
	// <path d="M485.0 44V82" stroke="#ddd"/><text x="485.0" y="40" text-anchor="middle" fill="#555">1m</text>
	// <path d="M710.0 44V82" stroke="#ddd"/><text x="710.0" y="40" text-anchor="middle" fill="#555">2m</text>
	// <path d="M935.0 44V82" stroke="#ddd"/><text x="935.0" y="40" text-anchor="middle" fill="#555">3m</text>
	// <path d="M1160.0 44V82" stroke="#ddd"/><text x="1160.0" y="40" text-anchor="middle" fill="#555">4m</text>
	// <text x="252" y="62" text-anchor="end">etcd</text>
	// <rect x="260.0" y="52" width="225.0" height="12" fill="#4e79a7"><title>applied&#xA;0s to 1m</title></rect>
	// <rect x="485.0" y="52" width="450.0" height="12" fill="orange"><title>levels&#xA;1m to 3m</title></rect>
	// <text x="252" y="78" text-anchor="end">dns</text>
	// <rect x="935.0" y="68" width="225.0" height="12" fill="#59a14f"><title>applied&#xA;3m to 4m</title></rect>
	// <path d="M935.0 46V82" stroke="#c00"><title>runlevel 20&#xA;3m</title></path>
	// </svg>
}

// Whatever labels and times hold, the image is XML, and no bar leaves it.
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
			if n := strings.Count(out.String(), "\n"); n > 60 {
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
