package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// The causes of evictions.
const (
	byMaintenance = "taint for maintenance"
	bySilence     = "node silent"
)

// measured contains the results for one size.
type measured struct {
	nodes, pods int
	evicted     int                        // pods
	churned     int                        // pods that were replaced meanwhile
	memory      int64                      // the maximum of the operator, in bytes
	server      int64                      // the memory of the API server
	resting     int                        // requests while nothing happened
	requests    map[string]int             // otherwise, by verb and resource
	late        map[string][]time.Duration // time after the deadline, sorted, by cause
	back        []time.Duration            // time from a node's report that it is ready until its taint is gone, sorted
	took        time.Duration              // in total
}

// count counts the requests of the operator.
func (m *measured) count(all []cluster.Request) {
	m.requests = map[string]int{}
	for _, r := range all {
		m.requests[strings.TrimSuffix(r.Verb+" "+r.Resource+"/"+r.Subresource, "/")]++
	}
}

// readsAndWrites returns how many of the requests are reads and writes.
func (m *measured) readsAndWrites() (reads, writes int) {
	for what, n := range m.requests {
		if verb, _, _ := strings.Cut(what, " "); verb == "get" || verb == "list" || verb == "watch" {
			reads += n
		} else {
			writes += n
		}
	}
	return reads, writes
}

// at returns a percentile.
func at(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

// tablesOf returns Markdown tables: the results for each size, how late pods were
// evicted, and the requests.
func tablesOf(all []measured) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| nodes | pods | replaced | evicted | operator | API server | requests at rest | under churn | writes per evicted pod | reads | took |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for i := range all {
		m := &all[i]
		reads, writes := m.readsAndWrites()
		fmt.Fprintf(&b, "| %d | %d | %d | %d | %d MB | %d MB | %d | %d | %.2f | %.2f | %.0f s |\n", m.nodes, m.pods, m.churned, m.evicted, m.memory>>20, m.server>>20,
			m.resting, reads+writes, float64(writes)/float64(m.evicted), float64(reads)/float64(m.evicted), m.took.Seconds())
	}
	fmt.Fprintln(&b, "\n| nodes | cause | pods | late: median | 99th percentile | last |\n| --- | --- | --- | --- | --- | --- |")
	for i := range all {
		for _, cause := range []string{byMaintenance, bySilence} {
			late := all[i].late[cause]
			fmt.Fprintf(&b, "| %d | %s | %d | %.2f s | %.2f s | %.2f s |\n", all[i].nodes, cause, len(late), at(late, 50).Seconds(), at(late, 99).Seconds(), at(late, 100).Seconds())
		}
		back := all[i].back
		fmt.Fprintf(&b, "| %d | node back: taint gone | %d nodes | %.2f s | %.2f s | %.2f s |\n", all[i].nodes, len(back), at(back, 50).Seconds(), at(back, 99).Seconds(), at(back, 100).Seconds())
	}
	fmt.Fprint(&b, "\n| requests |")
	names := map[string]bool{}
	for i := range all {
		fmt.Fprintf(&b, " %d nodes |", all[i].nodes)
		for name := range all[i].requests {
			names[name] = true
		}
	}
	fmt.Fprintf(&b, "\n| --- |%s\n", strings.Repeat(" --- |", len(all)))
	largest := &all[len(all)-1]
	for _, name := range slices.SortedFunc(maps.Keys(names), func(x, y string) int {
		if d := largest.requests[y] - largest.requests[x]; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	}) {
		fmt.Fprintf(&b, "| %s |", name)
		for i := range all {
			fmt.Fprintf(&b, " %d |", all[i].requests[name])
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// plot draws the percentage of pods that were evicted by a time after their
// deadline, a line for each size and each cause, dashed for silent nodes.
func plot(all []measured) string {
	const width, height, margin = 640, 300, 48
	longest := 500 * time.Millisecond
	for i := range all {
		for _, late := range all[i].late {
			longest = max(longest, at(late, 100))
		}
	}
	step := max(time.Second/10, (longest / 5).Round(time.Second/10))
	longest = (longest + step - 1) / step * step
	x := func(d time.Duration) float64 { return margin + width*float64(d)/float64(longest) }
	y := func(percent int) float64 { return margin + height - height*float64(percent)/100 }
	colors := []string{"#1f6feb", "#d4572a", "#2d8a4e", "#8250df"}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12">`+"\n", width+2*margin, height+2*margin)
	fmt.Fprintln(&b, `<title>Evicted pods, by time after their deadline</title><rect width="100%" height="100%" fill="#fff"/>`)
	fmt.Fprintf(&b, `<text x="%d" y="20">evicted pods in percent, by seconds after their deadline</text>`+"\n", margin)
	for percent := 0; percent <= 100; percent += 25 {
		fmt.Fprintf(&b, `<path d="M%d %.0fH%d" stroke="#ddd"/><text x="%d" y="%.0f" text-anchor="end">%d</text>`+"\n", margin, y(percent), margin+width, margin-6, y(percent)+4, percent)
	}
	for d := time.Duration(0); d <= longest; d += step {
		fmt.Fprintf(&b, `<path d="M%.1f %dv%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%.1f</text>`+"\n", x(d), margin, height, x(d), margin+height+18, d.Seconds())
	}
	row := 0
	for i := range all {
		for k, cause := range []string{byMaintenance, bySilence} {
			late, style := all[i].late[cause], fmt.Sprintf(`stroke="%s" stroke-width="2"`, colors[i%len(colors)])
			if k > 0 {
				style += ` stroke-dasharray="5 4"`
			}
			points := fmt.Sprintf("%d,%.1f", margin, y(0))
			for p := range 101 {
				points += fmt.Sprintf(" %.1f,%.1f", x(at(late, p)), y(p))
			}
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" %s/>`+"\n", points, style)
			low := margin + height - 24 - 18*row
			fmt.Fprintf(&b, `<path d="M%d %dh30" %s/><text x="%d" y="%d" text-anchor="end">%d nodes, %d pods: %s</text>`+"\n", margin+width-40, low-4, style, margin+width-48, low, all[i].nodes, all[i].pods, cause)
			row++
		}
	}
	return b.String() + "</svg>\n"
}

// The tables show the measured values.
func TestSizesReport(t *testing.T) {
	m := measured{nodes: 100, pods: 1000, evicted: 4, late: map[string][]time.Duration{byMaintenance: {0, time.Second}, bySilence: {2 * time.Second, 3 * time.Second}}}
	m.count([]cluster.Request{{Verb: "get", Resource: "nodes"}, {Verb: "delete", Resource: "pods"}, {Verb: "patch", Resource: "pods", Subresource: "status"}, {Verb: "delete", Resource: "pods"}})
	tables := tablesOf([]measured{m})
	for _, want := range []string{"| 0.75 | 0.25 |", "| delete pods | 2 |\n| get nodes | 1 |\n| patch pods/status | 1 |", "| node silent | 2 | 3.00 s |"} {
		if !strings.Contains(tables, want) {
			t.Errorf("no %q in\n%s", want, tables)
		}
	}
	picture := plot([]measured{m})
	if got := strings.Count(picture, "<polyline"); got != 2 || !strings.Contains(picture, "100 nodes, 1000 pods: node silent") {
		t.Errorf("%d lines in\n%s", got, picture)
	}
}
