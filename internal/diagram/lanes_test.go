package diagram_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/diagram"
)

func ExampleLanes() {
	g := &diagram.Lanes{
		Lanes: []diagram.Lane{
			{Label: "4.20", Dots: []diagram.Dot{{ID: "4.20.1", Tone: 1, Title: "offered"}}},
			{Label: "4.19", Dots: []diagram.Dot{{ID: "4.19.3", Here: true}, {ID: "4.19.4"}}},
		},
		Links: []diagram.Link{{From: "4.19.3", To: "4.19.4"}, {From: "4.19.4", To: "4.20.1", Bold: true, Title: "the plan"}, {From: "4.19.3", To: "5.0.0"}},
		Keys:  []diagram.Key{{Tone: 1, Label: "offered now"}},
	}
	if err := g.WriteInline(os.Stdout); err != nil {
		panic(err)
	}

	// Output:
	// <svg class="fd" viewBox="0 0 1160 128" width="1160" height="128" role="group" aria-label="">
	// <rect class="b t1" x="12" y="12" width="14" height="12" rx="2"/><text class="d" x="31" y="22">offered now</text>
	// <rect class="band" x="6" y="32" width="1148" height="36" rx="4"/><text class="d" x="12" y="54"><title>4.20</title>4.20</text>
	// <rect class="band" x="6" y="74" width="1148" height="36" rx="4"/><text class="d" x="12" y="96"><title>4.19</title>4.19</text>
	// <path class="l" d="M75 82C75 74 139 74 139 82"></path>
	// <path class="p" d="M139 82C139 71 75 71 75 60"><title>the plan</title></path>
	// <rect class="b t1" x="50" y="40" width="50" height="20" rx="10" data-k="4.20.1"><title>offered</title></rect><text class="m" x="75" y="54" pointer-events="none">4.20.1</text>
	// <rect class="b t0 here" x="50" y="82" width="50" height="20" rx="10" data-k="4.19.3"></rect><text class="m" x="75" y="96" pointer-events="none">4.19.3</text>
	// <rect class="b t0" x="114" y="82" width="50" height="20" rx="10" data-k="4.19.4"></rect><text class="m" x="139" y="96" pointer-events="none">4.19.4</text>
	// </svg>
}

// TestLanes checks that every image is XML, contains every dot once and within its
// borders, and only draws links to dots that exist.
func TestLanes(t *testing.T) {
	for _, n := range []int{0, 1, 5, 50, 500} {
		for _, label := range []string{"", "a<b>&\"'\u202e", "\xff\x00", strings.Repeat("long ", 50), "]]>"} {
			g := &diagram.Lanes{Title: label, Keys: []diagram.Key{{Label: label}, {Label: label, Marked: true}}}
			for i := range n {
				if i%50 == 0 {
					g.Lanes = append(g.Lanes, diagram.Lane{Label: label})
				}
				lane := &g.Lanes[len(g.Lanes)-1]
				lane.Dots = append(lane.Dots, diagram.Dot{ID: fmt.Sprint(label, i), Title: label, Tone: i - 3})
				g.Links = append(g.Links, diagram.Link{From: fmt.Sprint(label, i/2), To: fmt.Sprint(label, i), Title: label}, diagram.Link{From: fmt.Sprint(label, i), To: "nowhere"})
			}
			var out strings.Builder
			if err := g.WriteSVG(&out); err != nil {
				t.Fatal(err)
			}
			dots, links, high := 0, 0, 0
			d := xml.NewDecoder(strings.NewReader(out.String()))
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%d, %q: %v", n, label, err)
				}
				e, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				a := map[string]string{}
				for _, attr := range e.Attr {
					a[attr.Name.Local] = attr.Value
				}
				var x, y int
				fmt.Sscan(a["x"], &x)
				fmt.Sscan(a["y"], &y)
				switch {
				case e.Name.Local == "svg":
					fmt.Sscan(a["height"], &high)
				case a["data-k"] != "":
					dots++
				case e.Name.Local == "path":
					links++
				}
				if x < 0 || x > 1160 || y < 0 || y > high {
					t.Fatalf("%d, %q: %s at %d, %d is not within %d", n, label, e.Name.Local, x, y, high)
				}
			}
			if dots != n || links != n {
				t.Errorf("%d, %q: %d dots, %d links", n, label, dots, links)
			}
		}
	}
}
