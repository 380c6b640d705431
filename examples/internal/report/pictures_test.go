package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Of a large pool, the nodes that need attention are drawn one by one, the worst first, and those that
// are fine as one; of a small pool, all are drawn one by one.
func TestDrawnNodes(t *testing.T) {
	for _, c := range []struct {
		updated int
		want    string
	}{
		{2, "w-5 w-4 w-3 w-0 w-1 w-2 w-6 w-7"},
		{40, "w-5 w-4 w-3 w-0 w-1 w-2 40_updated"},
	} {
		r := &Report{Pools: []Pool{{Name: "worker"}}}
		n := &Nodes{States: []string{"updated", "down", "degraded", "draining"}, Messages: []string{""}, Cordoned: []int{4, 5}, Blocked: []int{3, 5}, Stucks: []string{"", "a budget"}}
		for i := range 6 + c.updated {
			state := 0
			if i < 6 {
				state = []int{3, 3, 3, 2, 1, 1}[i]
			}
			n.Name, n.State = append(n.Name, fmt.Sprint("w-", i)), append(n.State, state)
			n.Pool, n.Message, n.Stuck = append(n.Pool, 0), append(n.Message, 0), append(n.Stuck, i%2)
		}
		r.Nodes = n
		var b bytes.Buffer
		if err := r.drawNodes(&b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`<title>(?:(w-\d+):|(\d+) nodes: (\w+))`).FindAllStringSubmatch(b.String(), -1) {
			if m[1] != "" {
				got = append(got, m[1])
			} else {
				got = append(got, m[2]+"_"+m[3])
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%d updated: %s, want %s", c.updated, text, c.want)
		}
	}
}
