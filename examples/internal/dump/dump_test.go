package dump_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/dump"
)

// Objects are passed in order, single ones and those of lists, and each list after its
// objects; an empty list is also passed.
func TestRead(t *testing.T) {
	text := `{"kind": "Node", "metadata": {"name": "n"}}
---
kind: List
items:
- {kind: Pod, metadata: {namespace: shop, name: p}}
- {kind: DaemonSetList, items: []}
- {kind: PodList, items: [{metadata: {name: q}}]}
`
	var got []string
	if err := dump.Read(strings.NewReader(text), "f", func(o dump.Object) error {
		got = append(got, o.Kind+" "+o.Meta.String())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := "Node n|Pod shop/p|DaemonSetList |Pod q|PodList |List "; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
	var pods []fairlead.Pod
	err := dump.Read(strings.NewReader("kind: List\nitems:\n- kind: Pod\n  metadata: {namespace: shop, name: p}\n  spec: 5\n"), "f",
		func(o dump.Object) error {
			if o.Kind != "Pod" {
				return nil
			}
			return dump.Append(o, &pods)
		})
	if err == nil || !strings.HasPrefix(err.Error(), "f:1:1: items[0]: Pod shop/p: ") || len(pods) != 0 {
		t.Errorf("%v, %d pods", err, len(pods))
	}
}
