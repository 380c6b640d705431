package whatif_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

// Names in the picture are text, whatever they contain.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{`</text><script>x</script>`, `" onload="x`, "\u202ea\x7f", "a\nb", "]]>", "&amp;"} {
		cluster := new(taints.Cluster)
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{eviction.LabelZone: name}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		cluster.Nodes = []fairlead.Node{n}
		pod := webPod(name)
		pod.Namespace, pod.Name = name, name
		cluster.Pods = []fairlead.Pod{pod}
		p, err := whatif.Predict(cluster, &whatif.Question{Start: time.Unix(0, 0), Events: []whatif.Event{{Nodes: []string{name}, Taint: &fairlead.Taint{Key: "k", Value: name, Effect: fairlead.NoExecute}}, {Zone: name, Dark: 12 * time.Minute}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if svg := b.String(); words.Visible(svg) != svg || !strings.Contains(svg, "circle") {
			t.Errorf("%q: hidden characters, or no eviction: %s", name, svg)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%q: %v: %s", name, err, &b)
			}
			if e, is := token.(xml.StartElement); is && (e.Name.Local == "script" || len(e.Attr) > 0 && strings.HasPrefix(e.Attr[len(e.Attr)-1].Name.Local, "on")) {
				t.Errorf("%q: %v", name, e)
			}
		}
	}
}
